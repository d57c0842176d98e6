package argo

import (
	"fmt"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/run"
)

// memoryAttempts is how many attempts more there may be for a program that
// names maxMemory: the first with it, and some that were interrupted between.
const memoryAttempts = 3

// interrupted says in Argo's terms that an attempt did not end by itself. 137
// without OOMKilled is usually a kill after the grace period; a program that
// kills itself reads the same and is retried too. The last one is a pod that
// failed before any of its containers was there: it was preempted while it
// waited for a node, and Kubernetes' garbage collector of pods came by before
// Kueue let it go.
var interrupted = []string{
	"lastRetry.status == 'Error'",
	"(lastRetry.exitCode == '143' && !(lastRetry.message contains 'deadline'))",
	"(lastRetry.exitCode == '137' && !(lastRetry.message contains 'OOMKilled'))",
	"lastRetry.message contains 'low on resource'",
	"lastRetry.message contains 'node shutdown'",
	"lastRetry.message contains 'find failed message for pod'",
}

// retryStrategy retries an interrupted attempt always, and a failed one while
// few attempts were made. `retries` is the index of the last attempt here.
func retryStrategy(p *run.Program, limit int) *wfv1.RetryStrategy {
	failures, wait := 0, limits.Backoff
	if p.Retry != nil {
		failures = p.Retry.Failures
		if parsed, ok := p.Retry.Backoff.Parse(); ok {
			wait = parsed
		}
	}
	forMemory := 0
	if p.MaxMemory != "" {
		forMemory = failures + memoryAttempts
	}
	return &wfv1.RetryStrategy{
		Limit:       new(intstr.FromInt32(int32(limit))),
		RetryPolicy: wfv1.RetryPolicyAlways,
		Expression: strings.Join(append(interrupted[:len(interrupted):len(interrupted)],
			fmt.Sprintf("(lastRetry.message contains 'OOMKilled' && asInt(retries) < %d)", forMemory),
			fmt.Sprintf("(!(lastRetry.message contains 'OOMKilled') && asInt(retries) < %d)", failures)), " || "),
		Backoff: &wfv1.Backoff{
			Duration: wait.String(),
			Factor:   new(intstr.FromInt32(2)),
			Cap:      max(limits.BackoffCap, wait).String(),
		},
	}
}

// memoryPatch gives an attempt after one that was killed for memory the most.
// Argo knows the last attempt only, so that one after an interruption starts
// with the base again.
func memoryPatch(p *run.Program) string {
	most, ok := p.MaxMemory.Parse()
	base, named := p.Resources["memory"].Parse()
	if !ok || !named {
		return ""
	}
	memory := fmt.Sprintf(`{"memory":"{{=lastRetry.message contains 'OOMKilled' ? '%s' : '%s'}}"}`, most.String(), base.String())
	return `{"containers":[{"name":"main","resources":{"requests":` + memory + `,"limits":` + memory + `}}]}`
}
