package yaml11

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// The forms of plain scalars that YAML 1.1 takes for numbers and timestamps,
// as PyYAML knows them: an exponent needs a point and a sign.
var (
	intForm   = regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	floatForm = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// words are the plain scalars that are no text.
var words = func() map[string]any {
	m := map[string]any{"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil}
	for _, w := range []string{"yes", "true", "on"} {
		m[w], m[strings.ToUpper(w)], m[strings.ToUpper(w[:1])+w[1:]] = true, true, true
	}
	for _, w := range []string{"no", "false", "off"} {
		m[w], m[strings.ToUpper(w)], m[strings.ToUpper(w[:1])+w[1:]] = false, false, false
	}
	return m
}()

// plain gives the value of a scalar without quotes and without a tag.
func (r *reader) plain(text string) (any, error) {
	if len(text) <= len("false") {
		if v, ok := words[text]; ok {
			return v, nil
		}
	}
	switch text[0] {
	case '<', '=':
		if text == "<<" || text == "=" {
			return nil, fmt.Errorf("%s has no meaning here: quote it to mean the text", text)
		}
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		switch {
		case beginsWithYear(text):
			if dayForm.MatchString(text) || timeForm.MatchString(text) {
				return r.timestamp(text)
			}
		case intForm.MatchString(text):
			return parseInt(text)
		case floatForm.MatchString(text):
			return parseFloat(text)
		}
	}
	return r.text(text), nil
}

// beginsWithYear reports whether a scalar may be a timestamp, and can't be a
// number.
func beginsWithYear(text string) bool {
	return len(text) > 4 && text[4] == '-' && strings.Trim(text[:4], "0123456789") == ""
}

// tagged gives the value of a scalar with an explicit tag.
func (r *reader) tagged(tag, text string) (any, error) {
	switch tag {
	case "!", "!!str":
		return text, nil
	case "!!int":
		return parseInt(text)
	case "!!float":
		return parseFloat(strings.ToLower(text))
	case "!!null":
		return nil, nil
	case "!!bool":
		if v, ok := words[text]; ok && v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("%q is not a boolean", clip(text))
	case "!!timestamp":
		return r.timestamp(text)
	case "!!binary":
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return nil, fmt.Errorf("!!binary takes base64: %w", err)
		}
		return b, nil
	}
	return nil, tagFault(tag)
}

func tagFault(tag string) error {
	if strings.HasPrefix(tag, "!!python/") {
		return fmt.Errorf("the tag %s is refused: a config does not reach into Python; write plain YAML", clip(tag))
	}
	return fmt.Errorf("the tag %s is not known: leave it out, or quote the value", clip(tag))
}

func parseInt(text string) (any, error) {
	digits, negative := sign(strings.ReplaceAll(text, "_", ""))
	var n *big.Int
	ok := true
	switch {
	case strings.Contains(digits, ":"):
		n, ok = sexagesimal(digits)
	case strings.HasPrefix(digits, "0b"):
		n, ok = new(big.Int).SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		n, ok = new(big.Int).SetString(digits[2:], 16)
	case len(digits) > 1 && digits[0] == '0':
		n, ok = new(big.Int).SetString(digits[1:], 8)
	default:
		if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
			if negative {
				i = -i
			}
			return i, nil
		}
		n, ok = new(big.Int).SetString(digits, 10)
	}
	if !ok || digits == "" {
		return nil, fmt.Errorf("%q is not a whole number: quote it to mean the text", clip(text))
	}
	if negative {
		n.Neg(n)
	}
	if n.IsInt64() {
		return n.Int64(), nil
	}
	return n, nil
}

func sign(text string) (digits string, negative bool) {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[1:], text[0] == '-'
	}
	return text, false
}

// sexagesimal reads `1:30` as 90.
func sexagesimal(text string) (*big.Int, bool) {
	n, sixty := new(big.Int), big.NewInt(60)
	for part := range strings.SplitSeq(text, ":") {
		digit, ok := new(big.Int).SetString(part, 10)
		if !ok {
			return nil, false
		}
		n.Add(n.Mul(n, sixty), digit)
	}
	return n, true
}

func parseFloat(text string) (any, error) {
	digits, negative := sign(strings.ToLower(strings.ReplaceAll(text, "_", "")))
	var f float64
	switch {
	case digits == ".inf":
		f = math.Inf(1)
	case digits == ".nan":
		return math.NaN(), nil
	case strings.Contains(digits, ":"):
		for part := range strings.SplitSeq(digits, ":") {
			n, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not a number", clip(text))
			}
			f = f*60 + n
		}
	default:
		var err error
		// An overflow gives infinity, as in Python.
		if f, err = strconv.ParseFloat(digits, 64); err != nil && !math.IsInf(f, 0) {
			return nil, fmt.Errorf("%q is not a number", clip(text))
		}
	}
	if negative {
		f = -f
	}
	return f, nil
}

// timestamp gives the value of a scalar that YAML takes for a timestamp: in a
// file by ISO 8601 with a zone, in a YAML text by YAML's own looser form.
func (r *reader) timestamp(text string) (any, error) {
	if !r.zones {
		return looseTimestamp(text)
	}
	t, err := py.ParseISO(text)
	if err != nil {
		return nil, fmt.Errorf("the timestamp %q: %w; quote it to mean the text", clip(text), err)
	}
	if !t.Aware {
		return nil, fmt.Errorf("the timestamp %q has no zone: write %s, or quote it to mean the text", clip(text), withZone(text))
	}
	return t, nil
}

func withZone(text string) string {
	if len(text) <= len("2020-01-01") {
		return text + "T00:00:00Z"
	}
	return text + "Z"
}
