package binaries

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// hashLength keeps paths short; 48 bits are plenty for a handful of builds.
const hashLength = 12

// Hash is over every file of the module and over further words (the Go version, the flags).
func Hash(module string, version string, flags []string) (string, error) {
	h := sha256.New()
	word := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	word(version)
	for _, f := range flags {
		word(f)
	}
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error { // WalkDir goes in order
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(module, path)
		if err != nil {
			return err
		}
		word(name)
		word(string(content))
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("hash the build module: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil))[:hashLength], nil
}
