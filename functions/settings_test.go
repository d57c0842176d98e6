package functions

import (
	"testing"

	"github.com/runhook/runhook/pkg/config"
)

// A caller finds the status by the answer alone: where the config says no URL,
// relative to the server that it has called.
func TestEveryAnswerOfSubmitHasALink(t *testing.T) {
	c := config.Default()
	for base, want := range map[string]string{
		"":                             "/functions/status?run=a",
		"https://runhook.example/base": "https://runhook.example/base/functions/status?run=a",
	} {
		c.PublicURL = base
		if got := submitSettings(&c).StatusURL("a"); got != want {
			t.Errorf("%q: %s, want %s", base, got, want)
		}
	}
}
