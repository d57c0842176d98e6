package py

import (
	"bytes"
	"math"
	"math/big"
)

// Equal is Python's `==`: True is 1 and 1 is 1.0; NaN is nothing, not even itself.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool, int64, float64, *big.Int:
		return equalNumbers(a, b)
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case Time:
		y, ok := b.(Time)
		return ok && x.Aware == y.Aware && x.Time.Equal(y.Time)
	case Date:
		y, ok := b.(Date)
		return ok && x == y
	case []any:
		y, ok := b.([]any)
		return ok && equalLists(x, y)
	case Set:
		y, ok := b.(Set)
		return ok && equalLists(x, y)
	case *Map:
		y, ok := b.(*Map)
		return ok && equalMaps(x, y)
	}
	return false
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalMaps(a, b *Map) bool {
	if a == b {
		return true
	}
	if a.Len() != b.Len() {
		return false
	}
	for _, e := range a.Entries() {
		v, ok := b.Get(e.Key)
		if !ok || !Equal(e.Value, v) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b any) bool {
	x, ok := integer(a)
	y, both := integer(b)
	if ok && both {
		return x.Cmp(y) == 0
	}
	f, ok := Float(a)
	g, both := Float(b)
	return ok && both && f == g
}

// Near reports what the library that compares gordo's configs takes for no
// change: equal values, NaN over NaN, and numbers within one machine epsilon.
func Near(a, b any) bool {
	if Equal(a, b) {
		return true
	}
	f, ok := Float(a)
	g, both := Float(b)
	if !ok || !both {
		return false
	}
	if math.IsNaN(f) || math.IsNaN(g) {
		return math.IsNaN(f) && math.IsNaN(g)
	}
	const epsilon = 2.220446049250313e-16
	return distance(a, b, f, g) <= epsilon*math.Max(math.Abs(f), math.Abs(g))
}

// distance of two integers is exact, as Python's is.
func distance(a, b any, f, g float64) float64 {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			d, _ := new(big.Float).SetInt(new(big.Int).Sub(x, y)).Float64()
			return math.Abs(d)
		}
	}
	return math.Abs(f - g)
}

// Float is a number as a float, with ok for any number. True is 1.
func Float(v any) (float64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(x), true
	case float64:
		return x, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		return f, true
	}
	return 0, false
}

func integer(v any) (*big.Int, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case int64:
		return big.NewInt(x), true
	case *big.Int:
		return x, true
	}
	return nil, false
}

// Truthy is Python's bool of a value: empty things and zero are false.
func Truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case float64:
		return x != 0
	case *big.Int:
		return x.Sign() != 0
	case string:
		return x != ""
	case []byte:
		return len(x) != 0
	case []any:
		return len(x) != 0
	case Set:
		return len(x) != 0
	case *Map:
		return x.Len() != 0
	}
	return true
}

// Kind names the type of a value as a writer of YAML knows it.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64, *big.Int:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case string:
		return "text"
	case []byte:
		return "binary"
	case Time:
		return "a timestamp"
	case Date:
		return "a date"
	case Set:
		return "a set"
	case []any:
		return "a list"
	}
	return "a mapping"
}
