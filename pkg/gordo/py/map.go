// Package py holds Python's data as a config of gordo means it: ordered
// mappings with Python's equality of keys, dates with and without a zone, and
// the JSON that Python writes. Values are nil, bool, int64, *big.Int, float64,
// string, []byte, Time, Date, Set, []any and *Map, and are never changed once
// they are built, so that a thousand machines can share one part.
package py

import "math/big"

// Entry is one pair of a Map.
type Entry struct {
	Key   any
	Value any
}

// Map is a mapping in order of insertion. The nil Map is empty.
type Map struct {
	entries []Entry
	index   map[any]int // by hashable key; only beyond indexFrom entries
}

// indexFrom is where a table of keys beats a walk over the entries.
const indexFrom = 24

// NewMap makes an empty Map with room for size entries.
func NewMap(size int) *Map {
	return &Map{entries: make([]Entry, 0, size)}
}

// MapOf makes a Map of text keys and values in turn.
func MapOf(pairs ...any) *Map {
	m := NewMap(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Set(pairs[i], pairs[i+1])
	}
	return m
}

// Len is the number of entries.
func (m *Map) Len() int {
	if m == nil {
		return 0
	}
	return len(m.entries)
}

// Entries are the pairs in order. They are not to be changed.
func (m *Map) Entries() []Entry {
	if m == nil {
		return nil
	}
	return m.entries
}

// Get gives the value of a key.
func (m *Map) Get(key any) (any, bool) {
	if i := m.find(key); i >= 0 {
		return m.entries[i].Value, true
	}
	return nil, false
}

// At gives the value of a text key, nil where there is none.
func (m *Map) At(key string) any {
	v, _ := m.Get(key)
	return v
}

// MapAt gives the mapping below a text key, nil where there is none.
func (m *Map) MapAt(key string) *Map {
	v, _ := m.At(key).(*Map)
	return v
}

// Set puts a value under a key; a key that is there keeps its place and its
// own spelling, as in Python. Only the builder of a Map calls it.
func (m *Map) Set(key, value any) {
	if i := m.find(key); i >= 0 {
		m.entries[i].Value = value
		return
	}
	m.entries = append(m.entries, Entry{key, value})
	switch {
	case m.index != nil:
		m.index[hash(key)] = len(m.entries) - 1
	case len(m.entries) > indexFrom:
		m.index = make(map[any]int, 2*len(m.entries))
		for i, e := range m.entries {
			m.index[hash(e.Key)] = i
		}
	}
}

// Clone makes a Map with the same entries, for its new owner to change.
func (m *Map) Clone() *Map {
	c := NewMap(m.Len() + 1)
	for _, e := range m.Entries() {
		c.Set(e.Key, e.Value)
	}
	return c
}

// With is the Map with one more value.
func (m *Map) With(key, value any) *Map {
	c := m.Clone()
	c.Set(key, value)
	return c
}

// Without is the Map less one key.
func (m *Map) Without(key any) *Map {
	c := NewMap(m.Len())
	for _, e := range m.Entries() {
		if !Equal(e.Key, key) {
			c.Set(e.Key, e.Value)
		}
	}
	return c
}

func (m *Map) find(key any) int {
	if m == nil {
		return -1
	}
	if m.index != nil {
		if i, ok := m.index[hash(key)]; ok {
			return i
		}
		return -1
	}
	if text, ok := key.(string); ok {
		for i := range m.entries {
			if k, ok := m.entries[i].Key.(string); ok && k == text {
				return i
			}
		}
		return -1
	}
	h := hash(key)
	for i := range m.entries {
		if hash(m.entries[i].Key) == h {
			return i
		}
	}
	return -1
}

// bigKey, timeKey and bytesKey keep keys of one kind apart from text.
type (
	bigKey   string
	bytesKey string
	timeKey  struct {
		nano  int64
		sec   int64
		aware bool
	}
)

// hash gives one comparable value to all keys that Python takes for equal:
// True, 1 and 1.0 are one key.
func hash(key any) any {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if i := int64(k); float64(i) == k && k < 1<<62 && k > -1<<62 {
			return i
		}
		return k
	case *big.Int:
		return bigKey(k.String())
	case []byte:
		return bytesKey(k)
	case Time:
		return timeKey{int64(k.Nanosecond()), k.Unix(), k.Aware}
	}
	return key
}

// Hashable reports whether Python takes a value as a key.
func Hashable(v any) bool {
	switch v.(type) {
	case *Map, []any, Set:
		return false
	}
	return true
}
