package py

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// Writer appends values to JSON text in Python's spelling: `", "` and `": "`
// between, everything beyond ASCII escaped, NaN and Infinity by name.
type Writer struct {
	// Time writes a datetime; nil: isoformat.
	Time func(Time) string
	// Date writes a date; nil: a date is refused.
	Date func(Date) string
	// Inert escapes what Argo and Kubernetes would expand in the text: a brace
	// after a brace, and the dollar sign. JSON readers see no difference.
	Inert bool
}

// Append writes a value. Its error says which value has no form in JSON.
func (w *Writer) Append(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, x), nil
	case int64:
		return strconv.AppendInt(b, x, 10), nil
	case *big.Int:
		return x.Append(b, 10), nil
	case float64:
		return appendFloat(b, x), nil
	case string:
		return w.Text(b, x), nil
	case Time:
		if w.Time != nil {
			return w.Text(b, w.Time(x)), nil
		}
		return w.Text(b, x.ISO()), nil
	case Date:
		if w.Date == nil {
			return b, fmt.Errorf("the date %s has no form in JSON: quote it, or give it a time and a zone", x.ISO())
		}
		return w.Text(b, w.Date(x)), nil
	case []any:
		return w.list(b, x)
	case *Map:
		return w.object(b, x)
	}
	return b, fmt.Errorf("%s has no form in JSON", Kind(v))
}

func (w *Writer) list(b []byte, list []any) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, v := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = w.Append(b, v); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func (w *Writer) object(b []byte, m *Map) ([]byte, error) {
	b = append(b, '{')
	for i, e := range m.Entries() {
		if i > 0 {
			b = append(b, ", "...)
		}
		key, err := KeyText(e.Key)
		if err != nil {
			return b, err
		}
		b = append(w.Text(b, key), ": "...)
		if b, err = w.Append(b, e.Value); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// KeyText is the text that Python's JSON makes of a key.
func KeyText(key any) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case *big.Int:
		return k.String(), nil
	case float64:
		return string(appendFloat(nil, k)), nil
	}
	return "", fmt.Errorf("%s can't be a key in JSON", Kind(key))
}

const hexDigits = "0123456789abcdef"

// Text writes a string with its quotes.
func (w *Writer) Text(b []byte, s string) []byte { return appendText(b, s, w.Inert) }

// TextOf writes bytes of text with quotes.
func (w *Writer) TextOf(b, s []byte) []byte { return appendText(b, s, w.Inert) }

func appendText[T string | []byte](b []byte, s T, inert bool) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && (!inert || c != '{' && c != '$') {
			i++
			continue
		}
		if c == '{' && (i+1 >= len(s) || s[i+1] != '{') && (i == 0 || s[i-1] != '{') {
			i++ // one brace alone means nothing to Argo
			continue
		}
		b = append(b, s[start:i]...)
		size := 1
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c < utf8.RuneSelf:
			b = appendUnit(b, rune(c))
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r >= 0x10000 {
				r -= 0x10000
				b = appendUnit(b, 0xd800+r>>10)
				r = 0xdc00 + r&0x3ff
			}
			b = appendUnit(b, r)
		}
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendUnit(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendFloat is Python's repr of a float.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	for _, c := range b[start:] {
		if c == '.' {
			return b
		}
	}
	return append(b, ".0"...)
}

// Text is Python's str of a plain value, as it stands in labels and env.
func Text(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case bool:
		if x {
			return "True"
		}
		return "False"
	case string:
		return x
	case Time:
		return x.Text()
	case Date:
		return x.ISO()
	}
	b, err := (&Writer{Date: Date.ISO}).Append(nil, v)
	if err != nil {
		return Kind(v)
	}
	return string(b)
}
