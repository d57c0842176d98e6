package py

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/runhook/runhook/pkg/limits"
)

// ReadJSON reads JSON into values: whole numbers of any size, keys in order,
// the last of two equal keys wins.
func ReadJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something is left over behind the value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	if depth > limits.JSONDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", limits.JSONDepth)
	}
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	switch x := token.(type) {
	case json.Number:
		return readNumber(x)
	case json.Delim:
		if x == '[' {
			return readList(d, depth)
		}
		return readMap(d, depth)
	}
	return token, nil
}

func readList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func readMap(d *json.Decoder, depth int) (any, error) {
	m := NewMap(4)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		m.Set(key, v)
	}
	_, err := d.Token()
	return m, err
}

func readNumber(n json.Number) (any, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		f, err := n.Float64()
		return f, err
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	i, _ := new(big.Int).SetString(n.String(), 10)
	return i, nil
}
