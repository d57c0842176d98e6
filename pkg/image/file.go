package image

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// Dockerfile is the file that says how to build.
const Dockerfile = "Dockerfile"

// File is one file of a context: in JSON text, or {"base64": "…"}.
type File []byte

// UnmarshalJSON takes both forms.
func (f *File) UnmarshalJSON(data []byte) error {
	var text string
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*f = File(text)
		return nil
	}
	if data[0] != '{' {
		return fault.New(fault.Invalid, `must be text, or {"base64": "…"}`)
	}
	var encoded struct {
		Base64 *string `json:"base64"`
	}
	if err := strict.JSON(data, &encoded); err != nil {
		return err
	}
	if encoded.Base64 == nil {
		return fault.New(fault.Invalid, `must be text, or {"base64": "…"}`)
	}
	raw, err := base64.StdEncoding.DecodeString(*encoded.Base64)
	if err != nil {
		return &fault.Error{Kind: fault.Invalid, Problems: []fault.Problem{{Path: "base64", Detail: "is not standard base64 with padding"}}}
	}
	*f = raw
	return nil
}

// MarshalJSON gives text where the file is text.
func (f File) MarshalJSON() ([]byte, error) {
	if f.text() {
		return json.Marshal(string(f))
	}
	return json.Marshal(map[string][]byte{"base64": f})
}

func (f File) text() bool { return utf8.Valid(f) }

// Files are a context by name: flat, as a ConfigMap holds them.
type Files map[string]File

// Check notes every mistake of the files, which stand at a path.
func (f Files) Check(path string, mistakes *fault.List) {
	if _, ok := f[Dockerfile]; !ok {
		mistakes.Add(strict.Key(path, Dockerfile), "is missing: it says how to build")
	}
	if len(f) > limits.BuildFiles {
		mistakes.Add(path, "are %d files; at most %d are taken: use a Git context", len(f), limits.BuildFiles)
		return
	}
	bytes := 0
	for _, name := range slices.Sorted(maps.Keys(f)) {
		bytes += len(name) + len(f[name])
		if problems := validation.IsConfigMapKey(name); problems != nil {
			mistakes.Add(strict.Key(path, name), "is not a file name as taken here, where there are no folders: %s", problems[0])
		}
	}
	if bytes > limits.BuildFileBytes {
		mistakes.Add(path, "hold %d bytes; at most %d are taken: use a Git context", bytes, limits.BuildFileBytes)
	}
}
