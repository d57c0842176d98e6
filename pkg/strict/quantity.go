package strict

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity bounds what is parsed: with many digits and an exponent of nine,
// Kubernetes' parser is busy for ever. No amount of anything needs more.
var quantity = regexp.MustCompile(`^[+-]?[0-9]{1,19}(\.[0-9]{1,9})?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$`)

var quantityType = reflect.TypeFor[resource.Quantity]()

// errQuantity is said of what Quantity does not take.
var errQuantity = errors.New("is no quantity such as 500m or 8Gi")

// Costly reports an error about JSON that no other decoder may read into the
// same type either, since that would take all time or memory.
func Costly(err error) bool { return errors.Is(err, errQuantity) || errors.Is(err, errTooMuch) }

// Quantity parses a Kubernetes quantity from outside; false when it is none.
func Quantity(text string) (resource.Quantity, bool) {
	if !quantity.MatchString(text) {
		return resource.Quantity{}, false
	}
	parsed, err := resource.ParseQuantity(text)
	return parsed, err == nil
}

// isQuantity applies Quantity's rule to the JSON of one: text, or a number.
// Null is none to Kubernetes, and means zero.
func isQuantity(raw []byte) bool {
	text := string(raw)
	if raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
		return false
	}
	_, ok := Quantity(text)
	return ok || text == "null"
}
