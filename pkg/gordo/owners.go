package gordo

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/yaml11"
	"github.com/runhook/runhook/pkg/strict"
)

func ownerReferences(o *Options, v string) error {
	if v == "" {
		return nil
	}
	owners, warnings, err := parseOwners(v)
	o.OwnerReferences = owners
	o.Warnings = append(o.Warnings, warnings...)
	return err
}

// parseOwners reads the owners of everything that is made: a list, not empty,
// of mappings with uid, name, kind and apiVersion.
func parseOwners(text string) ([]metav1.OwnerReference, []Warning, error) {
	value, err := yaml11.LoadText(text)
	if err != nil {
		return nil, nil, err
	}
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, nil, errors.New("must be a list of at least one owner, with uid, name, kind and apiVersion")
	}
	var r report
	owners := make([]metav1.OwnerReference, len(list))
	for i, item := range list {
		path := strict.Index("", i)
		m, ok := item.(*py.Map)
		if !ok {
			r.fail(path, "must be a mapping with uid, name, kind and apiVersion, not %s", kindOf(item))
			continue
		}
		owners[i] = r.owner(path, m)
	}
	return owners, r.flagWarnings("owner-references"), r.err()
}

func (r *report) owner(path string, m *py.Map) metav1.OwnerReference {
	owner := metav1.OwnerReference{
		UID:        types.UID(r.ownerText(path, m, "uid")),
		Name:       r.ownerText(path, m, "name"),
		Kind:       r.ownerText(path, m, "kind"),
		APIVersion: r.ownerText(path, m, "apiVersion"),
	}
	for _, e := range m.Entries() {
		at := strict.Key(path, py.Text(e.Key))
		switch e.Key {
		case "uid", "name", "kind", "apiVersion":
		case "controller", "blockOwnerDeletion":
			b, ok := e.Value.(bool)
			if !ok {
				r.fail(at, "must be true or false, not %s", kindOf(e.Value))
			} else if e.Key == "controller" {
				owner.Controller = &b
			} else {
				owner.BlockOwnerDeletion = &b
			}
		default:
			r.warn(ReferenceText, at, "is no field of an owner reference and is left out: remove it")
		}
	}
	return owner
}

func (r *report) ownerText(path string, m *py.Map, key string) string {
	v := m.At(key)
	at := strict.Key(path, key)
	switch v.(type) {
	case string:
	case nil:
		r.fail(at, "is missing: an owner has uid, name, kind and apiVersion")
		return ""
	default:
		r.warn(ReferenceText, at, "is %s and is written as text: quote it", kindOf(v))
	}
	return py.Text(v)
}
