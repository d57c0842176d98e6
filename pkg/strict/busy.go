package strict

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/runhook/runhook/pkg/fault"
)

// Decodable refuses JSON that others wrote, and that is read without strictness
// into types of Kubernetes, where that would keep the reader busy: a Workflow
// may hold quantities anywhere, since the cluster does not look into it.
func Decodable(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.Wrap(fault.Malformed, err, "not JSON: %s", clip(err.Error()))
		}
		if kind := token.Kind(); (kind == '"' || kind == '0') && endless(token.String()) {
			return fault.Wrap(fault.Malformed, errQuantity, "%s: %s %s", d.StackPointer(), clip(token.String()), errQuantity)
		}
	}
}

// endless reports whether Kubernetes' parser of quantities would be busy with a
// text: below these bounds it takes no millisecond, and nobody means such a
// number as a text either.
func endless(text string) bool {
	const digits = "0123456789"
	unsigned := strings.TrimLeft(text, "+-")
	exponent := strings.TrimLeft(unsigned, digits+".")
	if mantissa := len(unsigned) - len(exponent); mantissa == 0 || mantissa > 1000 {
		return mantissa > 1000
	}
	if exponent == "" || exponent[0] != 'e' && exponent[0] != 'E' {
		return false
	}
	exponent = strings.TrimLeft(exponent[1:], "+-")
	return len(exponent) > 4 && strings.TrimLeft(exponent, digits) == ""
}
