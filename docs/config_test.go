package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/openapi"
)

// keys lists the keys of a config below a path as the page writes them. Types
// of Kubernetes and texts with a decoder of their own are one key each.
func keys(t reflect.Type, path string) []string {
	switch {
	case t == reflect.TypeFor[config.Rights]():
		return nil
	case t.Kind() == reflect.Pointer:
		return keys(t.Elem(), path)
	case t.Kind() == reflect.Slice && ours(t.Elem()):
		return keys(t.Elem(), path+"[]")
	case t.Kind() == reflect.Map && ours(t.Elem()):
		return keys(t.Elem(), path+".<name>")
	case !ours(t):
		return []string{path}
	}
	var all []string
	for _, f := range openapi.Fields(t) {
		if f.Owner == reflect.TypeFor[config.Rights]() {
			continue // in a table of its own, once for both kinds of callers
		}
		all = append(all, keys(f.Type, strings.TrimPrefix(path+"."+f.Name, "."))...)
	}
	return all
}

var ownDecoder = reflect.TypeFor[json.Unmarshaler]()

// ours reports a struct whose keys the page lists one by one.
func ours(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.Contains(t.PkgPath(), "runhook") &&
		!strings.HasSuffix(t.PkgPath(), "/secret") && !reflect.PointerTo(t).Implements(ownDecoder)
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (?:`([^`]*)`)? ?\\|")

func TestConfigPageHasEveryKeyWithItsDefault(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/config.md"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, match := range row.FindAllStringSubmatch(string(text), -1) {
		if _, twice := told[match[1]]; twice {
			t.Errorf("%s is told twice", match[1])
		}
		told[match[1]] = match[2]
	}
	encoded, err := json.Marshal(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	var defaults map[string]any
	if err := json.Unmarshal(encoded, &defaults); err != nil {
		t.Fatal(err)
	}
	check := func(key, want string) {
		if said, ok := told[key]; !ok || said != want {
			t.Errorf("%s: the page says %q (told: %t), the default is %q", key, said, ok, want)
		}
		delete(told, key)
	}
	for _, key := range keys(reflect.TypeFor[config.Config](), "") {
		check(key, defaultOf(defaults, key))
	}
	for _, f := range openapi.Fields(reflect.TypeFor[config.Rights]()) {
		check(f.Name, "")
	}
	for key := range told {
		t.Errorf("the config has no key %s", key)
	}
}

// defaultOf is a key's default as the page writes it; empty: none.
func defaultOf(defaults map[string]any, key string) string {
	var value any = defaults
	for name := range strings.SplitSeq(key, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[name]
	}
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		if !v {
			return ""
		}
		return "true"
	case string, float64:
		return fmt.Sprint(v)
	default:
		text, _ := json.Marshal(v)
		return string(text)
	}
}
