// Package table reads the tables of gordo's small rules for the tests: rows of
// inputs and results, with Python's values spelled as `{"$datetime": …}`,
// `{"$date": …}`, `{"$float": …}`, `{"$bytes": …}`, `{"$set": …}` and `{"$pairs": …}`.
package table

import (
	"encoding/hex"
	"math"
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
	v, err := py.ReadJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, v)
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

func decoded(t *testing.T, v any) any {
	switch x := v.(type) {
	case []any:
		for i := range x {
			x[i] = decoded(t, x[i])
		}
	case *py.Map:
		m := py.NewMap(x.Len())
		for _, e := range x.Entries() {
			m.Set(e.Key, decoded(t, e.Value))
		}
		return special(t, m)
	}
	return v
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
