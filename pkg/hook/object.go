package hook

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// object is a decoded payload. Hosts add fields as they like, so what is read
// is picked by its exact name, and a field of another type counts as absent.
// A key given twice has its last value, for the event as for CEL.
type object map[string]any

// parseObject decodes exactly one JSON object; numbers keep their digits.
func parseObject(data []byte) (object, error) {
	if tooDeep(data) {
		return nil, fault.New(fault.Malformed, "the payload nests deeper than %d levels", limits.JSONDepth)
	}
	// Commas are counted, those in texts too when they are so many.
	if bytes.Count(data, []byte{','}) >= limits.PayloadValues && values(data) > limits.PayloadValues {
		return nil, fault.New(fault.Malformed, "the payload holds more than %d values", limits.PayloadValues)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the payload is not JSON")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fault.New(fault.Malformed, "something follows the payload's JSON")
	}
	o, ok := value.(map[string]any)
	if !ok {
		return nil, fault.New(fault.Malformed, "the payload is not a JSON object")
	}
	return o, nil
}

// values counts what stands between commas outside of texts.
func values(data []byte) int {
	n, text := 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && c == ',':
			n++
		}
	}
	return n
}

// tooDeep looks before decoding, since the decoder recurses.
func tooDeep(data []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > limits.JSONDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// at follows keys; nil when one is missing.
func (o object) at(keys ...string) any {
	var value any = map[string]any(o)
	for _, key := range keys {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[key]
	}
	return value
}

// text is the text at keys, or empty.
func (o object) text(keys ...string) string {
	text, _ := o.at(keys...).(string)
	return text
}

// truth is the boolean at keys, or false.
func (o object) truth(keys ...string) bool {
	truth, _ := o.at(keys...).(bool)
	return truth
}

// child is the object at keys, or nil, which has no fields.
func (o object) child(keys ...string) object {
	child, _ := o.at(keys...).(map[string]any)
	return child
}

// list is the list at keys, and whether there is one.
func (o object) list(keys ...string) ([]any, bool) {
	list, ok := o.at(keys...).([]any)
	return list, ok
}

// objects are the objects of the list at keys.
func (o object) objects(keys ...string) []object {
	list, _ := o.list(keys...)
	found := make([]object, 0, len(list))
	for _, entry := range list {
		if m, ok := entry.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// number is the whole number at keys, and whether there is one.
func (o object) number(keys ...string) (int64, bool) {
	digits, ok := o.at(keys...).(json.Number)
	if !ok {
		return 0, false
	}
	number, err := digits.Int64()
	return number, err == nil
}

// texts is the object at keys as labels; what is no text is left out.
func (o object) texts(keys ...string) map[string]string {
	found := map[string]string{}
	for key, value := range o.child(keys...) {
		if text, ok := value.(string); ok {
			found[key] = text
		}
	}
	return found
}
