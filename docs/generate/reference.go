package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/openapi"
)

func referencePage(page *bytes.Buffer) error {
	c := config.Default()
	table, err := functions.New(&c, nil)
	if err != nil {
		return err
	}
	told := &comments{folders: map[string]map[string]map[string]string{}}
	document := openapi.New(table.All(), "", told.describe)
	if told.err != nil {
		return told.err
	}
	fmt.Fprint(page, made, "# Reference\n\nEvery function with its fields, and what it needs of the cluster. [functions.md](functions.md) says how they are used; `GET /openapi.json` gives the same as OpenAPI 3.1.\n\n")
	for _, f := range table.All() {
		fmt.Fprintf(page, "- [%s](#%s) %s\n", f.Name, f.Name, f.Summary)
	}
	for _, f := range table.All() {
		writeFunction(page, f, document.Paths["/functions/"+f.Name]["post"])
	}
	fmt.Fprint(page, "\n## Types\n")
	schemas := document.Components.Schemas
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		fmt.Fprintf(page, "\n### %s\n\n", name)
		writeFields(page, schemas[name])
	}
	return nil
}

func writeFunction(page *bytes.Buffer, f function.Function, operation *openapi.Operation) {
	methods := "`POST /functions/" + f.Name + "`"
	if f.Reads {
		methods += " or `GET`"
	}
	fmt.Fprintf(page, "\n## %s\n\n%s %s\n\nRequest:\n\n", f.Name, sentence(f.Summary), methods)
	writeFields(page, operation.RequestBody.Content["application/json"].Schema)
	fmt.Fprint(page, "\nAnswer:\n\n")
	writeFields(page, operation.Responses["2XX"].Content["application/json"].Schema)
	if len(f.Access) == 0 {
		return
	}
	fmt.Fprint(page, "\nNeeds of the cluster:\n\n")
	for _, a := range f.Access {
		where := "in the namespace of the runs"
		if a.Cluster {
			where = "in the whole cluster"
		}
		resource := a.Resource
		if a.Group != "" {
			resource += "." + a.Group
		}
		if len(a.Names) > 0 {
			resource += " " + strings.Join(a.Names, ", ")
		}
		fmt.Fprintf(page, "- %s: %s, %s\n", code([]string{resource}), strings.Join(a.Verbs, ", "), where)
	}
}

// writeFields writes the keys of an object, those that must be there first.
func writeFields(page *bytes.Buffer, object *openapi.Schema) {
	if len(object.Properties) == 0 {
		fmt.Fprint(page, "None.\n")
		return
	}
	fmt.Fprint(page, "| field | type | | meaning |\n|---|---|---|---|\n")
	for _, required := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
			if slices.Contains(object.Required, name) != required {
				continue
			}
			must := map[bool]string{true: "always"}[required]
			property := object.Properties[name]
			fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", name, typeText(property), must, cell(property.Description))
		}
	}
}

// typeText says in words what a value is.
func typeText(s *openapi.Schema) string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(strings.ReplaceAll(name, ".", "")))
	}
	if len(s.Enum) > 0 {
		var texts []string
		for _, value := range s.Enum {
			if value == nil {
				value = "null"
			}
			texts = append(texts, fmt.Sprint(value))
		}
		return code(texts)
	}
	if len(s.OneOf) > 0 {
		return join(s.OneOf)
	}
	switch kind := s.Type.(type) {
	case []string:
		texts := make([]string, len(kind))
		for i, k := range kind {
			copied := *s
			copied.Type = k
			texts[i] = typeText(&copied)
		}
		return strings.Join(texts, " or ")
	case string:
		return kindText(kind, s)
	default:
		return "any JSON"
	}
}

func kindText(kind string, s *openapi.Schema) string {
	switch kind {
	case "string":
		if s.Format == "date-time" {
			return "time, RFC 3339"
		}
		return "text"
	case "integer":
		return "whole number"
	case "array":
		return "list of " + typeText(s.Items)
	case "object":
		if values, ok := s.AdditionalProperties.(*openapi.Schema); ok {
			return "object of " + typeText(values)
		}
		if len(s.Properties) > 0 {
			return "`{" + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ") + "}`"
		}
		return "object"
	default:
		return kind
	}
}

func join(several []*openapi.Schema) string {
	texts := make([]string, len(several))
	for i, s := range several {
		texts[i] = typeText(s)
	}
	return strings.Join(texts, " or ")
}
