package auth

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
)

func authorization(values ...string) http.Header { return http.Header{"Authorization": values} }

func TestTokensOfTheConfig(t *testing.T) {
	a := New(config.Auth{Tokens: []config.Token{
		{Name: "ci", Value: secret.Of("ci-token"), Rights: config.Rights{
			Functions: []string{"submit"}, Hooks: []string{"acme"}, Queues: []string{"research"}, Priorities: []string{"high"},
			Repositories: []string{"reg/acme"}, Secrets: []string{"s"}, Claims: []string{"c"}, Runs: config.RunsAll, Scheduling: true,
		}},
		{Name: "sensor", Value: secret.Of("sensor-token"), Rights: config.Rights{Runs: config.RunsOwn}},
	}}, nil, limits.Default())
	tests := []struct {
		name   string
		header http.Header
		want   string // the caller's name; empty: Unproven
	}{
		{"first", authorization("Bearer ci-token"), "ci"},
		{"last", authorization("Bearer sensor-token"), "sensor"},
		{"scheme in another case", authorization("bearer ci-token"), "ci"},
		{"more spaces", authorization("Bearer   ci-token"), "ci"},
		{"none", http.Header{}, ""},
		{"empty", authorization(""), ""},
		{"scheme alone", authorization("Bearer"), ""},
		{"scheme and spaces", authorization("Bearer   "), ""},
		{"no scheme", authorization("ci-token"), ""},
		{"other scheme", authorization("Basic ci-token"), ""},
		{"unknown", authorization("Bearer ci-tokem"), ""},
		{"prefix", authorization("Bearer ci-toke"), ""},
		{"longer", authorization("Bearer ci-token2"), ""},
		{"trailing space", authorization("Bearer ci-token "), ""},
		{"two headers", authorization("Bearer ci-token", "Bearer ci-token"), ""},
		{"too long", authorization("Bearer " + strings.Repeat("x", limits.TokenBytes+1)), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			caller, err := a.Caller(context.Background(), test.header, "192.0.2.1")
			if caller.Name != test.want || (test.want == "") != (fault.KindOf(err) == fault.Unproven) {
				t.Errorf("%q, %v", caller.Name, err)
			}
		})
	}
	caller, _ := a.Caller(context.Background(), authorization("Bearer ci-token"), "")
	want := function.Caller{
		Name: "ci", Functions: []string{"submit"}, Hooks: []string{"acme"}, Queues: []string{"research"}, Priorities: []string{"high"},
		Repositories: []string{"reg/acme"}, Secrets: []string{"s"}, Claims: []string{"c"}, AllRuns: true, Scheduling: true,
	}
	if diff := cmp.Diff(want, caller); diff != "" {
		t.Error(diff)
	}
	if sensor, _ := a.Caller(context.Background(), authorization("Bearer sensor-token"), ""); sensor.AllRuns {
		t.Error("own is not all")
	}
}

func TestNoAuthLetsNobodyIn(t *testing.T) {
	a := New(config.Auth{}, nil, limits.Default())
	for _, header := range []http.Header{{}, authorization("Bearer "), authorization("Bearer x")} {
		if _, err := a.Caller(context.Background(), header, ""); fault.KindOf(err) != fault.Unproven {
			t.Errorf("%v: %v", header, err)
		}
	}
}

func FuzzBearer(f *testing.F) {
	for _, seed := range []string{"Bearer x", "bearer", "Bearer  ", "", "Basic Og==", "Bearer a.eyJzdWIiOiJ4In0.c", "Bearer a.!.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		text, err := bearer(authorization(value))
		if (text == "") == (err == nil) {
			t.Fatalf("%q, %v", text, err)
		}
		maybeOurs(value)
	})
}
