package cause

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Argo's containers in a pod. Supervisor is the executor's name in the making.
const (
	mainContainer = "main"
	executor      = "wait"
)

var executors = map[string]bool{executor: true, "init": true, "supervisor": true}

// End is what Argo's node says of an attempt that ended.
type End struct {
	Succeeded bool
	Message   string
	ExitCode  *int
	Finished  time.Time
	// Replaced: a pod of the same name with another UID took its place, and
	// Argo's node says nothing of this one.
	Replaced bool
}

// Verdict is why an attempt ended.
type Verdict struct {
	Cause       Cause
	Reason      string // the cluster's own word for it
	ExitCode    *int
	OOM         bool // the main container was killed for memory, whatever the cause
	Interrupted bool // a condition stood on the pod while the program ran
}

// Of decides why an attempt ended, from what Argo says of it and what was seen
// of its pod (the zero Entry: nothing). The first row that matches wins.
func Of(end End, seen Entry) Verdict {
	e := evidenceOf(end, seen)
	v := Verdict{ExitCode: e.code, OOM: e.main.reason == "OOMKilled"}
	standing := e.standing()
	v.Interrupted = len(standing) > 0
	for _, row := range rows {
		if reason, ok := row.match(e, standing); ok {
			v.Cause, v.Reason = row.cause, reason
			return v
		}
	}
	return v
}

// facts is what the rows look at.
type facts struct {
	end  End
	seen Entry
	code *int
	// main is what Argo or the pod says of the failed container.
	main struct{ container, reason string }
	// text is Argo's and the pod's message, empty where it holds text of the
	// program, which may say anything.
	text string
}

// exitMessage is Argo's message about a container that failed; older versions
// name no container. What follows is the program's own text.
var exitMessage = regexp.MustCompile(`^(?:([a-z0-9-]+): )?([A-Za-z]\w*) \(exit code (-?\d+)\)`)

func evidenceOf(end End, seen Entry) facts {
	e := facts{end: end, seen: seen, code: end.ExitCode}
	if m := exitMessage.FindStringSubmatch(end.Message); m != nil {
		e.main.container, e.main.reason = m[1], m[2]
		if code, err := strconv.Atoi(m[3]); err == nil && e.code == nil && !executors[m[1]] {
			e.code = &code
		}
	} else {
		e.text = end.Message
	}
	e.text += "\n" + seen.Message
	if seen.Main != nil {
		if !executors[e.main.container] {
			e.main.reason = seen.Main.Reason
		}
		if e.code == nil {
			e.code = &seen.Main.Code
		}
	}
	if executors[e.main.container] && e.main.reason == "OOMKilled" {
		e.main.reason = "Error" // the executor's memory is not the program's
	}
	return e
}

// standing gives the conditions that stood while the program ran. One that
// came in a later second than the program's end did not end it.
func (e facts) standing() []Condition {
	if e.seen.Main == nil {
		return e.seen.Conditions
	}
	return slices.DeleteFunc(slices.Clone(e.seen.Conditions), func(c Condition) bool { return e.seen.Main.Finished.Before(c.At) })
}

func (e facts) says(parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(e.text, p) })
}

func (e facts) gone() bool {
	return e.end.Replaced || GoneMessage(e.end.Message)
}

// deleted reports whether the deletion was asked for before the program ended.
func (e facts) deleted() bool {
	if e.seen.Main == nil && !e.end.Finished.IsZero() && !e.gone() {
		return !e.seen.Deleted.IsZero() && !e.end.Finished.Before(e.seen.Deleted)
	}
	return e.seen.deletedBeforeEnd()
}

type row struct {
	cause Cause
	match func(facts, []Condition) (reason string, ok bool)
}

