package image

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/owner"
)

// What a Job and its ConfigMap say of the build.
const (
	// BuildLabel is a label of both and of the pod: the build's name.
	BuildLabel = "runhook/build"
	// KeyAnnotation holds the build's key.
	KeyAnnotation = "runhook/key"
	// RefAnnotation holds the tag that is pushed to.
	RefAnnotation = "runhook/image"
)

// Job builds an image. One with files is suspended until its ConfigMap is
// there, which needs the Job's UID, so that it goes away with it.
func (s Settings) Job(build Build, caller string) *batchv1.Job {
	labels := map[string]string{owner.ManagedBy: owner.Name, BuildLabel: build.Name()}
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   build.Name(),
			Labels: labels,
			Annotations: map[string]string{
				KeyAnnotation:    build.Key(),
				RefAnnotation:    build.Ref.String(),
				owner.Annotation: caller,
			},
		},
		Spec: batchv1.JobSpec{
			Suspend:                 new(build.Git == nil),
			ActiveDeadlineSeconds:   new(max(1, int64(s.Timeout.Seconds()))),
			TTLSecondsAfterFinished: new(int32(limits.BuildKeep.Seconds())),
			BackoffLimit:            new(int32(0)),
			// A build whose node is drained starts again; one that failed
			// would fail again.
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				},
			}}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       s.Pod(build),
			},
		},
	}
}

// ConfigMap holds the files of a build for its Job's pod.
func ConfigMap(build Build, job *batchv1.Job) *corev1.ConfigMap {
	object := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   job.Name,
			Labels: map[string]string{owner.ManagedBy: owner.Name, BuildLabel: job.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Name: job.Name, UID: job.UID,
			}},
		},
		Immutable:  new(true),
		Data:       map[string]string{},
		BinaryData: map[string][]byte{},
	}
	for name, file := range build.Files {
		if file.text() {
			object.Data[name] = string(file)
		} else {
			object.BinaryData[name] = file
		}
	}
	return object
}
