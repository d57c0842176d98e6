//go:build cluster

package clustertest

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

// argoEvents is what one test restarts and the others go through.
const argoEvents = "argo-events"

// parts are what a push goes through, and who looks after it.
var parts = []struct {
	name    string
	restart func(s *site)
}{
	{"the EventSource", func(s *site) { s.killPods("eventsource-name=runhook-gitlab") }},
	{"the Sensor", func(s *site) { s.killPods("sensor-name=runhook-push-gitlab") }},
	{"the controller of both", func(s *site) { s.killPods("app=controller-manager") }},
	{"the bus", func(s *site) {
		must(s, s.process("nats").Kill())
		if out, err := exec.Command(filepath.Join(root, "bin/localcluster"), "up").CombinedOutput(); err != nil {
			s.Errorf("localcluster up: %v: %s", err, out)
		}
	}},
}

// killPods takes pods of Argo Events away at once, as a crash does.
func (s *site) killPods(selector string) {
	s.Helper()
	pods := s.kube.CoreV1().Pods(events)
	list, err := pods.List(s.Context(), metav1.ListOptions{LabelSelector: selector})
	must(s, err)
	if len(list.Items) == 0 {
		s.Fatalf("there is no pod with %s", selector)
	}
	for _, pod := range list.Items {
		must(s, pods.Delete(s.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	}
}

// TestAPushOutlivesTheRestartOfEachPart hands a push over after each restart,
// once: what the EventSource has taken arrives.
func TestAPushOutlivesTheRestartOfEachPart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.alone(argoEvents)
	c := chains[1]
	s.subscribed(c.sensor)
	for _, part := range parts {
		t.Log("restart of " + part.name)
		part.restart(s)
		sha := hooktest.RandomHex(20)
		body, err := json.Marshal(c.body(sha))
		must(s, err)
		s.emit(c.source, "/push", c.header(s, body), body)
		s.arrived(sha)
	}
}

var sensors = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "sensors"}

// TestASensorTriesAgainWhileRunhookIsAway has a copy of a Sensor call a service
// of its own, behind which nothing is at first.
func TestASensorTriesAgainWhileRunhookIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.beside(argoEvents)
	name := unique(t)
	services := s.kube.CoreV1().Services("runhook-system")
	service, err := services.Create(s.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app.kubernetes.io/name": "nobody"}, Ports: []corev1.ServicePort{{Port: 8080}}},
	}, metav1.CreateOptions{})
	must(s, err)
	s.Cleanup(func() { must(s, services.Delete(context.Background(), name, metav1.DeleteOptions{})) })
	s.copySensor("runhook-state", name, "runhook.runhook-system", name+".runhook-system", "^train-", "^"+name)
	s.subscribed(name)

	id := hooktest.RandomHex(16)
	s.emit("runhook-state", "/state", headers("Authorization", "Bearer "+s.secret("state-token"), "Ce-Id", id, "Ce-Type", "runhook.run.succeeded.v1", "Ce-Subject", name), []byte("{}"))
	s.eventually("the Sensor has tried in vain", func() error {
		pod, err := s.eventsPod("sensor-name=" + name)
		if err != nil {
			return err
		}
		_, err = s.logged(pod, "Failed to execute a trigger")
		return err
	})
	service.Spec.Selector = map[string]string{"app.kubernetes.io/name": "runhook"}
	_, err = services.Update(s.Context(), service, metav1.UpdateOptions{})
	must(s, err)
	run := "evaluate-" + id[:16]
	s.eventually("the Sensor has tried again", func() error {
		_, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).Get(s.Context(), run, metav1.GetOptions{})
		return err
	})
	s.deleteAtEnd(run)
}

// copySensor makes a Sensor like another one, with other texts in it, until the
// end of the test.
func (s *site) copySensor(from, to string, texts ...string) {
	s.Helper()
	client, err := dynamic.NewForConfig(s.config)
	must(s, err)
	all := client.Resource(sensors).Namespace(events)
	original, err := all.Get(s.Context(), from, metav1.GetOptions{})
	must(s, err)
	spec, err := json.Marshal(original.Object["spec"])
	must(s, err)
	changed := strings.NewReplacer(texts...).Replace(string(spec))
	if changed == string(spec) {
		s.Fatalf("the Sensor %s has nothing of %q", from, texts)
	}
	made := &unstructured.Unstructured{}
	must(s, made.UnmarshalJSON([]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Sensor","metadata":{"name":"`+to+`"},"spec":`+changed+`}`)))
	_, err = all.Create(s.Context(), made, metav1.CreateOptions{})
	must(s, err)
	s.Cleanup(func() { must(s, all.Delete(context.Background(), to, metav1.DeleteOptions{})) })
}
