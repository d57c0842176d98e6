package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/limits"
)

// CreateJob creates a Job. A name that is taken is a Conflict.
func (c *Cluster) CreateJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	created, err := c.kube.BatchV1().Jobs(c.namespace).Create(ctx, job, metav1.CreateOptions{})
	return created, faultOf(err, "job "+job.Name)
}

// Job gives a Job.
func (c *Cluster) Job(ctx context.Context, name string) (*batchv1.Job, error) {
	job, err := c.kube.BatchV1().Jobs(c.namespace).Get(ctx, name, metav1.GetOptions{})
	return job, faultOf(err, "job "+name)
}

// ResumeJob lets a suspended Job make its pods, if it is the one with the UID.
func (c *Cluster) ResumeJob(ctx context.Context, name string, uid types.UID) (*batchv1.Job, error) {
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"suspend":false}}`, uid)
	job, err := c.kube.BatchV1().Jobs(c.namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return job, faultOf(err, "job "+name)
}

// CreateConfigMap creates a ConfigMap. A name that is taken is a Conflict.
func (c *Cluster) CreateConfigMap(ctx context.Context, object *corev1.ConfigMap) error {
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(ctx, object, metav1.CreateOptions{})
	return faultOf(err, "configmap "+object.Name)
}

// ConfigMap gives a ConfigMap.
func (c *Cluster) ConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	object, err := c.kube.CoreV1().ConfigMaps(c.namespace).Get(ctx, name, metav1.GetOptions{})
	return object, faultOf(err, "configmap "+name)
}

// Secret gives what a Secret holds.
func (c *Cluster) Secret(ctx context.Context, name string) (map[string][]byte, error) {
	object, err := c.kube.CoreV1().Secrets(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, faultOf(err, "secret "+name)
	}
	return object.Data, nil
}

// LogTail gives the last lines of the log of a pod with one container.
func (c *Cluster) LogTail(ctx context.Context, pod string, lines int64) ([]byte, error) {
	options := &corev1.PodLogOptions{TailLines: &lines, LimitBytes: new(int64(limits.LogBytes))}
	log, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(pod, options).DoRaw(ctx)
	return log, faultOf(err, "the log of pod "+pod)
}
