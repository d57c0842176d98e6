package images

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// maxManifest is what registries take at most by convention.
const maxManifest = 4 << 20

// kept is one manifest as it was pushed.
type kept struct {
	Path        string `json:"path"`
	ContentType string `json:"contentType"`
	Body        []byte `json:"body"`
}

// keeper writes manifests to disk as they are pushed and pushes them again at
// the start, as the registry it stands before holds them in memory only.
type keeper struct {
	dir  string
	next http.Handler
}

func (k keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/manifests/") {
		k.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxManifest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := &statusRecorder{ResponseWriter: w}
	k.next.ServeHTTP(answer, r)
	if answer.status != http.StatusCreated {
		return
	}
	if err := k.keep(kept{r.URL.Path, r.Header.Get("Content-Type"), body}); err != nil {
		log.Printf("keep %s: %v", r.URL.Path, err)
	}
}

// keep overwrites what was kept for the same path, as a tag may move.
func (k keeper) keep(m kept) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	name := filepath.Join(k.dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(m.Path))))
	if err := os.WriteFile(name+".part", content, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}

// restore pushes what was kept. An index is refused until its images are
// there, so it goes on as long as a round gets one more in.
func (k keeper) restore() error {
	names, err := filepath.Glob(filepath.Join(k.dir, "*.json"))
	if err != nil {
		return fmt.Errorf("list kept manifests: %w", err)
	}
	for progress := true; progress && len(names) > 0; {
		progress = false
		var refused []string
		for _, name := range names {
			if k.push(name) {
				progress = true
			} else {
				refused = append(refused, name)
			}
		}
		names = refused
	}
	for _, name := range names {
		log.Printf("manifest %s cannot be restored", name)
	}
	return nil
}

func (k keeper) push(name string) bool {
	content, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	var m kept
	if err := json.Unmarshal(content, &m); err != nil {
		return false
	}
	request := httptest.NewRequest(http.MethodPut, m.Path, bytes.NewReader(m.Body))
	request.Header.Set("Content-Type", m.ContentType)
	answer := httptest.NewRecorder()
	k.next.ServeHTTP(answer, request)
	return answer.Code == http.StatusCreated
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
