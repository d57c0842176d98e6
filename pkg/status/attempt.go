package status

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// Attempt is one pod of a task or worker that ended.
type Attempt struct {
	Attempt     int         `json:"attempt"` // as the program saw it in RUNHOOK_ATTEMPT
	Phase       Phase       `json:"phase"`
	Cause       cause.Cause `json:"cause"`       // why it ended; null: it succeeded and nobody interrupted it
	Reason      string      `json:"reason"`      // as Kueue or Kubernetes calls it
	ExitCode    *int        `json:"exitCode"`    // of the main container
	OOM         bool        `json:"oom"`         // the main container went over its memory
	Interrupted bool        `json:"interrupted"` // somebody ended it from outside, whatever its end reads
	Restarted   bool        `json:"restarted"`   // Argo replaced its pod without a word
	Message     string      `json:"message"`     // what Argo says of it
	Pod         string      `json:"pod"`         // its name
	Host        string      `json:"host"`        // the Kubernetes node where it ran
	Started     *time.Time  `json:"started"`
	Ended       *time.Time  `json:"ended"`

	// Task is the task's name relative to the Workflow, Key the name under
	// which Status lists the attempt, Node the pod node's display name.
	Task string `json:"-"`
	Key  string `json:"-"`
	Node string `json:"-"`
	// NodeID is Argo's; UID is the pod's, empty when it was never seen.
	NodeID string `json:"-"`
	UID    string `json:"-"`
}

// FalseSuccess reports whether the program was interrupted and gave exit code
// 0, so that Argo takes an unfinished task for a finished one.
func (a Attempt) FalseSuccess() bool { return a.Interrupted && a.Phase == Succeeded }

// Attempts gives every attempt of a Workflow that has ended, by node, then by
// start. The pods may show several moments, oldest first.
func Attempts(w *Workflow, pods []corev1.Pod) []Attempt {
	return newTree(w, look(w, pods)).endedAttempts(func(*Node) bool { return true })
}

// failed reports whether the end of a node may be a failure or an interruption.
func (t *tree) failed(n *Node) bool {
	return n.Phase != "Succeeded" || len(t.seen.last(n.ID).Conditions) > 0
}

// endedAttempts gives the attempts that have ended of the nodes that are asked
// for; the replaced pods of any node are failures.
func (t *tree) endedAttempts(asked func(*Node) bool) []Attempt {
	var all []Attempt
	keys := t.keys()
	numbers := t.numbers()
	for id, n := range t.Status.Nodes {
		if n.Type != typePod {
			continue
		}
		replaced := t.seen.replaced(id)
		ended := argoEnded(n.Phase) && asked(n)
		if !ended && len(replaced) == 0 {
			continue
		}
		base := Attempt{
			Attempt: numbers[id], Pod: podName(t.Workflow, n), Task: t.tasksOf[id], Key: keys[t.tasksOf[id]],
			Node: cmp.Or(n.DisplayName, n.Name), NodeID: id,
		}
		started := n.StartedAt
		for _, old := range replaced {
			all = append(all, restarted(base, old))
		}
		last := t.seen.last(id)
		if len(replaced) > 0 {
			started = last.Created // Argo keeps the first pod's
		}
		if ended {
			all = append(all, t.ended(base, n, last, started))
		}
	}
	slices.SortFunc(all, func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Task, b.Task), compareTimes(a.Started, b.Started), cmp.Compare(a.UID, b.UID))
	})
	return all
}

// numbers are those of the children of Retry nodes, by their ids.
func (t *tree) numbers() map[string]int {
	numbers := map[string]int{}
	for id, attempts := range t.attempts {
		for _, child := range attempts {
			numbers[child.ID] = attemptNumber(t.Status.Nodes[id], child)
		}
	}
	return numbers
}

// ended is the attempt whose end Argo's node tells.
func (t *tree) ended(a Attempt, n *Node, seen cause.Entry, started time.Time) Attempt {
	a = a.with(t.verdict(n))
	a.Phase, a.Message, a.UID = t.phase(n), n.Message, seen.UID
	a.Host = cmp.Or(n.Host, seen.Host)
	a.Pod = cmp.Or(seen.Pod, a.Pod)
	a.Started, a.Ended = moment(started), moment(n.FinishedAt)
	return a
}

// restarted is the attempt of a pod that was silently replaced.
func restarted(a Attempt, seen cause.Entry) Attempt {
	a = a.with(cause.Of(cause.End{Replaced: true}, seen))
	a.Phase, a.Restarted, a.UID, a.Host = Failed, true, seen.UID, seen.Host
	a.Pod = cmp.Or(seen.Pod, a.Pod)
	a.Message = "replaced by a pod of the same name"
	a.Started, a.Ended = moment(seen.Created), moment(seen.Deleted)
	if seen.Main != nil {
		a.Ended = moment(seen.Main.Finished)
	}
	return a
}

func (a Attempt) with(v cause.Verdict) Attempt {
	a.Cause, a.Reason, a.ExitCode, a.OOM, a.Interrupted = v.Cause, v.Reason, v.ExitCode, v.OOM, v.Interrupted
	return a
}

// keys are the names under which attempts are listed, by task: the id of a
// task, worker or merge, which are unique in a run of ours. Where two tasks of
// another's Workflow share one, each keeps its full name.
func (t *tree) keys() map[string]string {
	count := map[string]int{}
	for _, n := range t.tasks {
		count[n.DisplayName]++
	}
	keys := make(map[string]string, len(t.tasks))
	for name, n := range t.tasks {
		keys[name] = n.DisplayName
		if n.DisplayName == "" || count[n.DisplayName] > 1 {
			keys[name] = name
		}
	}
	return keys
}

// moment gives nil for a time that is not known.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func compareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}