// rows is CONTRACT's table of causes.
var rows = []row{
	{Preempted, condition(terminationTarget, is("WorkloadEvictedDueToPreempted"))},
	{Evicted, condition(terminationTarget, func(string) bool { return true })},
	{PreemptedByScheduler, condition(disruptionTarget, is("PreemptionByScheduler"))},
	{Drained, condition(disruptionTarget, is("EvictionByEvictionAPI"))},
	{Taint, condition(disruptionTarget, is("DeletionByTaintManager"))},
	{Lost, condition(disruptionTarget, is("DeletionByPodGC"))},
	{NodeShutdown, kubelet([]string{"Terminated", "NodeShutdown"}, "imminent node shutdown")},
	{NodePressure, kubelet([]string{"Evicted"}, "low on resource")},
	{Infrastructure, refused},
	{NodePressure, condition(disruptionTarget, is("TerminationByKubelet"))},
	{None, func(e facts, standing []Condition) (string, bool) {
		return "", e.end.Succeeded && len(standing) == 0
	}},
	{OOM, func(e facts, _ []Condition) (string, bool) { return e.main.reason, e.main.reason == "OOMKilled" }},
	{Deadline, func(e facts, _ []Condition) (string, bool) {
		return "DeadlineExceeded", e.seen.Reason == "DeadlineExceeded" ||
			e.says("longer than the specified deadline", "exceeded its deadline")
	}},
	{Stopped, func(e facts, _ []Condition) (string, bool) {
		return "", StopMessage(e.end.Message)
	}},
	{Image, func(e facts, _ []Condition) (string, bool) {
		reason := startReason(e.end.Message)
		return reason, ImageReason(reason)
	}},
	{Infrastructure, infrastructure},
	{Application, func(e facts, _ []Condition) (string, bool) {
		return e.main.reason, e.code != nil && *e.code != 0 && !e.deleted()
	}},
	{Deleted, func(e facts, _ []Condition) (string, bool) {
		return "", !e.seen.Deleted.IsZero() && (e.gone() || e.deleted())
	}},
	{Lost, func(e facts, _ []Condition) (string, bool) { return "", e.gone() }},
	// What is left failed before or beside the program: a pod that could not
	// be created, one that ended without a container's end.
	{Infrastructure, func(e facts, _ []Condition) (string, bool) { return "", !e.end.Succeeded }},
}

func is(reason string) func(string) bool {
	return func(r string) bool { return r == reason }
}

func condition(kind string, reason func(string) bool) func(facts, []Condition) (string, bool) {
	return func(_ facts, standing []Condition) (string, bool) {
		for _, c := range standing {
			if c.Type == kind && reason(c.Reason) {
				return c.Reason, true
			}
		}
		return "", false
	}
}

// kubelet matches a pod that its kubelet ended: the reason or the message of
// the pod's status says why, the condition TerminationByKubelet only that.
func kubelet(reasons []string, messages ...string) func(facts, []Condition) (string, bool) {
	return func(e facts, standing []Condition) (string, bool) {
		if len(e.seen.Conditions) > len(standing) {
			return "", false // the program had ended before
		}
		if slices.Contains(reasons, e.seen.Reason) {
			return e.seen.Reason, true
		}
		return reasons[0], e.says(messages...)
	}
}

// admissionReasons are the kubelet's reasons for a pod that it does not take.
var admissionReasons = regexp.MustCompile(`^(UnexpectedAdmissionError|OutOf\w+|NodeAffinity|Preempting)$`)

func refused(e facts, _ []Condition) (string, bool) {
	return e.seen.Reason, admissionReasons.MatchString(e.seen.Reason)
}

func infrastructure(e facts, _ []Condition) (string, bool) {
	switch {
	case executors[e.main.container]:
		return e.main.container + ": " + e.main.reason, true
	case startReason(e.end.Message) != "":
		return startReason(e.end.Message), true
	case strings.HasPrefix(e.end.Message, "pod failed: wait container"):
		return "", true
	}
	return "", false
}

// beforeStart is Argo's message about a container that never started.
var beforeStart = regexp.MustCompile(`^(?:Pod failed before \S+ container starts due to )?([A-Z]\w+): `)

// startReason gives the kubelet's reason why a container did not start.
func startReason(message string) string {
	if m := beforeStart.FindStringSubmatch(message); m != nil && (ImageReason(m[1]) || strings.HasPrefix(message, "Pod failed before ")) {
		return m[1]
	}
	return ""
}

// GoneMessage reports whether Argo says that a pod was gone before its end was seen.
func GoneMessage(message string) bool { return message == "pod deleted" }

// StopMessage reports whether Argo says that somebody stopped or terminated
// the Workflow. One of its messages has two spaces after the colon.
func StopMessage(message string) bool {
	return strings.HasPrefix(message, "workflow shutdown with strategy") || strings.HasPrefix(message, "Stopped with strategy")
}
