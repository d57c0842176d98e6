package buildimage

import (
	"context"
	"fmt"
	"maps"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/image"
)

// cluster holds Jobs, ConfigMaps and pods as an API server does: names are
// unique, and every object has a UID of its own.
type cluster struct {
	lock       sync.Mutex
	uids       int
	jobs       map[string]*batchv1.Job
	configMaps map[string]*corev1.ConfigMap
	pods       []corev1.Pod
	log        string
	created    int
	refuse     map[string]error // by call
}

func newCluster() *cluster {
	return &cluster{jobs: map[string]*batchv1.Job{}, configMaps: map[string]*corev1.ConfigMap{}, refuse: map[string]error{}}
}

func (c *cluster) enter(call string) (func(), error) {
	c.lock.Lock()
	return c.lock.Unlock, c.refuse[call]
}

func (c *cluster) CreateJob(_ context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	leave, err := c.enter("CreateJob")
	defer leave()
	if err != nil {
		return nil, err
	}
	if _, taken := c.jobs[job.Name]; taken {
		return nil, fault.New(fault.Conflict, "job %s exists already", job.Name)
	}
	c.uids++
	c.created++
	job = job.DeepCopy()
	job.UID = types.UID(fmt.Sprint("uid-", c.uids))
	c.jobs[job.Name] = job
	return job.DeepCopy(), nil
}

func (c *cluster) Job(_ context.Context, name string) (*batchv1.Job, error) {
	leave, err := c.enter("Job")
	defer leave()
	if job, ok := c.jobs[name]; ok {
		return job.DeepCopy(), err
	}
	return nil, fault.New(fault.NotFound, "job %s does not exist", name)
}

// ResumeJob fails when the files are not there: the Job's pod would not start.
func (c *cluster) ResumeJob(_ context.Context, name string, uid types.UID) (*batchv1.Job, error) {
	leave, err := c.enter("ResumeJob")
	defer leave()
	if err != nil {
		return nil, err
	}
	job := c.jobs[name]
	if job.UID != uid {
		return nil, fault.New(fault.Conflict, "another UID")
	}
	if files := c.configMaps[name]; files == nil || files.OwnerReferences[0].UID != uid {
		return nil, fault.New(fault.Internal, "the Job was resumed before its files were there")
	}
	job.Spec.Suspend = new(false)
	return job.DeepCopy(), nil
}

func (c *cluster) CreateConfigMap(_ context.Context, object *corev1.ConfigMap) error {
	leave, err := c.enter("CreateConfigMap")
	defer leave()
	if err != nil {
		return err
	}
	if _, taken := c.configMaps[object.Name]; taken {
		return fault.New(fault.Conflict, "configmap %s exists already", object.Name)
	}
	c.configMaps[object.Name] = object.DeepCopy()
	return nil
}

func (c *cluster) ConfigMap(_ context.Context, name string) (*corev1.ConfigMap, error) {
	leave, err := c.enter("ConfigMap")
	defer leave()
	if object, ok := c.configMaps[name]; ok {
		return object.DeepCopy(), err
	}
	return nil, fault.New(fault.NotFound, "configmap %s does not exist", name)
}

func (c *cluster) Pods(_ context.Context, labels map[string]string) ([]corev1.Pod, error) {
	leave, err := c.enter("Pods")
	defer leave()
	var found []corev1.Pod
	for _, pod := range c.pods {
		if maps.Equal(pod.Labels, labels) {
			found = append(found, pod)
		}
	}
	return found, err
}

func (c *cluster) LogTail(context.Context, string, int64) ([]byte, error) {
	leave, err := c.enter("LogTail")
	defer leave()
	return []byte(c.log), err
}

// ends sets how the only Job has ended, and what its pod left.
func (c *cluster) ends(condition batchv1.JobConditionType, reason, digest string) {
	for _, job := range c.jobs {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, Reason: reason})
		c.pods = append(c.pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: map[string]string{batchv1.ControllerUidLabel: string(job.UID)}},
			Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
				Name: "build", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					Message: fmt.Sprintf(`{"containerimage.digest": %q}`, digest),
				}},
			}}},
		})
	}
}

// shows is a registry with one image.
type shows struct {
	digest string
	err    error
}

func (s *shows) Digest(context.Context, image.Reference) (string, bool, error) {
	return s.digest, s.digest != "", s.err
}
