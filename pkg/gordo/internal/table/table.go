// Package table reads the tables of gordo's small rules for the tests: rows of
// inputs and results, with Python's values spelled as `{"$datetime": …}`,
// `{"$date": …}`, `{"$float": …}`, `{"$bytes": …}`, `{"$set": …}` and `{"$pairs": …}`.
package table

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// Rows reads a table of the testdata folder, relative to the test's package.
func Rows(t *testing.T, testdata, name string) []*py.Map {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata, "tables", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	list, ok := Value(t, text).([]any)
	if !ok || len(list) == 0 {
		t.Fatalf("%s holds no rows", name)
	}
	rows := make([]*py.Map, len(list))
	for i := range list {
		rows[i] = list[i].(*py.Map)
	}
	return rows
}

// Value reads JSON as a Python value.
func Value(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value(t, d)
}

// JSON writes a value with sorted keys, for comparison and for messages; a
// float always shows that it is one.
func JSON(t *testing.T, v any) string {
	t.Helper()
	w := py.Writer{Date: py.Date.ISO}
	b, err := w.Append(nil, sorted(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func value(t *testing.T, d *json.Decoder) any {
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch x := token.(type) {
	case json.Delim:
		if x == '[' {
			list := []any{}
			for d.More() {
				list = append(list, value(t, d))
			}
			_, _ = d.Token()
			return list
		}
		m := py.NewMap(4)
		for d.More() {
			key := value(t, d)
			m.Set(key, value(t, d))
		}
		_, _ = d.Token()
		return special(t, m)
	case json.Number:
		return number(t, x.String())
	default:
		return x
	}
}

func number(t *testing.T, text string) any {
	if strings.ContainsAny(text, ".eE") {
		f, err := json.Number(text).Float64()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	n, _ := new(big.Int).SetString(text, 10)
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

func special(t *testing.T, m *py.Map) any {
	if m.Len() != 1 {
		return m
	}
	e := m.Entries()[0]
	switch e.Key {
	case "$datetime":
		at, err := py.ParseISO(e.Value.(string))
		if err != nil {
			t.Fatal(err)
		}
		return at
	case "$date":
		at, err := time.Parse(time.DateOnly, e.Value.(string))
		if err != nil {
			t.Fatal(err)
		}
		return py.Date{Year: at.Year(), Month: at.Month(), Day: at.Day()}
	case "$float":
		return map[any]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[e.Value]
	case "$bytes":
		b, err := hex.DecodeString(e.Value.(string))
		if err != nil {
			t.Fatal(err)
		}
		return b
	case "$set":
		set := py.Set{}
		for _, v := range e.Value.([]any) {
			set = append(set, strings.Trim(v.(string), "'"))
		}
		return set
	case "$pairs":
		pairs := py.NewMap(1)
		for _, v := range e.Value.([]any) {
			pairs.Set(v.([]any)[0], v.([]any)[1])
		}
		return pairs
	}
	return m
}
