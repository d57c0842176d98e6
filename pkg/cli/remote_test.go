package cli

import (
	"net/url"
	"testing"
)

// A name is a name: the token must not go to another address of the server.
func TestANameOfAFunctionIsNoPath(t *testing.T) {
	base, err := url.Parse("https://runhook.example/behind/")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"status":        "/behind/functions/status",
		"../../healthz": "/behind/functions/..%2F..%2Fhealthz",
		"a?b=c":         "/behind/functions/a%3Fb=c",
	} {
		request, err := (&remote{base: base}).request(t.Context(), call{name: name})
		if err != nil {
			t.Fatal(err)
		}
		if got := request.URL.EscapedPath(); got != want || request.URL.RawQuery != "" {
			t.Errorf("%s goes to %s?%s, want %s", name, got, request.URL.RawQuery, want)
		}
	}
}
