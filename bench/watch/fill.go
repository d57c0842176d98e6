package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/owner"
)

const (
	namespace = "runs"
	// fixture is a run of 20 pods and 43 nodes, 24 KB, as a real cluster had it.
	fixture     = "pkg/status/recorded/cases/fanout.json.gz"
	fixtureName = "fanout"
	// writers write side by side.
	writers = 8

	workflowsPath = "/apis/argoproj.io/v1alpha1/namespaces/" + namespace + "/workflows"
	// metadataOnly is what an answer is to hold of a Workflow.
	metadataOnly = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	// changing is the label of the runs that end while it is measured.
	changing = "bench/changing"
)

// definition lets the API server hold Workflows as they come.
const definition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "workflows.argoproj.io"},
	"spec": {"group": "argoproj.io", "scope": "Namespaced", "names": {"kind": "Workflow", "listKind": "WorkflowList", "plural": "workflows", "singular": "workflow"},
	"versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

// recorded is the fixture: a run that goes on, its end, and its pods then.
type recorded struct {
	going, ended []byte
	pods         []corev1.Pod
}

func read() (*recorded, error) {
	packed, err := os.ReadFile(fixture)
	if err != nil {
		return nil, err
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var moments map[string]json.RawMessage
	if err := json.NewDecoder(plain).Decode(&moments); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	err = json.Unmarshal(moments["04-after-pods.json"], &pods)
	return &recorded{moments["03-plus10-wf.json"], moments["04-after-wf.json"], pods.Items}, err
}

// workflow is a recorded one under another name.
func workflow(recorded []byte, name string, labels map[string]string) ([]byte, error) {
	renamed := bytes.ReplaceAll(recorded, []byte(fixtureName), []byte(name))
	var object map[string]json.RawMessage
	if err := json.Unmarshal(renamed, &object); err != nil {
		return nil, err
	}
	labels[owner.RunLabel] = name
	metadata, err := json.Marshal(metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels})
	object["metadata"] = metadata
	renamed, failure := json.Marshal(object)
	return renamed, errors.Join(err, failure)
}

func endedName(i int) string    { return fmt.Sprintf("ended-%05d", i) }
func changingName(i int) string { return fmt.Sprintf("goes-on-%05d", i) }

// fill creates everything: what has ended, with pods of the first ones, and what
// goes on.
func (s *server) fill(ctx context.Context, n size) error {
	from, err := read()
	if err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	err = each(n.workflows, func(i int) error {
		uid, err := s.create(ctx, from.ended, endedName(i), map[string]string{})
		if err != nil {
			return err
		}
		for p := range from.pods {
			if i*len(from.pods)+p >= n.pods {
				return nil
			}
			if err := s.createPod(ctx, &from.pods[p], endedName(i), uid); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(n.changes, func(i int) error {
		_, err := s.create(ctx, from.going, changingName(i), map[string]string{changing: "true"})
		return err
	})
}

// prepare makes the namespace, and lets the API server know Workflows.
func (s *server) prepare(ctx context.Context) error {
	rest := s.kube.CoreV1().RESTClient()
	if err := rest.Post().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").Body([]byte(definition)).Do(ctx).Error(); err != nil {
		return err
	}
	if _, err := s.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() error { return rest.Get().AbsPath(workflowsPath).Do(ctx).Error() })
}

func (s *server) create(ctx context.Context, recorded []byte, name string, labels map[string]string) (types.UID, error) {
	body, err := workflow(recorded, name, labels)
	if err != nil {
		return "", err
	}
	raw, err := s.kube.CoreV1().RESTClient().Post().AbsPath(workflowsPath).
		SetHeader("Accept", metadataOnly).Body(body).DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var made metav1.PartialObjectMetadata
	err = json.Unmarshal(raw, &made)
	return made.UID, err
}

// createPod gives a Workflow one of the recorded pods.
func (s *server) createPod(ctx context.Context, like *corev1.Pod, run string, workflow types.UID) error {
	pod := like.DeepCopy()
	name := strings.ReplaceAll(pod.Name, fixtureName, run)
	annotations := map[string]string{}
	for key, value := range pod.Annotations {
		annotations[key] = strings.ReplaceAll(value, fixtureName, run)
	}
	labels := map[string]string{}
	for key, value := range pod.Labels {
		labels[key] = strings.ReplaceAll(value, fixtureName, run)
	}
	pod.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels, Annotations: annotations, OwnerReferences: pod.OwnerReferences}
	for i := range pod.OwnerReferences {
		pod.OwnerReferences[i].Name, pod.OwnerReferences[i].UID = run, workflow
	}
	pods := s.kube.CoreV1().Pods(namespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status = pod.Status
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// each does something n times, some at once, until one fails.
func each(n int, do func(i int) error) error {
	var (
		all      sync.WaitGroup
		lock     sync.Mutex
		next     int
		failures error
	)
	for range writers {
		all.Go(func() {
			for {
				lock.Lock()
				i := next
				next++
				stop := i >= n || failures != nil
				lock.Unlock()
				if stop {
					return
				}
				if err := do(i); err != nil {
					lock.Lock()
					failures = errors.Join(failures, err)
					lock.Unlock()
				}
			}
		})
	}
	all.Wait()
	return failures
}
