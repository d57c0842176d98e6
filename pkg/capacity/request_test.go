package capacity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// podOf reads what a case says of a pod.
func podOf(t testing.TB, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

const (
	app     = `{name: app, resources: {requests: {cpu: 500m, memory: 256Mi}}}`
	sidecar = `{name: proxy, restartPolicy: Always, resources: {requests: {cpu: 200m, memory: 128Mi}}}`
	plain   = `{name: init, resources: {requests: {cpu: "1", memory: 64Mi}}}`
)

func TestRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  string
		want Amount
	}{
		"containers together": {
			`spec: {containers: [` + app + `, {name: b, resources: {requests: {cpu: 50m}}}]}`,
			Amount{550, 256 << 20},
		},
		"an init container alone, when larger": {
			`spec: {containers: [` + app + `], initContainers: [` + plain + `]}`,
			Amount{1000, 256 << 20},
		},
		"a sidecar before the init container, and overhead": {
			`spec: {containers: [` + app + `], initContainers: [` + sidecar + `, ` + plain + `], overhead: {cpu: 100m, memory: 32Mi}}`,
			Amount{1300, (256 + 128 + 32) << 20},
		},
		"a sidecar after the init container, and overhead": {
			`spec: {containers: [` + app + `], initContainers: [` + plain + `, ` + sidecar + `], overhead: {cpu: 100m, memory: 32Mi}}`,
			Amount{1100, (256 + 128 + 32) << 20},
		},
		"a limit without a request": {
			`spec: {containers: [{name: app, resources: {limits: {cpu: "2", memory: 1Gi}}}]}`,
			Amount{2000, 1 << 30},
		},
		"a limit beside a request": {
			`spec: {containers: [{name: app, resources: {limits: {cpu: "2", memory: 1Gi}, requests: {cpu: 100m}}}]}`,
			Amount{100, 1 << 30},
		},
		"the limit of an init container": {
			`spec: {containers: [` + app + `], initContainers: [{name: init, resources: {limits: {cpu: "3"}}}]}`,
			Amount{3000, 256 << 20},
		},
		"requests of the pod": {
			`spec: {resources: {requests: {cpu: "4", memory: 2Gi}}, containers: [` + app + `], overhead: {cpu: 100m}}`,
			Amount{4100, 2 << 30},
		},
		"limits of the pod, where no container asks": {
			`spec: {resources: {limits: {cpu: "4", memory: 2Gi}}, containers: [{name: app}]}`,
			Amount{4000, 2 << 30},
		},
		"limits of the pod, where a container asks": {
			`spec: {resources: {limits: {cpu: "4", memory: 2Gi}}, containers: [{name: app, resources: {requests: {cpu: 500m}}}]}`,
			Amount{500, 2 << 30},
		},
		"nothing asked": {`spec: {containers: [{name: app}]}`, Amount{}},
		"grown in place: what is allocated": {
			`{spec: {containers: [` + app + `]}, status: {containerStatuses: [{name: app, image: "", imageID: "", lastState: {}, ready: true, restartCount: 0, allocatedResources: {cpu: 700m, memory: 256Mi}, resources: {requests: {cpu: 600m, memory: 256Mi}}}]}}`,
			Amount{700, 256 << 20},
		},
		"shrinking in place: what it still holds": {
			`{spec: {containers: [{name: app, resources: {requests: {cpu: 100m, memory: 64Mi}}}]}, status: {containerStatuses: [{name: app, image: "", imageID: "", lastState: {}, ready: true, restartCount: 0, allocatedResources: {cpu: 100m, memory: 64Mi}, resources: {requests: {cpu: 500m, memory: 256Mi}}}]}}`,
			Amount{500, 256 << 20},
		},
		"a growth the node cannot give": {
			`{spec: {containers: [{name: app, resources: {requests: {cpu: "64", memory: 64Mi}}}]}, status: {conditions: [{type: PodResizePending, status: "True", reason: Infeasible}], containerStatuses: [{name: app, image: "", imageID: "", lastState: {}, ready: true, restartCount: 0, allocatedResources: {cpu: "1", memory: 64Mi}, resources: {requests: {cpu: "1", memory: 64Mi}}}]}}`,
			Amount{1000, 64 << 20},
		},
		"a millicore begun is counted": {
			`spec: {containers: [{name: app, resources: {requests: {cpu: 100100u, memory: 1500m}}}]}`,
			Amount{101, 2},
		},
		"below zero": {
			`spec: {containers: [{name: app, resources: {requests: {cpu: -3, memory: -1Gi}}}]}`,
			Amount{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(t, tc.pod)
			before := pod.DeepCopy()
			if got := Request(pod); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the pod was changed:\n%s", diff)
			}
		})
	}
}

func TestTerminated(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]bool{
		corev1.PodSucceeded: true, corev1.PodFailed: true,
		corev1.PodRunning: false, corev1.PodPending: false, corev1.PodUnknown: false, "": false,
	} {
		if got := Terminated(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}); got != want {
			t.Errorf("%q: got %t", phase, got)
		}
	}
	dying := podOf(t, `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Running}}`)
	if Terminated(dying) {
		t.Error("a pod that is being deleted holds its node until it has ended")
	}
}

func TestAmountsNeitherWrapNorGoBelowZero(t *testing.T) {
	huge := Request(podOf(t, `spec: {containers: [`+strings.TrimSuffix(strings.Repeat(`{name: a, resources: {requests: {cpu: "9000000000000000", memory: "9000000000000000000"}}},`, 3), ",")+`]}`))
	if sum := huge.plus(huge); sum.MilliCPU < huge.MilliCPU || sum.Bytes < huge.Bytes {
		t.Errorf("%+v twice is %+v", huge, sum)
	}
	if left := (Amount{1, 1}).minus(Amount{2, 2}); left != (Amount{}) {
		t.Errorf("left %+v", left)
	}
}
