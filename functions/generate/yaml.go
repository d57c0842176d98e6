package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
)

// yamlOf gives a config as the YAML of version 1.1 in which gordo reads it: a
// text holds it, an object means it. JSON is not quite a part of YAML 1.1,
// which has no pairs of \u escapes, no \/ and no 1e3; so strings and numbers
// are written anew, in the order of the object.
func yamlOf(config json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(config, &text); err == nil {
		return []byte(text), nil
	}
	var out bytes.Buffer
	decoder := json.NewDecoder(bytes.NewReader(config))
	decoder.UseNumber()
	if err := rewrite(decoder, &out); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the config does not decode")
	}
	return out.Bytes(), nil
}

// rewrite writes all values that a decoder gives.
func rewrite(decoder *json.Decoder, out *bytes.Buffer) error {
	// Of each open object or list: how many tokens it has had.
	type level struct {
		object bool
		tokens int
	}
	var open []level
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		delim, isDelim := token.(json.Delim)
		if isDelim && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			out.WriteByte(byte(delim))
			continue
		}
		if len(open) > 0 {
			in := &open[len(open)-1]
			switch {
			case in.object && in.tokens%2 == 1:
				out.WriteString(": ")
			case in.tokens > 0:
				out.WriteString(", ")
			}
			in.tokens++
		}
		if isDelim {
			open = append(open, level{object: delim == '{'})
			out.WriteByte(byte(delim))
			continue
		}
		if err := scalar(token, out); err != nil {
			return err
		}
	}
}

func scalar(token json.Token, out *bytes.Buffer) error {
	if number, ok := token.(json.Number); ok {
		out.WriteString(floatOf(string(number)))
		return nil
	}
	text, err := json.Marshal(token)
	out.Write(text)
	return err
}

// floatOf writes a JSON number so that YAML 1.1 reads a number too: with a
// point and a sign of the exponent.
func floatOf(number string) string {
	mantissa, exponent, has := strings.Cut(strings.ToLower(number), "e")
	if !has {
		return number
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}
