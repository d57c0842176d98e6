package status

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// Causes is the answer of `cause`: why every ended attempt of a run ended.
type Causes struct {
	Run      string         `json:"run"`
	Attempts []EndedBecause `json:"attempts"`
}

// EndedBecause is one attempt of that answer.
type EndedBecause struct {
	Node        string      `json:"node"` // Argo's display name of the pod node
	Task        string      `json:"task"`
	Attempt     int         `json:"attempt"`
	Phase       Phase       `json:"phase"`
	Cause       cause.Cause `json:"cause"`
	Reason      string      `json:"reason"`
	ExitCode    *int        `json:"exitCode"`
	Interrupted bool        `json:"interrupted"`
	Restarted   bool        `json:"restarted"`
	Pod         string      `json:"pod"`
	Host        string      `json:"host"`
}

// CausesOf says why every ended attempt of a Workflow ended, by node, then by
// start. The pods may show several moments, oldest first.
func CausesOf(w *Workflow, pods ...[]corev1.Pod) Causes {
	answer := Causes{Run: w.Metadata.Name, Attempts: []EndedBecause{}}
	for _, a := range Attempts(w, slices.Concat(pods...)) {
		answer.Attempts = append(answer.Attempts, EndedBecause{
			Node: a.Node, Task: a.Task, Attempt: a.Attempt, Phase: a.Phase, Cause: a.Cause, Reason: a.Reason,
			ExitCode: a.ExitCode, Interrupted: a.Interrupted, Restarted: a.Restarted, Pod: a.Pod, Host: a.Host,
		})
	}
	return answer
}
