package cause_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/cause"
)

func at(s int) time.Time { return time.Date(2026, 11, 30, 9, 0, s, 0, time.UTC) }

func stood(kind, reason string) cause.Entry {
	return cause.Entry{UID: "u", Node: "n", Conditions: []cause.Condition{{Type: kind, Reason: reason, At: at(20)}}, Deleted: at(20)}
}

// exited gives an entry of a pod whose program ended.
func exited(e cause.Entry, code, second int, reason string) cause.Entry {
	e.Main = &cause.Exit{Code: code, Reason: reason, Finished: at(second)}
	return e
}

func with(e cause.Entry, reason, message string) cause.Entry {
	e.Reason, e.Message = reason, message
	return e
}

const (
	kueue      = "TerminationTarget"
	disruption = "DisruptionTarget"
	preempted  = "WorkloadEvictedDueToPreempted"
)

func TestOf(t *testing.T) {
	gone := cause.End{Message: "pod deleted", Finished: at(25)}
	exit := func(text string) cause.End { return cause.End{Message: text, Finished: at(25)} }
	done := cause.End{Succeeded: true, Finished: at(25)}
	for name, c := range map[string]struct {
		end  cause.End
		seen cause.Entry
		want cause.Verdict
	}{
		"Kueue's preemption":            {gone, stood(kueue, preempted), cause.Verdict{Cause: cause.Preempted, Reason: preempted, Interrupted: true}},
		"Kueue's preemption, exit code": {exit("main: Error (exit code 143)"), exited(stood(kueue, preempted), 143, 21, "Error"), cause.Verdict{Cause: cause.Preempted, Reason: preempted, ExitCode: code(143), Interrupted: true}},
		"killed in the condition's second": {
			exit("main: Error (exit code 143)"), exited(stood(kueue, preempted), 143, 20, "Error"),
			cause.Verdict{Cause: cause.Preempted, Reason: preempted, ExitCode: code(143), Interrupted: true},
		},
		"ended before the condition": {
			exit("main: Error (exit code 1)"), exited(stood(kueue, preempted), 1, 19, "Error"),
			cause.Verdict{Cause: cause.Application, Reason: "Error", ExitCode: code(1)},
		},
		"succeeded before the condition": {done, exited(stood(kueue, preempted), 0, 19, "Completed"), cause.Verdict{ExitCode: code(0)}},
		"a false success":                {done, exited(stood(kueue, preempted), 0, 22, "Completed"), cause.Verdict{Cause: cause.Preempted, Reason: preempted, ExitCode: code(0), Interrupted: true}},
		"a success":                      {done, cause.Entry{}, cause.Verdict{}},
		"a success that was cleaned up":  {done, exited(cause.Entry{Deleted: at(30)}, 0, 22, "Completed"), cause.Verdict{ExitCode: code(0)}},
		"the workload is deactivated":    {gone, stood(kueue, "WorkloadEvictedDueToDeactivated"), cause.Verdict{Cause: cause.Evicted, Reason: "WorkloadEvictedDueToDeactivated", Interrupted: true}},
		"the workload is deleted":        {gone, stood(kueue, "WorkloadDeleted"), cause.Verdict{Cause: cause.Evicted, Reason: "WorkloadDeleted", Interrupted: true}},
		"the scheduler preempts":         {gone, stood(disruption, "PreemptionByScheduler"), cause.Verdict{Cause: cause.PreemptedByScheduler, Reason: "PreemptionByScheduler", Interrupted: true}},
		"a drain":                        {gone, stood(disruption, "EvictionByEvictionAPI"), cause.Verdict{Cause: cause.Drained, Reason: "EvictionByEvictionAPI", Interrupted: true}},
		"a taint":                        {gone, stood(disruption, "DeletionByTaintManager"), cause.Verdict{Cause: cause.Taint, Reason: "DeletionByTaintManager", Interrupted: true}},
		"the garbage collector of pods":  {gone, stood(disruption, "DeletionByPodGC"), cause.Verdict{Cause: cause.Lost, Reason: "DeletionByPodGC", Interrupted: true}},
		"both conditions": {
			gone, cause.Entry{Conditions: append(stood(disruption, "DeletionByTaintManager").Conditions, stood(kueue, preempted).Conditions...)},
			cause.Verdict{Cause: cause.Preempted, Reason: preempted, Interrupted: true},
		},
		"low on resource, by the pod": {
			exit("The node was low on resource: memory."), with(stood(disruption, "TerminationByKubelet"), "Evicted", "The node was low on resource: memory."),
			cause.Verdict{Cause: cause.NodePressure, Reason: "Evicted", Interrupted: true},
		},
		"low on resource, by Argo alone": {exit("The node was low on resource: memory."), cause.Entry{}, cause.Verdict{Cause: cause.NodePressure, Reason: "Evicted"}},
		"shutdown, by the pod": {
			exit("Pod was terminated in response to imminent node shutdown."), with(stood(disruption, "TerminationByKubelet"), "Terminated", "Pod was terminated in response to imminent node shutdown."),
			cause.Verdict{Cause: cause.NodeShutdown, Reason: "Terminated", Interrupted: true},
		},
		"shutdown, by Argo alone":     {exit("Pod was terminated in response to imminent node shutdown."), cause.Entry{}, cause.Verdict{Cause: cause.NodeShutdown, Reason: "Terminated"}},
		"the kubelet, without saying": {gone, stood(disruption, "TerminationByKubelet"), cause.Verdict{Cause: cause.NodePressure, Reason: "TerminationByKubelet", Interrupted: true}},
		"the kubelet makes room":      {gone, with(stood(disruption, "TerminationByKubelet"), "Preempting", ""), cause.Verdict{Cause: cause.Infrastructure, Reason: "Preempting", Interrupted: true}},
		"OOM":                         {exit("main: OOMKilled (exit code 137)"), cause.Entry{}, cause.Verdict{Cause: cause.OOM, Reason: "OOMKilled", ExitCode: code(137), OOM: true}},
		"OOM, older Argo":             {exit("OOMKilled (exit code 137)"), cause.Entry{}, cause.Verdict{Cause: cause.OOM, Reason: "OOMKilled", ExitCode: code(137), OOM: true}},
		"OOM, seen on the pod only":   {gone, exited(cause.Entry{}, 137, 10, "OOMKilled"), cause.Verdict{Cause: cause.OOM, Reason: "OOMKilled", ExitCode: code(137), OOM: true}},
		"OOM of the executor":         {exit("wait: OOMKilled (exit code 137)"), cause.Entry{}, cause.Verdict{Cause: cause.Infrastructure, Reason: "wait: Error"}},
		"137 with the condition":      {exit("main: Error (exit code 137)"), exited(stood(kueue, preempted), 137, 25, "Error"), cause.Verdict{Cause: cause.Preempted, Reason: preempted, ExitCode: code(137), Interrupted: true}},
		"deadline of the pod":         {cause.End{Message: "Pod was active on the node longer than the specified deadline", ExitCode: code(143)}, cause.Entry{}, cause.Verdict{Cause: cause.Deadline, Reason: "DeadlineExceeded", ExitCode: code(143)}},
		"deadline, by the pod":        {gone, with(cause.Entry{}, "DeadlineExceeded", ""), cause.Verdict{Cause: cause.Deadline, Reason: "DeadlineExceeded"}},
		"deadline of the Workflow":    {exit("Step exceeded its deadline"), cause.Entry{}, cause.Verdict{Cause: cause.Deadline, Reason: "DeadlineExceeded"}},
		"stop, two spaces":            {exit("workflow shutdown with strategy:  Stop"), cause.Entry{}, cause.Verdict{Cause: cause.Stopped}},
		"stop, one space":             {exit("workflow shutdown with strategy: Terminate"), cause.Entry{}, cause.Verdict{Cause: cause.Stopped}},
		"stop before a retry":         {exit("Stopped with strategy 'Stop'"), cause.Entry{}, cause.Verdict{Cause: cause.Stopped}},
		"image":                       {exit("Pod failed before main container starts due to ImagePullBackOff: Back-off"), cause.Entry{}, cause.Verdict{Cause: cause.Image, Reason: "ImagePullBackOff"}},
		"image name":                  {exit("InvalidImageName: couldn't parse"), cause.Entry{}, cause.Verdict{Cause: cause.Image, Reason: "InvalidImageName"}},
		"container config":            {exit("Pod failed before main container starts due to CreateContainerConfigError: secret \"x\" not found"), cause.Entry{}, cause.Verdict{Cause: cause.Infrastructure, Reason: "CreateContainerConfigError"}},
		"no room after all":           {exit("Pod was rejected: Node didn't have enough resource: cpu"), with(cause.Entry{}, "OutOfcpu", ""), cause.Verdict{Cause: cause.Infrastructure, Reason: "OutOfcpu"}},
		"admission":                   {exit("Pod was rejected"), with(cause.Entry{}, "UnexpectedAdmissionError", ""), cause.Verdict{Cause: cause.Infrastructure, Reason: "UnexpectedAdmissionError"}},
		"executor":                    {exit("wait: Error (exit code 64): cannot save"), cause.Entry{}, cause.Verdict{Cause: cause.Infrastructure, Reason: "wait: Error"}},
		"init container":              {exit("init: Error (exit code 1)"), cause.Entry{}, cause.Verdict{Cause: cause.Infrastructure, Reason: "init: Error"}},
		"pod not created":             {exit("pods \"x\" is forbidden: exceeded quota"), cause.Entry{}, cause.Verdict{Cause: cause.Infrastructure}},
		"preempted before a node took it, and collected": {
			exit("can't find failed message for pod fit-task-fit-3965780559 namespace runs"), stood(kueue, preempted),
			cause.Verdict{Cause: cause.Preempted, Reason: preempted, Interrupted: true},
		},
		"no container ended":         {exit("can't find failed message for pod x namespace y"), cause.Entry{}, cause.Verdict{Cause: cause.Infrastructure}},
		"application":                {exit("main: Error (exit code 1)"), cause.Entry{}, cause.Verdict{Cause: cause.Application, Reason: "Error", ExitCode: code(1)}},
		"application, 143 by itself": {exit("main: Error (exit code 143)"), exited(cause.Entry{}, 143, 25, "Error"), cause.Verdict{Cause: cause.Application, Reason: "Error", ExitCode: code(143)}},
		"the program writes what Argo would": {
			exit("main: Error (exit code 1): The node was low on resource; Step exceeded its deadline; pod deleted"), cause.Entry{},
			cause.Verdict{Cause: cause.Application, Reason: "Error", ExitCode: code(1)},
		},
		"application, then cleaned up":   {exit("main: Error (exit code 1)"), exited(cause.Entry{Deleted: at(30)}, 1, 25, "Error"), cause.Verdict{Cause: cause.Application, Reason: "Error", ExitCode: code(1)}},
		"application, pod then deleted":  {gone, exited(cause.Entry{Deleted: at(24)}, 1, 10, "Error"), cause.Verdict{Cause: cause.Application, Reason: "Error", ExitCode: code(1)}},
		"deleted":                        {gone, cause.Entry{Deleted: at(20)}, cause.Verdict{Cause: cause.Deleted}},
		"deleted, killed by it":          {gone, exited(cause.Entry{Deleted: at(20)}, 143, 21, "Error"), cause.Verdict{Cause: cause.Deleted, ExitCode: code(143)}},
		"deleted, Argo saw the exit":     {exit("main: Error (exit code 143)"), exited(cause.Entry{Deleted: at(20)}, 143, 21, "Error"), cause.Verdict{Cause: cause.Deleted, ExitCode: code(143)}},
		"deleted, Argo alone saw it end": {exit("main: Error (exit code 143)"), cause.Entry{Deleted: at(20)}, cause.Verdict{Cause: cause.Deleted, ExitCode: code(143)}},
		"gone, and nobody saw it":        {gone, cause.Entry{}, cause.Verdict{Cause: cause.Lost}},
		"replaced, and nobody saw it":    {cause.End{Replaced: true}, cause.Entry{UID: "u"}, cause.Verdict{Cause: cause.Lost}},
		"replaced, preempted":            {cause.End{Replaced: true}, stood(kueue, preempted), cause.Verdict{Cause: cause.Preempted, Reason: preempted, Interrupted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, cause.Of(c.end, c.seen)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func code(n int) *int { return &n }

func TestCauseAsJSON(t *testing.T) {
	got, err := json.Marshal([]cause.Cause{cause.None, cause.PreemptedByScheduler})
	if err != nil || string(got) != `[null,"preempted-by-scheduler"]` {
		t.Errorf("%s, %v", got, err)
	}
	var back []cause.Cause
	if err := json.Unmarshal(got, &back); err != nil || back[0] != cause.None || back[1] != cause.PreemptedByScheduler {
		t.Errorf("%v, %v", back, err)
	}
}

func TestInterruptions(t *testing.T) {
	for _, c := range cause.All {
		own := c == cause.OOM || c == cause.Deadline || c == cause.Stopped || c == cause.Image || c == cause.Infrastructure || c == cause.Application
		if c.Interruption() == own {
			t.Errorf("%s: interruption %v", c, c.Interruption())
		}
	}
}
