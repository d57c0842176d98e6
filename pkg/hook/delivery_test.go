package hook_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
)

// Every content type with every encoding.
func TestContentTypesAndEncodings(t *testing.T) {
	push := string(read(t, "push_github.json"))
	form := url.Values{"payload": {push}}.Encode()
	media := map[string]struct {
		body string
		read bool
	}{
		"application/json":                                 {push, true},
		"application/json; charset=utf-8":                  {push, true},
		"APPLICATION/JSON;charset=UTF-8":                   {push, true},
		"application/json; charset":                        {push, true},
		"application/cloudevents+json":                     {push, true},
		"application/x-www-form-urlencoded":                {form, true},
		"application/x-www-form-urlencoded; charset=utf-8": {form, true},
		"text/plain":                {push, false},
		"text/json+x":               {push, false},
		"application/xml":           {push, false},
		"multipart/form-data":       {push, false},
		"application/jsonx":         {push, false},
		"+json":                     {push, false},
		"; charset=utf-8":           {push, false},
		"application/json, text/js": {push, false},
	}
	encodings := map[string]bool{
		"": true, "identity": true, "Identity": true,
		"gzip": false, "br": false, "deflate": false, "zstd": false, "identity, gzip": false, "x": false,
	}
	h := compile(t, "github", route(nil))
	for kind, m := range media {
		for encoding, plain := range encodings {
			t.Run(kind+" "+encoding, func(t *testing.T) {
				d := github(m.body, "Content-Type: "+kind)
				if encoding != "" {
					d.Header.Set("Content-Encoding", encoding)
				}
				out, err := h.Accept(d, noon)
				if !m.read || !plain {
					wantKind(t, err, fault.MediaType)
					return
				}
				wantKind(t, err, "")
				if out.Decisions[0].Call != "submit" {
					t.Errorf("decisions %+v", out.Decisions)
				}
			})
		}
	}
}

func TestCheckHead(t *testing.T) {
	for name, tc := range map[string]struct {
		header http.Header
		want   fault.Kind
	}{
		"no type":            {http.Header{}, fault.MediaType},
		"two types":          {http.Header{"Content-Type": {"application/json", "application/json"}}, fault.MediaType},
		"gzip in the second": {http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity", "gzip"}}, fault.MediaType},
		"empty encoding":     {http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {""}}, ""},
	} {
		t.Run(name, func(t *testing.T) { wantKind(t, hook.CheckHead(tc.header), tc.want) })
	}
}

func TestReadBody(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("12"), failing{})
	for name, tc := range map[string]struct {
		body   io.Reader
		length int64
		want   fault.Kind
	}{
		"the limit":                {strings.NewReader("12345"), 5, ""},
		"the limit, chunked":       {strings.NewReader("12345"), -1, ""},
		"empty":                    {strings.NewReader(""), 0, ""},
		"declared too large":       {failing{}, 6, fault.TooLarge},
		"too large, chunked":       {strings.NewReader("123456"), -1, fault.TooLarge},
		"larger than was declared": {strings.NewReader("123456"), 5, fault.TooLarge},
		"broken off":               {broken, 5, fault.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := hook.ReadBody(tc.body, tc.length, 5)
			wantKind(t, err, tc.want)
			if err == nil && tc.length > 0 && int64(len(body)) != tc.length {
				t.Errorf("read %d bytes of %d", len(body), tc.length)
			}
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// Whatever is signed is no payload unless it is one JSON object.
func TestSignedBodies(t *testing.T) {
	push := func(rest string) string { return `{"ref":"refs/heads/main","after":"2222"` + rest + `}` }
	deep := func(n int) string { return push(`,"x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1)) }
	for name, tc := range map[string]struct {
		body string
		want fault.Kind
	}{
		"list":                   {`[]`, fault.Malformed},
		"null":                   {`null`, fault.Malformed},
		"text":                   {`"push"`, fault.Malformed},
		"number":                 {`1`, fault.Malformed},
		"empty":                  {``, fault.Malformed},
		"words":                  {`hello`, fault.Malformed},
		"NaN":                    {push(`,"x":NaN`), fault.Malformed},
		"cut":                    {`{"ref":`, fault.Malformed},
		"two objects":            {push("") + `{}`, fault.Malformed},
		"trailing bracket":       {push("") + `]`, fault.Malformed},
		"byte order mark":        {"\ufeff" + push(""), fault.Malformed},
		"no ref":                 {`{"after":"2222"}`, fault.Malformed},
		"null ref":               {`{"ref":null}`, fault.Malformed},
		"number as ref":          {`{"ref":5}`, fault.Malformed},
		"object as ref":          {`{"ref":{}}`, fault.Malformed},
		"empty ref":              {`{"ref":""}`, fault.Malformed},
		"ref in another case":    {`{"REF":"refs/heads/main"}`, fault.Malformed},
		"64 levels":              {deep(64), ""},
		"65 levels":              {deep(65), fault.Malformed},
		"a million levels":       {push(`,"x":` + strings.Repeat(`[`, 1_000_000)), fault.Malformed},
		"a million objects":      {push(`,"x":` + strings.Repeat(`{"a":`, 1_000_000)), fault.Malformed},
		"brackets in a text":     {push(`,"x":"` + strings.Repeat(`[\"`, 1000) + `"`), ""},
		"newline after":          {push("") + "\n", ""},
		"lone surrogate":         {push(`,"head_commit":{"message":"\ud83d!"}`), ""},
		"bytes that are no text": {push(`,"x":"` + "\xff\xfe" + `"`), ""},
		"huge number":            {push(`,"x":1e400`), ""},
		"fields of other types":  {`{"ref":"refs/heads/main","after":5,"before":[],"deleted":"yes","forced":1,"commits":{"a":1},"head_commit":"x","repository":[],"sender":7}`, ""},
		"commits of all types":   {push(`,"commits":[null,1,"x",[],{"id":"2222","added":[1,null,"a"],"modified":null,"removed":{}}]`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := compile(t, "github", route(nil)).Accept(github(tc.body), noon)
			wantKind(t, err, tc.want)
		})
	}
}

// Of a key given twice the last counts, for the event as for expressions.
func TestDuplicateKeys(t *testing.T) {
	h := compile(t, "github", route(func(r *hook.RouteSpec) { r.Set = map[string]string{"id": "payload.ref"} }))
	d := decision(t, h, github(`{"ref":"refs/heads/one","ref":"refs/heads/two","after":"22"}`))
	if d.Origin.Ref != "refs/heads/two" || string(d.Request) != `{"id":"refs/heads/two"}` {
		t.Errorf("ref %s, request %s", d.Origin.Ref, d.Request)
	}
}

func TestLongRef(t *testing.T) {
	branch := strings.Repeat("ä/", 5000)
	d := decision(t, compile(t, "github", route(func(r *hook.RouteSpec) { r.Branches = []string{"**/*a*b*", "**"} })),
		github(`{"ref":"refs/heads/`+branch+`","after":"2222","repository":{"full_name":"acme/pump-models"}}`))
	if d.Call != "submit" || d.Origin.Ref != "refs/heads/"+branch {
		t.Fatalf("decision %+v", d)
	}
	if len(d.Origin.RefLabel) > 63 || len(d.Origin.Name) > 63 {
		t.Errorf("label %q, name %q", d.Origin.RefLabel, d.Origin.Name)
	}
}

func TestLargePush(t *testing.T) {
	d := decision(t, compile(t, "github", route(func(r *hook.RouteSpec) { r.Paths = []string{"model/**"} })), github(largePush(1<<20)))
	if d.Call != "submit" {
		t.Errorf("decision %+v", d)
	}
}
