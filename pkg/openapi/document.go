package openapi

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/run"
)

// Document is an OpenAPI document, ready to be encoded as JSON.
type Document struct {
	OpenAPI    string                           `json:"openapi"`
	Info       Info                             `json:"info"`
	Paths      map[string]map[string]*Operation `json:"paths"`
	Components Components                       `json:"components"`
}

// Info says what is described.
type Info struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

// Operation is one method at one path.
type Operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Security    []map[string][]string `json:"security,omitempty"`
	Parameters  []Parameter           `json:"parameters,omitempty"`
	RequestBody *Body                 `json:"requestBody,omitempty"`
	Responses   map[string]*Body      `json:"responses"`
}

// Parameter stands in the query, the path or a header.
type Parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *Schema `json:"schema"`
}

// Body is a request's or a response's, by media type.
type Body struct {
	Description string           `json:"description,omitempty"`
	Required    bool             `json:"required,omitempty"`
	Content     map[string]Media `json:"content,omitempty"`
}

// Media is the form of a body.
type Media struct {
	Schema *Schema `json:"schema"`
}

// Components are what operations refer to.
type Components struct {
	Schemas         map[string]*Schema           `json:"schemas"`
	SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
}

// ProblemDetails is the body of every refusal, RFC 9457.
type ProblemDetails struct {
	Status int             `json:"status"`
	Kind   string          `json:"kind"`
	Detail string          `json:"detail"`
	Errors []fault.Problem `json:"errors,omitempty"`
}

const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
	bearer       = "bearer"
)

// New describes functions and hooks.
func New(functions []function.Function, version string, describe Describe) *Document {
	if describe == nil {
		describe = undescribed
	}
	d := &Document{
		OpenAPI: "3.1.0",
		Info: Info{
			Title:       "runhook",
			Description: "Small functions on a cluster of Argo Workflows, Kueue and BuildKit.",
			Version:     version,
		},
		Paths: map[string]map[string]*Operation{},
	}
	s := &schemas{describe: describe, components: map[string]*Schema{}, of: map[string]used{}}
	for _, f := range functions {
		d.Paths["/functions/"+f.Name] = s.function(f)
	}
	d.Paths["/hooks/{path}"] = s.hooks()
	for _, open := range []string{"healthz", "readyz"} {
		d.Paths["/"+open] = map[string]*Operation{"get": {OperationID: open, Summary: "answers 200 as long as it is so", Responses: map[string]*Body{
			"200": {Description: "It is."}, "default": {Description: "It is not."},
		}}}
	}
	d.Components = Components{
		Schemas:         s.components,
		SecuritySchemes: map[string]map[string]string{bearer: {"type": "http", "scheme": bearer}},
	}
	return d
}

// function describes the methods that a function answers to.
func (s *schemas) function(f function.Function) map[string]*Operation {
	requested, given := reflect.TypeOf(f.Request), reflect.TypeOf(f.Response)
	content := map[string]Media{mediaJSON: {s.object(given, false)}}
	responses := map[string]*Body{
		"2XX":     {Description: "The answer.", Content: content},
		"default": {Description: "Why it was refused.", Content: map[string]Media{mediaProblem: {s.component(reflect.TypeFor[ProblemDetails](), false)}}},
	}
	if given == reflect.TypeFor[hook.Answer]() {
		// It tells of several calls, of which some may have been refused.
		responses["default"].Content[mediaJSON] = content[mediaJSON]
	}
	post := &Operation{
		OperationID: f.Name, Summary: f.Summary, Responses: responses,
		Security:    []map[string][]string{{bearer: {}}},
		RequestBody: &Body{Required: true, Content: map[string]Media{mediaJSON: {s.object(requested, true)}}},
	}
	if requested == reflect.TypeFor[run.Run]() {
		post.Parameters = []Parameter{
			{Name: "dryRun", In: "query", Description: "The API server's dry run: creates nothing.", Schema: &Schema{Type: "boolean"}},
			{Name: "Idempotency-Key", In: "header", Description: "Equal keys lead to one run; default: the hash of the request.", Schema: &Schema{Type: "string"}},
		}
	}
	methods := map[string]*Operation{strings.ToLower(http.MethodPost): post}
	if f.Reads {
		get := *post
		get.OperationID, get.RequestBody, get.Parameters = f.Name+"-get", nil, s.query(requested)
		methods[strings.ToLower(http.MethodGet)] = &get
	}
	return methods
}

// query is a request as parameters of a GET.
func (s *schemas) query(requested reflect.Type) []Parameter {
	var parameters []Parameter
	for _, f := range Fields(requested) {
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		parameters = append(parameters, Parameter{
			Name: f.Name, In: "query", Required: !f.Optional, Description: s.describe(f), Schema: s.schema(t, true),
		})
	}
	return parameters
}

// hooks describes where other systems deliver.
func (s *schemas) hooks() map[string]*Operation {
	answer := map[string]Media{mediaJSON: {s.object(reflect.TypeFor[hook.Answer](), false)}}
	problem := Media{s.component(reflect.TypeFor[ProblemDetails](), false)}
	return map[string]*Operation{"post": {
		OperationID: "deliver", Summary: "takes a delivery of another system, proven as its provider does",
		Parameters:  []Parameter{{Name: "path", In: "path", Required: true, Schema: &Schema{Type: "string"}}},
		RequestBody: &Body{Required: true, Content: map[string]Media{mediaJSON: {&Schema{}}, "application/x-www-form-urlencoded": {&Schema{}}}},
		Responses: map[string]*Body{
			"2XX":     {Description: "202: a function was called; 200: none was.", Content: answer},
			"default": {Description: "Why it was refused, or which function refused.", Content: map[string]Media{mediaProblem: problem, mediaJSON: answer[mediaJSON]}},
		},
	}}
}
