package sensors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	sensordependencies "github.com/argoproj/argo-events/pkg/sensors/dependencies"
	"github.com/argoproj/argo-events/pkg/sensors/triggers"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// TestRequests hands what an EventSource emits, as Argo Events' own types write
// it, to the Sensor's own code. Each file of testdata holds the Sensor's name,
// the trigger's name, the event and the request that runhook gets; none where
// the Sensor has nothing to do.
func TestRequests(t *testing.T) {
	sensors := read(t).sensors
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d cases, %v", len(paths), err)
	}
	tried := map[string]bool{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Sensor, Trigger string
			Event, Request  json.RawMessage
		}
		if err := json.Unmarshal(content, &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		tried[c.Sensor+"/"+c.Trigger] = true
		got := request(t, sensors[c.Sensor], c.Trigger, c.Event)
		if diff := cmp.Diff(decoded(t, c.Request), decoded(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for name, s := range sensors {
		for _, trigger := range s.Spec.Triggers {
			if !tried[name+"/"+trigger.Template.Name] {
				t.Errorf("no case of testdata tries the trigger %s of Sensor %s", trigger.Template.Name, name)
			}
		}
	}
}

// request goes the way of an event through a Sensor: transform, filter, payload.
func request(t *testing.T, s *v1alpha1.Sensor, trigger string, data []byte) []byte {
	t.Helper()
	for _, tr := range s.Spec.Triggers {
		if tr.Template.Name != trigger {
			continue
		}
		for _, d := range s.Spec.Dependencies {
			if d.Name != tr.Template.HTTP.Payload[0].Src.DependencyName {
				continue
			}
			event := cloudevents.NewEvent()
			event.SetID("1")
			if err := event.SetData(cloudevents.ApplicationJSON, data); err != nil {
				t.Fatal(err)
			}
			transformed, err := sensordependencies.ApplyTransform(&event, d.Transform)
			if err != nil {
				t.Fatalf("%s: transform: %v", s.Name, err)
			}
			seen := &v1alpha1.Event{Context: &v1alpha1.EventContext{DataContentType: "application/json"}, Data: transformed.Data()}
			if d.Filters != nil {
				if passes, err := sensordependencies.Filter(seen, d.Filters, d.FiltersLogicalOperator); err != nil {
					t.Fatalf("%s: filter: %v", s.Name, err)
				} else if !passes {
					return nil
				}
			}
			payload, err := triggers.ConstructPayload(map[string]*v1alpha1.Event{d.Name: seen}, tr.Template.HTTP.Payload)
			if err != nil {
				t.Fatalf("%s: payload: %v", s.Name, err)
			}
			return payload
		}
	}
	t.Fatalf("there is no trigger %s", trigger)
	return nil
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// What the headers of a delivery prove must not be found in a Sensor's log.
func TestNoSecretPassesTheTransform(t *testing.T) {
	const secret = "hunter2"
	event := `{"headers":{"X-Gitlab-Token":["` + secret + `"],"X-Hub-Signature-256":["` + secret + `"],"Authorization":["` + secret + `"]},
		"header":{"Authorization":["` + secret + `"]},"body":{"metadata":{}},"type":"UPDATE"}`
	for name, s := range read(t).sensors {
		for _, d := range s.Spec.Dependencies {
			e := cloudevents.NewEvent()
			if err := e.SetData(cloudevents.ApplicationJSON, []byte(event)); err != nil {
				t.Fatal(err)
			}
			transformed, err := sensordependencies.ApplyTransform(&e, d.Transform)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if strings.Contains(string(transformed.Data()), secret) {
				t.Errorf("%s keeps a secret: %s", name, transformed.Data())
			}
		}
	}
}

// The filter of pods is a path of gjson that gives the first of two values.
func TestPodsThatCome(t *testing.T) {
	field := read(t).sources["runhook-pods"].Spec.Resource["ending"].Filter.Fields[0]
	for pod, want := range map[string]string{
		`{"metadata":{},"status":{}}`:                                              "",
		`{"metadata":{}}`:                                                          "",
		`{"status":{"conditions":[{"type":"Ready"}]}}`:                             "",
		`{"metadata":{"deletionTimestamp":"2026-01-01"}}`:                          "2026-01-01",
		`{"status":{"conditions":[{"type":"Ready"},{"type":"DisruptionTarget"}]}}`: "DisruptionTarget",
		`{"metadata":{"deletionTimestamp":"2026-01-01"},"status":{"conditions":[{"type":"TerminationTarget"}]}}`: "2026-01-01",
	} {
		if got := gjson.Get(pod, field.Key); got.Str != want || got.Exists() != (want != "") {
			t.Errorf("%s gives %q", pod, got.Raw)
		}
	}
}
