package gordo

import (
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// Patch lays one value over another as gordo does: mappings are joined, lists
// are merged index by index, a value that Python takes for equal is no change,
// and nothing is ever removed. What is not a mapping lands under the key "".
// Neither value is changed; the result shares what did not change.
func Patch(original, patch any) (any, error) {
	if _, ok := patch.(*py.Map); ok {
		if _, ok := original.(*py.Map); !ok {
			return nil, fault.New(fault.Invalid, "a mapping can't be laid over %s", kindOf(original))
		}
	}
	return (&patcher{}).root(original, patch), nil
}

// patcher tells where a list bites: where something of the lower list stays.
type patcher struct {
	onList func(path string)
	onOver func(path string) // a value of the lower side was replaced
	path   []string
}

func (p *patcher) root(original, patch any) any {
	lower, isMap := original.(*py.Map)
	upper, both := patch.(*py.Map)
	switch {
	case isMap && both:
		return p.maps(lower, upper, true)
	case isMap && !py.Equal(original, patch):
		return lower.With("", patch)
	}
	return p.value(original, patch)
}

func (p *patcher) value(original, patch any) any {
	switch upper := patch.(type) {
	case *py.Map:
		if lower, ok := original.(*py.Map); ok {
			return p.maps(lower, upper, false)
		}
	case []any:
		if lower, ok := original.([]any); ok {
			return p.lists(lower, upper)
		}
	}
	if py.Near(original, patch) {
		return original
	}
	p.tell(p.onOver)
	return patch
}

func (p *patcher) maps(lower, upper *py.Map, top bool) *py.Map {
	result, own := lower, false
	set := func(key, value any) {
		if !own {
			result, own = lower.Clone(), true
		}
		result.Set(key, value)
	}
	for _, e := range upper.Entries() {
		old, there := lower.Get(e.Key)
		if !there {
			set(e.Key, e.Value)
			continue
		}
		if top && e.Key == "" {
			if part, ok := e.Value.(*py.Map); ok {
				if below, ok := old.(*py.Map); ok {
					p.empty(below, part, set)
					continue
				}
			}
		}
		p.push(e.Key)
		if v := p.value(old, e.Value); !identical(old, v) {
			set(e.Key, v)
		}
		p.pop()
	}
	return result
}

// empty keeps a quirk of the library behind gordo: what is new in a mapping
// under an empty key at the top lands at the top itself.
func (p *patcher) empty(lower, upper *py.Map, set func(key, value any)) {
	known := py.NewMap(upper.Len())
	for _, e := range upper.Entries() {
		if _, there := lower.Get(e.Key); there {
			known.Set(e.Key, e.Value)
		} else {
			set(e.Key, e.Value)
		}
	}
	set("", p.maps(lower, known, false))
}

func (p *patcher) lists(lower, upper []any) []any {
	result := make([]any, max(len(lower), len(upper)))
	copy(result, upper)
	for i := range lower {
		if i >= len(upper) {
			result[i] = lower[i]
			continue
		}
		p.push(i)
		result[i] = p.value(lower[i], upper[i])
		p.pop()
	}
	if p.onList != nil && !py.Equal(result, upper) {
		p.tell(p.onList)
	}
	return result
}

func (p *patcher) push(step any) {
	if p.onList == nil && p.onOver == nil {
		return
	}
	if i, ok := step.(int); ok {
		p.path = append(p.path, strict.Index("", i))
		return
	}
	p.path = append(p.path, strict.Key("", py.Text(step)))
}

func (p *patcher) pop() {
	if len(p.path) > 0 {
		p.path = p.path[:len(p.path)-1]
	}
}

func (p *patcher) tell(hook func(string)) {
	if hook == nil {
		return
	}
	path := ""
	for _, step := range p.path {
		path = strict.Join(path, step)
	}
	hook(strings.TrimPrefix(path, "."))
}

// identical spares a copy of a mapping where the patch changed nothing.
func identical(a, b any) bool {
	switch x := a.(type) {
	case *py.Map:
		y, ok := b.(*py.Map)
		return ok && x == y
	case nil, bool, int64, string:
		return a == b
	}
	return false
}
