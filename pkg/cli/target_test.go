package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatNobodyHasSaidIsAskedFor(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	s := newStandIn(t, answer{200, `{}`})
	for line, want := range map[string]string{
		"status a":                   "runhook: say where runhook is: --server URL, or RUNHOOK_URL; or --kubeconfig FILE for the cluster itself\n",
		"status a --server " + s.URL: "runhook: say who calls " + s.URL + ": --token-file FILE with the bearer token, or RUNHOOK_TOKEN_FILE\n",
		"check":                      "runhook: say which config: -c FILE, or RUNHOOK_CONFIG\n",
		"rbac":                       "runhook: say which config: -c FILE, or RUNHOOK_CONFIG\n",
	} {
		if got := runhook(t, "", strings.Fields(line)...); got.err != want || got.code == 0 {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("called without a token: %v", s.calls)
	}
}
