package server

import (
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/limits"
)

func TestAnybodyMayReadWhatFunctionsTake(t *testing.T) {
	s := newSite(t, limits.Default())
	got := do(t, s.request(t, "GET", "/openapi.json", ""))
	if got.code != 200 || strings.TrimSpace(got.body) != `{"openapi":"3.1.0"}` || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		t.Errorf("answered %d %s", got.code, got.body)
	}
}
