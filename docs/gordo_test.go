package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/version"
)

// project reads the config of a machine-learning project: it must be one that
// nothing is to be said against.
func project(t *testing.T, file string) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	c, err := gordo.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gordo.Normalize(c, gordo.Normal{Project: "pumps", Version: version.Gordo})
	if err != nil || gordo.Strict(p.Warnings) != nil {
		t.Errorf("%v, %v", err, p.Warnings)
	}
}
