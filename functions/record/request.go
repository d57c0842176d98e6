package record

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// The kinds of objects that are evidence of something.
const (
	kindWorkflow = "Workflow"
	kindPod      = "Pod"
)

// Request points at an object that a Sensor has seen.
type Request struct {
	// Kind is Workflow or Pod.
	Kind string `json:"kind"`
	// Namespace is that of the runs.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID tells the object from another that had its name before, or has it now.
	UID string `json:"uid"`
	// Conditions are the last that a pod showed, as they stood in its status.
	// They count for a pod that is gone: one that is there is asked itself.
	Conditions []corev1.PodCondition `json:"conditions,omitempty"`
	// Deleted says that the Sensor has seen the object's deletion.
	Deleted bool `json:"deleted,omitempty"`
}

// uids are what the API server gives out, in any of its versions.
var uids = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)

// reasons is the grammar of a condition's reason. Only the length is ours.
var reasons = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_,:]{0,126}$`)

func (r Request) check(namespace string) error {
	var mistakes fault.List
	if r.Kind != kindWorkflow && r.Kind != kindPod {
		mistakes.Add("kind", "must be %s or %s", kindWorkflow, kindPod)
	}
	if r.Namespace != namespace {
		mistakes.Add("namespace", "must be %s, the namespace of the runs", namespace)
	}
	if len(validation.IsDNS1123Subdomain(r.Name)) > 0 {
		mistakes.Add("name", "not the name of an object: a-z, 0-9, - and . are allowed, at most 253")
	}
	if strings.Count(r.Name, "-") >= limits.PodNameParts {
		mistakes.Add("name", "more than %d parts: no run's pod has so many", limits.PodNameParts)
	}
	if !uids.MatchString(r.UID) {
		mistakes.Add("uid", "not the UID of an object: give its metadata.uid")
	}
	r.checkConditions(&mistakes)
	return mistakes.Err(fault.Invalid, "the request is not valid")
}

func (r Request) checkConditions(mistakes *fault.List) {
	if r.Kind == kindWorkflow && len(r.Conditions) > 0 {
		mistakes.Add("conditions", "only those of a pod are evidence")
		return
	}
	if len(r.Conditions) > limits.PodConditions {
		mistakes.Add("conditions", "more than %d: no pod has so many", limits.PodConditions)
		return
	}
	for i, c := range r.Conditions {
		path := strict.Index("conditions", i)
		if !cause.Proves(c) {
			continue // a pod has others, which say nothing of its end
		}
		if slices.ContainsFunc(r.Conditions[:i], func(other corev1.PodCondition) bool { return other.Type == c.Type && cause.Proves(other) }) {
			mistakes.Add(strict.Key(path, "type"), "%s stands twice", c.Type)
		}
		if !reasons.MatchString(c.Reason) {
			mistakes.Add(strict.Key(path, "reason"), "not the reason of a condition: letters, digits, _ , and : are allowed, at most 127")
		}
		if c.LastTransitionTime.IsZero() {
			mistakes.Add(strict.Key(path, "lastTransitionTime"), "is missing")
		}
	}
}
