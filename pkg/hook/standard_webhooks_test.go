package hook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

func whsec(key string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(key)) }

// webhookHeaders signs as Standard Webhooks say.
func webhookHeaders(id string, at time.Time, secret, body string) []string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, at.Unix(), body)
	return []string{
		"webhook-id: " + id, "webhook-timestamp: " + strconv.FormatInt(at.Unix(), 10),
		"webhook-signature: v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
}

func TestStandardWebhooks(t *testing.T) {
	const (
		key   = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
		body  = `{"object_kind":"push","ref":"refs/heads/main","checkout_sha":"5555555555555555555555555555555555555555"}`
		id    = "webhook-id: msg_aa11"
		stamp = "webhook-timestamp: 1750000000"
		right = "v1,W9T8E70mV2UN0To281CjPPrM4lV4mJsWNrCNmcY6rGM="
		sig   = "webhook-signature: "
	)
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	clock := at(1750000100)
	for name, tc := range map[string]struct {
		clock   time.Time
		headers []string
		want    fault.Kind
	}{
		"right":                     {clock, []string{id, stamp, sig + right}, ""},
		"5 minutes old":             {at(1750000300), []string{id, stamp, sig + right}, ""},
		"5 minutes early":           {at(1749999700), []string{id, stamp, sig + right}, ""},
		"too old":                   {at(1750000301), []string{id, stamp, sig + right}, fault.Unproven},
		"far too old":               {at(1750000600), []string{id, stamp, sig + right}, fault.Unproven},
		"too early":                 {at(1749999699), []string{id, stamp, sig + right}, fault.Unproven},
		"another time":              {clock, []string{id, "webhook-timestamp: 1750000001", sig + right}, fault.Unproven},
		"another id":                {clock, []string{"webhook-id: msg_aa12", stamp, sig + right}, fault.Unproven},
		"a list":                    {clock, []string{id, stamp, sig + "v1,AAAA " + right}, ""},
		"a list with other kinds":   {clock, []string{id, stamp, sig + "v1a,xyz v2," + right[3:] + " x v1, " + right}, ""},
		"of version 2":              {clock, []string{id, stamp, sig + "v2" + right[2:]}, fault.Unproven},
		"without version":           {clock, []string{id, stamp, sig + right[3:]}, fault.Unproven},
		"no base64":                 {clock, []string{id, stamp, sig + "v1,%%%"}, fault.Unproven},
		"only the prefix":           {clock, []string{id, stamp, sig + "v1,"}, fault.Unproven},
		"after too many":            {clock, []string{id, stamp, sig + strings.Repeat("v1,"+strings.Repeat("A", 43)+"= ", 16) + right}, fault.Unproven},
		"two headers":               {clock, []string{id, stamp, sig + right, sig + right}, fault.Unproven},
		"two ids":                   {clock, []string{id, id, stamp, sig + right}, fault.Unproven},
		"two times":                 {clock, []string{id, stamp, stamp, sig + right}, fault.Unproven},
		"no id":                     {clock, []string{stamp, sig + right}, fault.Unproven},
		"no time":                   {clock, []string{id, sig + right}, fault.Unproven},
		"no signature":              {clock, []string{id, stamp}, fault.Unproven},
		"a time that is no number":  {clock, []string{id, "webhook-timestamp: now", sig + right}, fault.Unproven},
		"the end of time":           {clock, []string{id, "webhook-timestamp: 9223372036854775807", sig + right}, fault.Unproven},
		"the begin of time":         {clock, []string{id, "webhook-timestamp: -9223372036854775808", sig + right}, fault.Unproven},
		"a time beyond 64 bits":     {clock, []string{id, "webhook-timestamp: 99999999999999999999", sig + right}, fault.Unproven},
		"the token of old instead":  {clock, []string{"X-Gitlab-Token: " + key}, fault.Unproven},
		"a time in another writing": {clock, []string{id, "webhook-timestamp: +1750000000", sig + right}, fault.Unproven},
	} {
		for _, provider := range []string{"gitlab-signed", "standard-webhooks"} {
			t.Run(provider+" "+name, func(t *testing.T) {
				h := compileSpec(t, hook.Spec{Path: "acme", Provider: provider, Routes: []hook.RouteSpec{route(nil)}}, key)
				out, err := h.Accept(hook.Delivery{Header: headers(append(tc.headers, "X-Gitlab-Event: Push Hook")...), Body: []byte(body)}, tc.clock)
				wantKind(t, err, tc.want, right[3:], key, key[6:])
				if err != nil {
					return
				}
				if e := out.Events[0]; e.Delivery != "msg_aa11" || provider == "gitlab-signed" && (e.SHA != strings.Repeat("5", 40) || e.Type != hook.Push) {
					t.Errorf("event %+v", e)
				}
				if out.Decisions[0].Call != "submit" {
					t.Errorf("decisions %+v", out.Decisions)
				}
			})
		}
	}
}

// The name of the event stands in the payload; each sender has its own.
func TestStandardWebhooksType(t *testing.T) {
	h := compileSpec(t, hook.Spec{Path: "acme", Provider: "standard-webhooks", Routes: []hook.RouteSpec{
		route(func(r *hook.RouteSpec) { r.Events = []string{"model.trained"} }),
	}}, whsec("x"))
	for body, want := range map[string]hook.Reason{`{"type":"model.trained"}`: "", `{"type":"model.lost"}`: hook.IgnoredEvent, `{"type":5}`: hook.IgnoredEvent} {
		d := decision(t, h, hook.Delivery{Header: headers(webhookHeaders("a", noon, whsec("x"), body)...), Body: []byte(body)})
		if d.Ignored != want {
			t.Errorf("%s: %+v", body, d)
		}
	}
}
