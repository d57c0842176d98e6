// Package argo turns a run into its Argo Workflow, and a Workflow into those
// of its helpers. It is pure: what the cluster must say is told in Options.
package argo

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/owner"
)

// Labels and annotations of a Workflow and its pods, besides package owner's.
const (
	// RunLabel is the run's id, on Workflows, helpers and pods.
	RunLabel = owner.RunLabel
	// RefLabel is the hash by which the runs of one ref are found.
	RefLabel = "runhook/ref"
	// TaskLabel is the task's id, on pods and helpers.
	TaskLabel = owner.TaskLabel
	// WorkerLabel says which part of a split task a pod is: `0`, `merge`, `extra-0`.
	WorkerLabel = "runhook/worker"
	// ExtraOfLabel is the run's id, on helpers only: it tells them from runs.
	ExtraOfLabel = owner.ExtraOfLabel
	// ExtraLabel is a helper's number.
	ExtraLabel = owner.ExtraLabel

	// KeyAnnotation holds the key that guards the run's name.
	KeyAnnotation = "runhook/key"
	// SourceAnnotation says which delivery the run came from, as JSON.
	SourceAnnotation = "runhook/source"
	// PriorityAnnotation is the priority by the config's name: the class of
	// helpers is found by it.
	PriorityAnnotation = "runhook/priority"
	// HelpersAnnotation is how many helpers each split task may have, as JSON.
	HelpersAnnotation = "runhook/helpers"
)

// CompletedLabel is Argo's: "true" on Workflows that have ended.
const CompletedLabel = "workflows.argoproj.io/completed"

// Kueue's labels of a pod.
const (
	QueueLabel    = "kueue.x-k8s.io/queue-name"
	PriorityLabel = "kueue.x-k8s.io/priority-class"
)

// Options are what the config and the call say of every Workflow.
type Options struct {
	Namespace string
	// Workers is the label key=value of nodes that run tasks.
	Workers string
	// Reservation is the key of the taint and the label of a reserved node.
	Reservation string
	// PodLabel is the key by which the cluster's pods of runs are known; it
	// stands beside RunLabel where it is another.
	PodLabel string
	// ServiceAccount is the one of Argo's executor.
	ServiceAccount string
	// Retries is how many attempts follow the first one, of whatever end.
	Retries int
	// TTL is how long the Workflow stays after its end.
	TTL time.Duration
	// PodGC is one of Argo's strategies; empty: pods stay with their Workflow.
	PodGC string
	// Priorities are the classes by the config's names.
	Priorities         map[string]Priority
	SecurityContext    *corev1.SecurityContext
	PodSecurityContext *corev1.PodSecurityContext
	ImagePullSecrets   []corev1.LocalObjectReference
	// Build is what builds follow.
	Build image.Settings

	// ImageExists leaves the build out: the registry has its image.
	ImageExists bool
	// Key, Caller and Source become annotations; RefHash a label. Source is JSON.
	Key, Caller, Source, RefHash string
}

// Priority is a Kueue priority class, and a lower one for helpers.
type Priority struct{ Class, Extra string }
