package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

// standardWebhooks is the scheme of standardwebhooks.com with a symmetric key.
type standardWebhooks struct{ keys webhookKeys }

func newStandardWebhooks(_ *Spec, secrets []secret.Value, problems *fault.List) Provider {
	return standardWebhooks{newWebhookKeys(secrets, problems)}
}

func (s standardWebhooks) Verify(d Delivery, now time.Time) error { return s.keys.verify(d, now) }

// Identify knows no event: its name stands in the payload.
func (standardWebhooks) Identify(header http.Header) (event, delivery string) {
	return "", header.Get("webhook-id")
}

func (standardWebhooks) Default() Type { return Other }

// Knows any name, since every sender has its own.
func (standardWebhooks) Knows(string) bool { return true }

func (standardWebhooks) Decode(_ string, payload object) ([]Event, error) {
	e := newEvent(Other)
	e.Name = payload.text("type")
	return []Event{e}, nil
}

// webhookKeys are the decoded secrets of Standard Webhooks.
type webhookKeys [][]byte

// newWebhookKeys decodes `whsec_<base64>`, as the scheme writes its secrets.
func newWebhookKeys(secrets []secret.Value, problems *fault.List) webhookKeys {
	var keys webhookKeys
	for i, value := range secrets {
		encoded := strings.TrimPrefix(string(value.Bytes()), "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) == 0 {
			problems.Add(strict.Index("secrets", i), "a signing secret is written whsec_<base64>")
			continue
		}
		keys = append(keys, key)
	}
	return keys
}

// verify proves id, time and body. The time bounds how long a delivery that
// somebody recorded can be sent again.
func (k webhookKeys) verify(d Delivery, now time.Time) error {
	id, err := one(d.Header, "webhook-id")
	if err != nil {
		return err
	}
	stamp, err := one(d.Header, "webhook-timestamp")
	if err != nil {
		return err
	}
	signatures, err := one(d.Header, "webhook-signature")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fault.New(fault.Unproven, "the header webhook-timestamp is not a number of seconds")
	}
	// Not Sub, which a far away time would overflow.
	sent := time.Unix(seconds, 0)
	if sent.Before(now.Add(-limits.WebhookWindow)) || sent.After(now.Add(limits.WebhookWindow)) {
		return fault.New(fault.Unproven, "the delivery's time is more than %s off", limits.WebhookWindow)
	}
	digests := webhookDigests(signatures)
	for _, key := range k {
		expected := sum(sha256.New, key, []byte(id+"."+stamp+"."), d.Body)
		for _, digest := range digests {
			if hmac.Equal(digest, expected) {
				return nil
			}
		}
	}
	return fault.New(fault.Unproven, "no signature in webhook-signature is one of this delivery with the hook's secret")
}

// webhookDigests reads `v1,<base64> v1,<base64> …`; what is of another version
// or no digest is left out.
func webhookDigests(header string) [][]byte {
	var digests [][]byte
	for _, entry := range strings.SplitN(header, " ", limits.WebhookSignatures+1) {
		encoded, ok := strings.CutPrefix(entry, "v1,")
		if !ok || len(digests) == limits.WebhookSignatures {
			continue
		}
		digest, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && len(digest) == sha256.Size {
			digests = append(digests, digest)
		}
	}
	return digests
}
