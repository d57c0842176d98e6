package placements

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/capacity"
)

// nodeAnnotation is Argo's name of the node that a pod is an attempt of.
const nodeAnnotation = "workflows.argoproj.io/node-name"

// Placement is one pod of a run.
type Placement struct {
	Run string `json:"run"`
	// Task is the task's id; that of a merge or a helper is its own.
	Task string `json:"task"`
	// Worker is null for what is no worker of a split task.
	Worker  *int   `json:"worker"`
	Attempt int    `json:"attempt"` // as the program sees it in RUNHOOK_ATTEMPT
	Pod     string `json:"pod"`
	// Node is empty as long as the pod is bound to none.
	Node      string  `json:"node"`
	Phase     string  `json:"phase"`     // as Kubernetes has it
	Cores     float64 `json:"cores"`     // requested
	MemoryGiB float64 `json:"memoryGiB"` // requested
}

func placementOf(pod *corev1.Pod, runLabel string) Placement {
	request := capacity.Request(pod)
	placement := Placement{
		Run:       pod.Labels[runLabel],
		Task:      pod.Labels[argo.TaskLabel],
		Attempt:   attemptOf(pod.Annotations[nodeAnnotation]),
		Pod:       pod.Name,
		Node:      pod.Spec.NodeName,
		Phase:     string(pod.Status.Phase),
		Cores:     request.Cores(),
		MemoryGiB: request.MemoryGiB(),
	}
	if worker := pod.Labels[argo.WorkerLabel]; worker != "" {
		if number, err := strconv.Atoi(worker); err == nil {
			placement.Worker = &number
		} else {
			placement.Task += "-" + worker
		}
	}
	return placement
}

// attemptOf reads the number that Argo appends to the name of a retried node,
// as in `pump.fit.fit-0(2)`; a node that is not retried has one attempt, 0.
func attemptOf(nodeName string) int {
	open := strings.LastIndexByte(nodeName, '(')
	if open < 0 {
		return 0
	}
	attempt, err := strconv.Atoi(strings.TrimSuffix(nodeName[open+1:], ")"))
	if err != nil || attempt < 0 {
		return 0
	}
	return attempt
}

func sorted(placements []Placement) []Placement {
	slices.SortFunc(placements, func(a, b Placement) int {
		return cmp.Or(strings.Compare(a.Run, b.Run), strings.Compare(a.Pod, b.Pod))
	})
	return placements
}
