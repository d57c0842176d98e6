package capacity

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A large cluster, as the API server hands it out: pages of 500 in protobuf.
const (
	benchNodes = 5_000
	benchPods  = 100_000
	benchPage  = 500
)

// BenchmarkNodes answers for a whole cluster; "decode" is the floor: the same
// bytes into the same types, and nothing done with them.
func BenchmarkNodes(b *testing.B) {
	nodePages, podPages := pagesOfNodes(b), pagesOfPods(b)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			walk(b, nodePages, podPages, func(*corev1.Node) {}, func(*corev1.Pod) {})
		}
	})
	b.Run("nodes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tally := NewTally(settings(Amount{10, 64 << 20}))
			walk(b, nodePages, podPages, tally.AddNode, tally.AddPod)
			if got := len(tally.Nodes().Nodes); got != benchNodes {
				b.Fatalf("%d nodes", got)
			}
		}
	})
}

// walk decodes page by page, and reports the most memory that was in use
// beyond the encoded pages.
func walk(b *testing.B, nodePages, podPages [][]byte, node func(*corev1.Node), pod func(*corev1.Pod)) {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	sample := func() {
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse-min(before.HeapInuse, now.HeapInuse))
	}
	for _, page := range nodePages {
		var list corev1.NodeList
		if err := list.Unmarshal(page); err != nil {
			b.Fatal(err)
		}
		for i := range list.Items {
			node(&list.Items[i])
		}
		sample()
	}
	for i := range benchPods / benchPage {
		var list corev1.PodList
		if err := list.Unmarshal(podPages[i%len(podPages)]); err != nil {
			b.Fatal(err)
		}
		for i := range list.Items {
			pod(&list.Items[i])
		}
		sample()
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
}

func pagesOfNodes(b *testing.B) [][]byte {
	var pages [][]byte
	for from := 0; from < benchNodes; from += benchPage {
		list := corev1.NodeList{}
		for i := from; i < from+benchPage; i++ {
			list.Items = append(list.Items, corev1.Node{
				ObjectMeta: metav1.ObjectMeta{
					Name: nodeName(i), UID: "0f7f5d2e-7b39-4d7c-9c6f-000000000000",
					Labels:        map[string]string{"simrun/worker": "true", "kubernetes.io/hostname": nodeName(i), "topology.kubernetes.io/zone": "a"},
					Annotations:   map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
					ManagedFields: managedFields(),
				},
				Status: corev1.NodeStatus{
					Allocatable: quantities("64", "256Gi"), Capacity: quantities("64", "256Gi"),
					Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}},
					Images:     []corev1.ContainerImage{{Names: []string{"registry.example/acme/pump@sha256:" + hash, "registry.example/acme/pump:v1"}, SizeBytes: 1 << 28}},
				},
			})
		}
		pages = append(pages, encoded(b, &list))
	}
	return pages
}

// pagesOfPods gives pages that touch every node; they are walked several times.
func pagesOfPods(b *testing.B) [][]byte {
	var pages [][]byte
	for from := 0; from < benchNodes; from += benchPage {
		list := corev1.PodList{}
		for i := from; i < from+benchPage; i++ {
			list.Items = append(list.Items, podOnNode(i))
		}
		pages = append(pages, encoded(b, &list))
	}
	return pages
}

func podOnNode(i int) corev1.Pod {
	request := quantities("100m", "128Mi")
	status := corev1.ContainerStatus{
		Name: "app", Ready: true, Image: "registry.example/acme/pump:v1", ImageID: "registry.example/acme/pump@sha256:" + hash, ContainerID: "containerd://" + hash,
		State:              corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		AllocatedResources: request, Resources: &corev1.ResourceRequirements{Requests: request},
	}
	proxy := status
	proxy.Name = "proxy"
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "registry.example/acme/pump:v1", Command: []string{"/bin/app", "--serve"},
			Env:            []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}, {Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
			Resources:      corev1.ResourceRequirements{Requests: request, Limits: request},
			VolumeMounts:   []corev1.VolumeMount{{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}},
		}
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("app-5d9c7b8f6d-%d", i), Namespace: "apps", UID: "0f7f5d2e-7b39-4d7c-9c6f-000000000000",
			Labels:        map[string]string{"app": "pump", "pod-template-hash": "5d9c7b8f6d"},
			ManagedFields: managedFields(),
		},
		Spec: corev1.PodSpec{
			NodeName: nodeName(i), Containers: []corev1.Container{container("app"), container("proxy")},
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
			Volumes:     []corev1.Volume{{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{status, proxy},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodInitialized, Status: corev1.ConditionTrue}},
		},
	}
}

const hash = "3f816b6e64c9bea205b4be334b087f0b09b6a9934cca5457077a1dcd2cb1c11c"

func nodeName(i int) string { return fmt.Sprintf("worker-%04d", i) }

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// managedFields are about half of an object of a real cluster.
func managedFields() []metav1.ManagedFieldsEntry {
	now := metav1.Now()
	return []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &now, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: make([]byte, 1500)}}}
}

func encoded(b *testing.B, list interface{ Marshal() ([]byte, error) }) []byte {
	page, err := list.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	return page
}
