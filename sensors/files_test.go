// Package sensors tests the files of this folder and of eventsources/ with Argo
// Events' own code: one Sensor that does not decode stops all Sensors of the
// controller.
package sensors

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/eventsource"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// bus is what the files are made for; its own validation knows only the older one.
var bus = &v1alpha1.EventBus{Spec: v1alpha1.EventBusSpec{JetStreamExotic: &v1alpha1.JetStreamConfig{URL: "nats://bus:4222"}}}

// files are all objects of both folders, by kind and name.
type files struct {
	sources  map[string]*v1alpha1.EventSource
	sensors  map[string]*v1alpha1.Sensor
	accounts map[string]bool
}

func read(t *testing.T) files {
	t.Helper()
	f := files{map[string]*v1alpha1.EventSource{}, map[string]*v1alpha1.Sensor{}, map[string]bool{}}
	for _, folder := range []string{".", "../eventsources"} {
		paths, err := filepath.Glob(folder + "/*.yaml")
		if err != nil || len(paths) < 2 {
			t.Fatalf("%s: %d files, %v", folder, len(paths), err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) == "kustomization.yaml" {
				listed(t, path, content, paths)
				continue
			}
			f.decode(t, path, content)
		}
	}
	return f
}

// listed sees to it that a kustomization names every file beside it.
func listed(t *testing.T, path string, content []byte, beside []string) {
	t.Helper()
	var k struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources"`
	}
	if err := yaml.UnmarshalStrict(content, &k); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	for _, other := range beside {
		if name := filepath.Base(other); name != "kustomization.yaml" && !slices.Contains(k.Resources, name) {
			t.Errorf("%s does not name %s", path, name)
		}
	}
}

func (f files) decode(t *testing.T, path string, content []byte) {
	t.Helper()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch kind.Kind {
		case "EventSource":
			source := strict[v1alpha1.EventSource](t, path, document)
			f.sources[source.Name] = source
		case "Sensor":
			s := strict[v1alpha1.Sensor](t, path, document)
			f.sensors[s.Name] = s
		case "ServiceAccount":
			f.accounts[strict[corev1.ServiceAccount](t, path, document).Name] = true
		case "Role":
			for _, rule := range strict[rbacv1.Role](t, path, document).Rules {
				for _, verb := range rule.Verbs {
					if verb != "list" && verb != "watch" {
						t.Errorf("%s: a Role allows to %s %v", path, verb, rule.Resources)
					}
				}
			}
		case "RoleBinding":
			strict[rbacv1.RoleBinding](t, path, document)
		default:
			t.Errorf("%s holds a %s, which nothing here checks", path, kind.Kind)
		}
	}
}

// strict decodes a document, and refuses fields that the type does not have.
func strict[T any](t *testing.T, path string, document []byte) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return object
}

func TestEveryEventSourceIsValid(t *testing.T) {
	f := read(t)
	for name, source := range f.sources {
		if err := eventsource.ValidateEventSource(source); err != nil {
			t.Errorf("EventSource %s: %v", name, err)
		}
		if source.Namespace != "argo-events" || !f.accounts[source.Spec.Template.ServiceAccountName] {
			t.Errorf("EventSource %s is in namespace %q with account %q", name, source.Namespace, source.Spec.Template.ServiceAccountName)
		}
	}
}

func TestEverySensorIsValid(t *testing.T) {
	f := read(t)
	for name, s := range f.sensors {
		if err := sensor.ValidateSensor(s, bus); err != nil {
			t.Errorf("Sensor %s: %v", name, err)
		}
		if s.Namespace != "argo-events" || !f.accounts[s.Spec.Template.ServiceAccountName] {
			t.Errorf("Sensor %s is in namespace %q with account %q", name, s.Namespace, s.Spec.Template.ServiceAccountName)
		}
	}
}

// A file that the decoding would let pass must not: the test itself is tried.
func TestWhatIsNotOfTheTypeIsRefused(t *testing.T) {
	for name, document := range map[string]string{
		"an unknown field": "spec: {triggers: [{retry: {}}]}",
		"a key twice":      "spec: {replicas: 1, replicas: 2}",
		"a text for steps": "spec: {triggers: [{retryStrategy: {steps: '3'}}]}",
	} {
		if err := yaml.UnmarshalStrict([]byte(document), &v1alpha1.Sensor{}); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// eventNames gives what each EventSource emits.
func eventNames(source *v1alpha1.EventSource) map[string]bool {
	names := map[string]bool{}
	for name := range source.Spec.Webhook {
		names[name] = true
	}
	for name := range source.Spec.Github {
		names[name] = true
	}
	for name := range source.Spec.Gitlab {
		names[name] = true
	}
	for name := range source.Spec.BitbucketServer {
		names[name] = true
	}
	for name := range source.Spec.Resource {
		names[name] = true
	}
	return names
}

// Argo Events does not check that there is what a Sensor waits for, and a
// service takes the port that its EventSource listens on.
func TestEverythingIsConnected(t *testing.T) {
	f := read(t)
	used := map[string]bool{}
	for name, s := range f.sensors {
		for _, d := range s.Spec.Dependencies {
			source := f.sources[d.EventSourceName]
			if source == nil || !eventNames(source)[d.EventName] {
				t.Errorf("Sensor %s waits for %s of EventSource %s, which there is not", name, d.EventName, d.EventSourceName)
			}
			used[d.EventSourceName+" "+d.EventName] = true
		}
	}
	for name, source := range f.sources {
		for event := range eventNames(source) {
			if !used[name+" "+event] {
				t.Errorf("no Sensor takes %s of EventSource %s", event, name)
			}
		}
		for _, context := range contexts(source) {
			if context.Port != "12000" || len(source.Spec.Service.Ports) != 1 || source.Spec.Service.Ports[0].TargetPort.IntValue() != 12000 {
				t.Errorf("EventSource %s listens on %s, its service leads to %v", name, context.Port, source.Spec.Service.Ports)
			}
		}
	}
}

func contexts(source *v1alpha1.EventSource) []*v1alpha1.WebhookContext {
	var all []*v1alpha1.WebhookContext
	for _, w := range source.Spec.Webhook {
		all = append(all, &w.WebhookContext)
	}
	for _, g := range source.Spec.Github {
		all = append(all, g.Webhook)
	}
	for _, g := range source.Spec.Gitlab {
		all = append(all, g.Webhook)
	}
	for _, b := range source.Spec.BitbucketServer {
		all = append(all, b.Webhook)
	}
	return all
}
