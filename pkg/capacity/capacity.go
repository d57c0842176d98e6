// Package capacity says what a pod requests, what a node has left for a
// planner, and for which run a node is kept. It follows the scheduler's own
// count, and is pure: it reads objects and changes nothing.
package capacity

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Settings are the parts of the config that the count follows.
type Settings struct {
	// Workers selects the worker nodes.
	Workers labels.Selector
	// Reservation is the key of the taint and of the label that keep a node.
	Reservation string
	// RunLabel stands on every pod of a run.
	RunLabel string
	// Executor is what Argo's executor container takes beside each task.
	Executor Amount
}

// Nodes is the answer about every node that a planner may use, by name.
type Nodes struct {
	Nodes []Node `json:"nodes"`
}

// Node is what one node has left.
type Node struct {
	Name string `json:"name"`
	// Cores and MemoryGiB are what a planner may give to runs, whether runs
	// use it now or not: whole numbers, one executor container taken off.
	Cores     int64 `json:"cores"`
	MemoryGiB int64 `json:"memoryGiB"`
	// Free is the same for the scheduler: not rounded, nothing taken off.
	Free Free `json:"free"`
	// ReservedFor is the run that the node is kept for, if it is.
	ReservedFor *string `json:"reservedFor"`
}

// Free is what the pods that are not of runs leave of a node.
type Free struct {
	Cores     float64 `json:"cores"`
	MemoryGiB float64 `json:"memoryGiB"`
}

// IsWorker reports whether a node is one for runs at all.
func (s Settings) IsWorker(node *corev1.Node) bool {
	return s.Workers.Matches(labels.Set(node.Labels))
}

// OfRun reports whether a pod belongs to a run: a planner moves those, so they
// do not count as taken.
func (s Settings) OfRun(pod *corev1.Pod) bool {
	_, ok := pod.Labels[s.RunLabel]
	return ok
}

// Listed reports whether a planner may put runs on a node: a worker, not
// cordoned, and without a taint that keeps pods away other than a reservation.
func (s Settings) Listed(node *corev1.Node) bool {
	if !s.IsWorker(node) || node.Spec.Unschedulable {
		return false
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !s.reserves(taint)
	})
}

// Tally counts the pods of each listed node. It keeps a few numbers a node, so
// that a list of a whole cluster passes through it page by page.
type Tally struct {
	settings Settings
	nodes    map[string]*counted
}

type counted struct {
	allocatable, taken Amount
	reservedFor        *string
}

// NewTally starts a count. Every node comes before the first pod.
func NewTally(settings Settings) *Tally {
	return &Tally{settings, map[string]*counted{}}
}

// AddNode notes a node, if it is listed.
func (t *Tally) AddNode(node *corev1.Node) {
	if !t.settings.Listed(node) {
		return
	}
	entry := &counted{allocatable: AmountOf(node.Status.Allocatable)}
	if run := t.settings.ReservedFor(node); run != "" {
		entry.reservedFor = &run
	}
	t.nodes[node.Name] = entry
}

// AddPod takes a pod's request off its node, unless the pod is of a run, has
// terminated or is bound to no listed node.
func (t *Tally) AddPod(pod *corev1.Pod) {
	node, ok := t.nodes[pod.Spec.NodeName]
	if !ok || Terminated(pod) || t.settings.OfRun(pod) {
		return
	}
	node.taken = node.taken.plus(Request(pod))
}

// Nodes gives the nodes by name with what is left.
func (t *Tally) Nodes() Nodes {
	nodes := make([]Node, 0, len(t.nodes))
	for name, node := range t.nodes {
		free := node.allocatable.minus(node.taken)
		planned := free.minus(t.settings.Executor)
		nodes = append(nodes, Node{
			Name:        name,
			Cores:       planned.MilliCPU / 1000,
			MemoryGiB:   planned.Bytes >> 30,
			Free:        Free{free.Cores(), free.MemoryGiB()},
			ReservedFor: node.reservedFor,
		})
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return Nodes{nodes}
}
