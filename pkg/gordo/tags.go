package gordo

import (
	"strings"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// tagSet remembers the tags of one dataset by name: the same name must mean
// the same fields.
type tagSet struct {
	fallback *py.Map // the fields of a tag that is written as text
	fields   map[string]*py.Map
}

// tags checks one list of tags. What the user wrote stays as it is.
func (r *report) tags(set *tagSet, path string, v any, required bool) {
	list, ok := v.([]any)
	if text, isText := v.(string); isText && text != "" {
		r.warn(TagsSplit, path, "is one text and is split into its letters: write a list")
		for letter := range strings.SplitSeq(text, "") {
			list = append(list, letter)
		}
		ok = true
	}
	switch {
	case v == nil && !required:
		return
	case !ok:
		r.fail(path, "must be a list of tags, not %s", kindOf(v))
		return
	case len(list) == 0 && required:
		r.fail(path, "is empty: name at least one tag")
	}
	for i, tag := range list {
		switch x := tag.(type) {
		case string:
			r.tag(set, path, i, x, set.fallback)
		case *py.Map:
			r.tagMap(set, path, i, x)
		default:
			r.fail(strict.Index(path, i), "must be a tag's name or a mapping with name, not %s", kindOf(tag))
		}
	}
}

func (r *report) tagMap(set *tagSet, path string, i int, m *py.Map) {
	name, ok := m.At("name").(string)
	if !ok {
		r.fail(strict.Key(strict.Index(path, i), "name"), "must be text, not %s", kindOf(m.At("name")))
		return
	}
	for _, e := range m.Entries() {
		if _, text := e.Value.(string); !text && e.Value != nil {
			r.fail(strict.Key(strict.Index(path, i), py.Text(e.Key)), "must be text or null, not %s", kindOf(e.Value))
		}
	}
	r.tag(set, path, i, name, m)
}

func (r *report) tag(set *tagSet, path string, i int, name string, fields *py.Map) {
	before, seen := set.fields[name]
	if !seen {
		set.fields[name] = fields
		return
	}
	if before != fields && !sameFields(before, fields) {
		r.fail(strict.Index(path, i), "the tag %.100q stands here with other fields than before", name)
	}
}

// sameFields compares all but the name, which only a mapping repeats.
func sameFields(a, b *py.Map) bool {
	return containsFields(a, b) && containsFields(b, a)
}

func containsFields(a, b *py.Map) bool {
	for _, e := range b.Entries() {
		if e.Key == "name" {
			continue
		}
		if v, ok := a.Get(e.Key); !ok || !py.Equal(v, e.Value) {
			return false
		}
	}
	return true
}

// defaultTag gives the fields of a tag that is only a name: those of
// default_tag, for which `asset` is short.
func (r *report) defaultTag(path string, dataset *py.Map) *py.Map {
	fields, asset := dataset.At("default_tag"), dataset.At("asset")
	m, isMap := fields.(*py.Map)
	switch {
	case py.Truthy(fields) && py.Truthy(asset):
		r.fail(path+".asset", "can't stand beside default_tag: write default_tag: {asset: …}")
	case fields != nil && !isMap:
		r.fail(path+".default_tag", "must be a mapping, not %s", kindOf(fields))
	case py.Truthy(asset):
		return py.MapOf("asset", asset)
	}
	return m
}
