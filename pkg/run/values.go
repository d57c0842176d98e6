package run

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/strict"
)

// Quantity is a Kubernetes quantity as it was written: `4`, `500m`, `8Gi`.
// It is written back in one form, so that 1Gi, 1024Mi and 1073741824 are equal.
type Quantity string

// Parse gives the quantity; false when it is none.
func (q Quantity) Parse() (resource.Quantity, bool) { return strict.Quantity(string(q)) }

// UnmarshalJSON takes text or a number.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	switch c := first(data); {
	case c == '"':
		return json.Unmarshal(data, (*string)(q))
	case c == '-' || c >= '0' && c <= '9':
		*q = Quantity(data)
		return nil
	default:
		return fault.New(fault.Invalid, "a quantity such as 500m or 8Gi is asked for")
	}
}

// MarshalJSON writes the decimal form.
func (q Quantity) MarshalJSON() ([]byte, error) {
	if parsed, ok := q.Parse(); ok {
		return json.Marshal(resource.NewDecimalQuantity(*parsed.AsDec(), resource.DecimalSI).String())
	}
	return json.Marshal(string(q))
}

// Duration is a duration as it was written: `10s`, `24h`.
type Duration string

// Parse gives the duration; false when it is none.
func (d Duration) Parse() (time.Duration, bool) {
	parsed, err := time.ParseDuration(string(d))
	return parsed, err == nil
}

// MarshalJSON writes the canonical form, so that 60m and 1h are equal.
func (d Duration) MarshalJSON() ([]byte, error) {
	if parsed, ok := d.Parse(); ok {
		return json.Marshal(parsed.String())
	}
	return json.Marshal(string(d))
}

// EnvValue is the value of an environment variable: text, or a key of a Secret.
type EnvValue struct {
	Text   string
	Secret *SecretKey
}

// SecretKey names a key of a Secret.
type SecretKey struct {
	Secret string `json:"secret"`
	Key    string `json:"key"`
}

// UnmarshalJSON takes text or {secret, key}.
func (v *EnvValue) UnmarshalJSON(data []byte) error {
	switch first(data) {
	case '"':
		return json.Unmarshal(data, &v.Text)
	case '{':
		v.Secret = &SecretKey{}
		return strict.JSON(data, v.Secret)
	default:
		return fault.New(fault.Invalid, "text or {secret, key} is asked for; put numbers in quotes")
	}
}

// MarshalJSON writes what UnmarshalJSON takes.
func (v EnvValue) MarshalJSON() ([]byte, error) {
	if v.Secret != nil {
		return json.Marshal(v.Secret)
	}
	return json.Marshal(v.Text)
}

func first(data []byte) byte {
	if len(data) == 0 {
		return 0
	}
	return data[0]
}
