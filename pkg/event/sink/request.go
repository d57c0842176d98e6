package sink

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/cloudevents/sdk-go/v2/binding"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/secret"
)

// request makes the request of an event in binary mode: its data is the body,
// the rest are headers.
func (h *HTTP) request(ctx context.Context, e event.Event) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, nil)
	if err != nil {
		return nil, Reason(err)
	}
	if err := cehttp.WriteRequest(binding.WithForceBinary(ctx), binding.ToMessage(&e.Event), request); err != nil {
		return nil, err
	}
	escape(request.Header)
	if h.key != nil {
		h.sign(request.Header, e.ID(), e.Data())
	}
	if token := h.token.Bytes(); len(token) > 0 {
		request.Header.Set("Authorization", "Bearer "+string(token))
	}
	return request, nil
}

// escape writes the attributes as CloudEvents' HTTP binding asks (3.1.3.2): the
// SDK writes them as they are, and tasks of others' Workflows have names with
// spaces and any letters.
func escape(header http.Header) {
	for name, values := range header {
		if !strings.HasPrefix(name, "Ce-") {
			continue
		}
		for i, value := range values {
			var out strings.Builder
			for _, b := range []byte(value) {
				if b <= ' ' || b >= 0x7f || b == '"' || b == '%' {
					fmt.Fprintf(&out, "%%%02X", b)
				} else {
					out.WriteByte(b)
				}
			}
			values[i] = out.String()
		}
	}
}

// sign adds the headers of Standard Webhooks. The id is the event's: a try
// again can be told from another event.
func (h *HTTP) sign(header http.Header, id string, body []byte) {
	stamp := strconv.FormatInt(h.now().Unix(), 10)
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", stamp)
	header.Set("webhook-signature", "v1,"+signature(h.key, id, stamp, body))
}

func signature(key []byte, id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signingKey decodes `whsec_<base64>`, as Standard Webhooks writes its secrets.
func signingKey(value secret.Value) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(value.Bytes()), "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, errors.New("a signing secret is written whsec_<base64>")
	}
	return key, nil
}
