package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/strict"
)

const (
	eventHead = `"specversion":"1.0","id":"1","source":"/s","type":"t"`
	asEvent   = "Content-Type: application/cloudevents+json"
)

func TestCloudEvents(t *testing.T) {
	s := newSite(t, smallLimits())
	binary := func(skip string) []string {
		var headers []string
		for _, h := range []string{asCI, asJSON, "Ce-Specversion: 1.0", "Ce-Id: 1", "Ce-Source: /s", "Ce-Type: t"} {
			if skip == "" || !strings.HasPrefix(h, skip) {
				headers = append(headers, h)
			}
		}
		return headers
	}
	tests := []struct {
		name, body string
		headers    []string
		code       int
	}{
		{"structured", `{` + eventHead + `,"data":{"run":"a"}}`, []string{asCI, asEvent}, 200},
		{"structured with a data type", `{` + eventHead + `,"datacontenttype":"application/json","data":{"run":"a"}}`, []string{asCI, asEvent}, 200},
		{"structured in base64", `{` + eventHead + `,"data_base64":"eyJydW4iOiJhIn0="}`, []string{asCI, asEvent}, 200},
		{"structured with attributes of others", `{` + eventHead + `,"traceparent":"x","data":{"run":"a"}}`, []string{asCI, asEvent}, 200},
		{"structured with a data schema of another type", `{` + eventHead + `,"datacontenttype":"text/xml","data":"<a/>"}`, []string{asCI, asEvent}, 415},
		{"structured without data", `{` + eventHead + `}`, []string{asCI, asEvent}, 400},
		{"structured without an id", `{"specversion":"1.0","source":"/s","type":"t","data":{"run":"a"}}`, []string{asCI, asEvent}, 422},
		{"structured of an old version", `{"specversion":"0.3","id":"1","source":"/s","type":"t","data":{"run":"a"}}`, []string{asCI, asEvent}, 422},
		{"structured with an unknown key in its data", `{` + eventHead + `,"data":{"rnu":"a"}}`, []string{asCI, asEvent}, 422},
		{"structured with a key twice", `{` + eventHead + `,"id":"2","data":{"run":"a"}}`, []string{asCI, asEvent}, 400},
		{"structured and no JSON", `{`, []string{asCI, asEvent}, 400},
		{"binary", `{"run":"a"}`, binary(""), 200},
		{"binary without an id", `{"run":"a"}`, binary("Ce-Id"), 422},
		{"binary without a source", `{"run":"a"}`, binary("Ce-Source"), 422},
		{"binary of an old version", `{"run":"a"}`, append(binary("Ce-Specversion"), "Ce-Specversion: 0.3"), 422},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := do(t, s.request(t, "POST", "/functions/echo", test.body, test.headers...))
			if got.code != test.code {
				t.Fatalf("%d %s, want %d", got.code, got.body, test.code)
			}
			if test.code == 200 && !strings.Contains(got.body, `"run":"a"`) {
				t.Errorf("the data did not come through: %s", got.body)
			}
		})
	}
}

func FuzzStructured(f *testing.F) {
	for _, seed := range []string{`{` + eventHead + `,"data":{"run":"a"}}`, `{` + eventHead + `,"data_base64":"!"}`, `{"specversion":1}`, `[]`, `{"time":"x"}`} {
		f.Add([]byte(seed))
	}
	header := http.Header{"Content-Type": {"application/cloudevents+json"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := data(header, body)
		switch kind := fault.KindOf(err); kind {
		case "", fault.Malformed, fault.Invalid, fault.MediaType:
		default:
			t.Fatalf("%s: %v", kind, err)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"run=a&tail=5", "tail=-", "tail=+1", "names=a&names=", "ratio=1e999", "%00=%ff", "deep=TRUE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		body, err := queryJSON(query, echoRequest{})
		if err != nil {
			if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.Malformed {
				t.Fatal(err)
			}
			return
		}
		var raw json.RawMessage
		if err := strict.JSON(body, &raw); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
	})
}
