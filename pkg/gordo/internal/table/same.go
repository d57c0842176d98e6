package table

import (
	"fmt"
	"math"
	"sort"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// Same is equality with types: 1 is neither 1.0 nor true, and NaN is NaN.
func Same(a, b any) bool {
	if fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) {
		return false
	}
	switch x := a.(type) {
	case float64:
		y := b.(float64)
		return x == y && math.Signbit(x) == math.Signbit(y) || math.IsNaN(x) && math.IsNaN(y)
	case py.Time:
		return x.ISO() == b.(py.Time).ISO()
	case []any:
		y := b.([]any)
		for i := range x {
			if len(x) != len(y) || !Same(x[i], y[i]) {
				return false
			}
		}
		return len(x) == len(y)
	case *py.Map:
		y := b.(*py.Map)
		for _, e := range x.Entries() {
			if v, ok := y.Get(e.Key); !ok || !Same(e.Value, v) {
				return false
			}
		}
		return x.Len() == y.Len()
	}
	return py.Equal(a, b)
}

func sorted(v any) any {
	switch x := v.(type) {
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = sorted(x[i])
		}
		return list
	case *py.Map:
		entries := append([]py.Entry(nil), x.Entries()...)
		sort.SliceStable(entries, func(i, j int) bool {
			return fmt.Sprint(entries[i].Key) < fmt.Sprint(entries[j].Key)
		})
		m := py.NewMap(len(entries))
		for _, e := range entries {
			key := e.Key
			if t, ok := key.(py.Time); ok {
				key = t.ISO()
			}
			m.Set(key, sorted(e.Value))
		}
		return m
	case py.Set:
		return sorted([]any(x))
	case []byte:
		return fmt.Sprintf("%x", x)
	}
	return v
}
