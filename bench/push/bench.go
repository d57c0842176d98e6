package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	argoclient "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/typed/workflow/v1alpha1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

type bench struct {
	url       string
	secret    []byte
	token     string
	workflows argoclient.WorkflowInterface
	kube      kubernetes.Interface
	client    *http.Client

	mu   sync.Mutex
	made []string
}

func newBench(ctx context.Context) (*bench, error) {
	url := os.Getenv("RUNHOOK_URL")
	if url == "" {
		return nil, errors.New("RUNHOOK_URL is not set: run `make bench-push`")
	}
	secret, err := os.ReadFile("bin/deploy/github-secret")
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile("bin/deploy/demo-token")
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	argo, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// Each sender keeps its connection, as the raw creators share one of HTTP/2.
	transport.MaxIdleConnsPerHost = senders
	return &bench{
		url: url, secret: secret, token: string(token), kube: kube,
		workflows: argo.ArgoprojV1alpha1().Workflows("runs"),
		client:    &http.Client{Transport: transport},
	}, nil
}

// stopController keeps Argo from starting what is created, and gives back the
// way to undo it.
func (b *bench) stopController(ctx context.Context) (func(context.Context) error, error) {
	scale := func(ctx context.Context, replicas int32) error {
		_, err := b.kube.AppsV1().Deployments("argo").UpdateScale(ctx, "workflow-controller", &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: "workflow-controller", Namespace: "argo"},
			Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
		}, metav1.UpdateOptions{})
		return err
	}
	if err := scale(ctx, 0); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return scale(ctx, 1) }, nil
}

// push delivers a fresh push and gives the run that it made: when the hook
// answers, the Workflow exists.
func (b *bench) push(ctx context.Context) (string, error) {
	request, err := hooktest.GitHubRequest(b.url+"/hooks/acme", hooktest.NewGitHubPush("bench").Body(), b.secret)
	if err != nil {
		return "", err
	}
	var answer struct {
		Decisions []made `json:"decisions"`
	}
	if err := b.call(ctx, request, http.StatusAccepted, &answer); err != nil {
		return "", err
	}
	if len(answer.Decisions) != 1 {
		return "", fmt.Errorf("the hook took %d decisions", len(answer.Decisions))
	}
	return b.note(answer.Decisions[0])
}

// example is a run about as large as that of a push.
const example = `{"id": "bench-%s", "queue": "research", "priority": "normal", "image": "10.88.0.1:5000/busybox:1",
	"params": {"sha": "%[1]s", "message": "bench"}, "tasks": [
	{"id": "fetch", "command": ["true"]},
	{"id": "fit", "needs": ["fetch"], "command": ["true"], "retry": {"failures": 2}, "split": {"workers": 3, "merge": {"command": ["true"]}}},
	{"id": "report", "needs": ["fit"], "command": ["true"]}]}`

// submit calls the function with a fresh run.
func (b *bench) submit(ctx context.Context) (string, error) {
	body := fmt.Sprintf(example, hooktest.RandomHex(8))
	request, err := http.NewRequest(http.MethodPost, b.url+"/functions/submit", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+b.token)
	var answer made
	if err := b.call(ctx, request, http.StatusCreated, &answer); err != nil {
		return "", err
	}
	return b.note(answer)
}

// made is what a call says of its run.
type made struct {
	Run     string `json:"run"`
	Created bool   `json:"created"`
}

func (b *bench) call(ctx context.Context, request *http.Request, want int, into any) error {
	response, err := b.client.Do(request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != want {
		return fmt.Errorf("%s answered %s: %s", request.URL.Path, response.Status, body)
	}
	return json.Unmarshal(body, into)
}

// create makes the same object without runhook.
func (b *bench) create(ctx context.Context, like *wfv1.Workflow) error {
	workflow := &wfv1.Workflow{
		ObjectMeta: metav1.ObjectMeta{Name: "raw-" + hooktest.RandomHex(8), Labels: like.Labels, Annotations: like.Annotations},
		Spec:       like.Spec,
	}
	if _, err := b.workflows.Create(ctx, workflow, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := b.note(made{workflow.Name, true})
	return err
}

// note remembers what is to be deleted at the end.
func (b *bench) note(m made) (string, error) {
	if !m.Created {
		return "", fmt.Errorf("the run %q was not created", m.Run)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made = append(b.made, m.Run)
	return m.Run, nil
}

func (b *bench) deleteAll(ctx context.Context) error {
	var failures []error
	for _, name := range b.made {
		failures = append(failures, b.workflows.Delete(ctx, name, metav1.DeleteOptions{}))
	}
	return errors.Join(failures...)
}
