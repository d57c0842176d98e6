// Package secret reads secrets that the config names, and keeps them out of
// logs: a Value prints as <secret>.
package secret

import (
	"bytes"
	"crypto/subtle"
	"io"
	"os"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Ref names a secret: a file or an environment variable, never its text.
type Ref struct {
	File string `json:"file,omitempty"`
	Env  string `json:"env,omitempty"`
}

// Value is the text of a secret.
type Value struct{ text []byte }

// Of makes a value of a text.
func Of(text string) Value { return Value{[]byte(text)} }

// Load reads a secret. One trailing newline is cut, as editors and
// `kubectl create secret --from-file` leave one. An empty secret is refused:
// it would let everybody in.
func (r Ref) Load(getenv func(string) string) (Value, error) {
	var text []byte
	switch {
	case (r.File == "") == (r.Env == ""):
		return Value{}, fault.New(fault.Invalid, "name the secret by either file or env")
	case r.File != "":
		content, err := read(r.File)
		if err != nil {
			return Value{}, fault.Wrap(fault.Invalid, err, "the secret's file %s cannot be read", r.File)
		}
		if len(content) > limits.Secret {
			return Value{}, fault.New(fault.Invalid, "the secret's file %s is larger than %d bytes", r.File, limits.Secret)
		}
		text = content
	default:
		if text = []byte(getenv(r.Env)); len(text) == 0 {
			return Value{}, fault.New(fault.Invalid, "the secret's variable %s is not set, or empty", r.Env)
		}
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	text = bytes.TrimSuffix(text, []byte("\r"))
	if len(bytes.TrimSpace(text)) == 0 {
		return Value{}, fault.New(fault.Invalid, "the secret in %s%s is empty", r.File, r.Env)
	}
	return Value{text}, nil
}

// read reads a file, and one byte beyond what a secret may have.
func read(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limits.Secret+1))
}

// Bytes gives the secret itself, for a key of an HMAC.
func (v Value) Bytes() []byte { return v.text }

// Equal compares in constant time. An empty value equals nothing.
func (v Value) Equal(given string) bool {
	return len(v.text) > 0 && subtle.ConstantTimeCompare(v.text, []byte(given)) == 1
}

// String hides the secret.
func (Value) String() string { return "<secret>" }

// GoString hides the secret from %#v.
func (Value) GoString() string { return "<secret>" }

// MarshalText hides the secret from every encoder.
func (Value) MarshalText() ([]byte, error) { return []byte("<secret>"), nil }
