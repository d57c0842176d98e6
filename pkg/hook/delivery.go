package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
)

// Delivery is what a host sent: its headers and the raw bytes of the body,
// read once. Signatures are made over these bytes.
type Delivery struct {
	Header http.Header
	Body   []byte
}

const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// CheckHead says from the headers alone whether the body can be read: JSON or
// a form, in no encoding. A compressed body could be far larger than its limit.
func CheckHead(header http.Header) error {
	for _, encoding := range header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return fault.New(fault.MediaType, "the body's Content-Encoding is not read here: send it as it is")
		}
	}
	switch kind := mediaType(header); {
	case kind == mediaJSON, kind == mediaForm:
		return nil
	case strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
		return nil
	}
	return fault.New(fault.MediaType, "the Content-Type is neither %s nor %s", mediaJSON, mediaForm)
}

// ReadBody reads a body of at most limit bytes; length is what the head
// declared, negative when it did not.
func ReadBody(body io.Reader, length, limit int64) ([]byte, error) {
	tooLarge := fault.New(fault.TooLarge, "the body is larger than %d bytes", limit)
	if length > limit {
		return nil, tooLarge
	}
	content, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the body ended before its declared length")
	}
	if int64(len(content)) > limit {
		return nil, tooLarge
	}
	return content, nil
}

// mediaType is the media type without its parameters; empty when there is none
// or more than one.
func mediaType(header http.Header) string {
	values := header.Values("Content-Type")
	if len(values) != 1 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(values[0])
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return kind
}

// json gives the JSON of the body: the body itself, or the form value
// `payload` of hosts that send forms.
func (d Delivery) json() ([]byte, error) {
	if mediaType(d.Header) != mediaForm {
		return d.Body, nil
	}
	form, err := url.ParseQuery(string(d.Body))
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the body is not a form")
	}
	if len(form["payload"]) != 1 {
		return nil, fault.New(fault.Malformed, "the form has %d values `payload` where one is needed", len(form["payload"]))
	}
	return []byte(form["payload"][0]), nil
}

// digest names a delivery whose host gave it no id.
func (d Delivery) digest() string {
	sum := sha256.Sum256(d.Body)
	return hex.EncodeToString(sum[:])
}
