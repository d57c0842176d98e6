package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	checkout := t.TempDir()
	deep := filepath.Join(checkout, "localcluster", "build")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"/var/lib/x":                      "",
		"":                                "",
		"x":                               "RUNHOOK_CLUSTER_HOME",
		"/run/x":                          "RUNHOOK_CLUSTER_HOME",
		"/" + strings.Repeat("x", maxDir): "RUNHOOK_CLUSTER_HOME",
	} {
		t.Setenv("RUNHOOK_CLUSTER_HOME", dir)
		t.Chdir(deep)
		home, err := Find()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", dir, err)
		}
		if err == nil && home.Checkout != checkout {
			t.Errorf("the checkout is %s, not %s", home.Checkout, checkout)
		}
	}
	t.Setenv("RUNHOOK_CLUSTER_HOME", "")
	t.Chdir(t.TempDir())
	if _, err := Find(); err == nil {
		t.Error("a checkout was found where none is")
	}
}
