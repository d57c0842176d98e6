package hook

import (
	"encoding/json"

	"github.com/runhook/runhook/pkg/strict"
)

// Text is a literal, or {cel: expression}.
type Text struct {
	Literal string
	CEL     string
}

// UnmarshalJSON takes a text or an object with the one key cel.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &t.Literal)
	}
	var object struct {
		CEL string `json:"cel"`
	}
	if err := strict.JSON(data, &object); err != nil {
		return err
	}
	t.CEL = object.CEL
	return nil
}
