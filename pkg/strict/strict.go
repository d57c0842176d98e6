// Package strict decodes JSON and YAML without forgiving anything: an unknown
// key, a key given twice and a value of the wrong type are refused, all at
// once, each with its path.
package strict

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
)

// JSON decodes one JSON value. Bytes that are no JSON are Malformed; unknown
// keys and wrong types are Invalid, every one with its path.
func JSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.Wrap(fault.Malformed, err, "not the JSON that is asked for: %v", err)
	}
	return nil
}

// YAML decodes one YAML document of a file, whose name only serves the message.
func YAML(file string, data []byte, into any) error {
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		return fault.Wrap(fault.Invalid, err, "%s: %v", file, err)
	}
	return nil
}
