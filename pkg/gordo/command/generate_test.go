package command

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/runhook/runhook/pkg/gordo/cases"
)

func TestEveryWorkflowIsGordos(t *testing.T) {
	for _, name := range cases.Names(t, testdata, "workflow.json") {
		t.Run(name, func(t *testing.T) {
			if name == "flags-custom-template" {
				return // TestCustomTemplate
			}
			got := cases.Play(t, testdata, Generate(nil), name, "-o", "json")
			d, deviates := generated[name]
			if deviates && d.outcome == refused {
				if got.Err == nil {
					t.Fatal("was accepted")
				}
				return
			}
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			want, ours := list(t, expected(t, name, "workflow.json")), list(t, decode(t, []byte(got.Out)))
			adjust(name, want, ours)
			for _, line := range differences(readable(want), readable(ours)) {
				t.Error(line)
			}
		})
	}
}

func list(t *testing.T, v any) []object {
	t.Helper()
	items, ok := v.([]any)
	if !ok {
		t.Fatalf("no list of documents: %.100v", v)
	}
	documents := make([]object, len(items))
	for i := range items {
		documents[i] = items[i].(object)
	}
	return documents
}

// readable opens what is JSON inside of text, so that JSON is compared and not
// its spelling, and drops what is empty.
func readable(documents []object) any {
	list := make([]any, len(documents))
	for i := range documents {
		list[i] = open("", map[string]any(documents[i]))
	}
	return list
}

func open(key string, v any) any {
	switch x := v.(type) {
	case map[string]any:
		result := map[string]any{}
		for k, item := range x {
			if item = open(k, item); !empty(k, item) {
				result[k] = item
			}
		}
		if m, only := result["manifest"].(map[string]any); only && len(result) == 1 {
			return m
		}
		return result
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = open("", x[i])
		}
		return list
	case string:
		text := strings.TrimSpace(x)
		if key == "memory" || key == "cpu" || key == "storage" {
			return amount(text)
		}
		var inner any
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &inner) == nil {
			return open("", inner)
		}
		if key == "source" {
			return "(ours)"
		}
		return text
	}
	return v
}

// empty is what Argo's types write of what is not there.
func empty(key string, v any) bool {
	m, isMap := v.(map[string]any)
	switch key {
	case "inputs", "outputs", "metadata", "arguments", "resources", "strategy", "updateStrategy":
		return isMap && len(m) == 0
	case "name":
		return v == ""
	}
	return v == nil
}

// amount is the canonical text of an amount (G130): typed objects write 1 for 1000m.
func amount(text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return text
	}
	return q.String()
}

// differences compares value by value, by path: a whole Workflow is no message.
func differences(want, ours any) []string {
	a, b := map[string]any{}, map[string]any{}
	flatten("", want, a)
	flatten("", ours, b)
	var lines []string
	for path, v := range a {
		if other, there := b[path]; !there {
			lines = append(lines, fmt.Sprintf("%s is missing, and was %.300v", path, v))
		} else if other != v {
			lines = append(lines, fmt.Sprintf("%s is %.300v, and was %.300v", path, other, v))
		}
	}
	for path, v := range b {
		if _, there := a[path]; !there {
			lines = append(lines, fmt.Sprintf("%s is new: %.300v", path, v))
		}
	}
	sort.Strings(lines)
	return lines
}

func flatten(path string, v any, into map[string]any) {
	switch x := v.(type) {
	case map[string]any:
		into[path] = "a mapping"
		for k, item := range x {
			flatten(path+"."+k, item, into)
		}
	case []any:
		into[path] = fmt.Sprint("a list of ", len(x))
		for i, item := range x {
			step := strconv.Itoa(i)
			if m, ok := item.(map[string]any); ok && m["name"] != nil {
				step += fmt.Sprintf(":%v", m["name"])
			}
			flatten(path+"["+step+"]", item, into)
		}
	default:
		into[path] = v
	}
}
