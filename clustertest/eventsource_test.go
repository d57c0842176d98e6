//go:build cluster

package clustertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// events is the namespace of the EventSources, the Sensors and their bus.
const events = "argo-events"

// emit sends a request to an EventSource until it has taken it, as a host does
// that sends again: the bus has it then.
func (s *site) emit(source, endpoint string, header http.Header, body []byte) {
	s.Helper()
	s.eventually("EventSource "+source+" has taken what is sent", func() error {
		code, answer, err := s.toEventSource(source, endpoint, header, body)
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("%d %s", code, answer)
		}
		return err
	})
}

// toEventSource sends a request to the pod of an EventSource, once. The API
// server's proxy would take the request's token for its own.
func (s *site) toEventSource(source, endpoint string, header http.Header, body []byte) (int, string, error) {
	pod, err := s.eventsPod("eventsource-name=" + source)
	if err != nil {
		return 0, "", err
	}
	address, end, err := s.forward(pod)
	if err != nil {
		return 0, "", err
	}
	defer end()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "http://"+address+endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// eventsPod names the running pod of an EventSource or a Sensor.
func (s *site) eventsPod(selector string) (string, error) {
	list, err := s.kube.CoreV1().Pods(events).List(s.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return "", err
	}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			return pod.Name, nil
		}
	}
	return "", fmt.Errorf("of %d pods with %s none runs", len(list.Items), selector)
}

// forward opens a port of this machine that leads to the one on which all
// EventSources listen.
func (s *site) forward(pod string) (address string, end func(), err error) {
	transport, upgrader, err := spdy.RoundTripperFor(s.config)
	if err != nil {
		return "", nil, err
	}
	url := s.kube.CoreV1().RESTClient().Post().Namespace(events).Resource("pods").Name(pod).SubResource("portforward").URL()
	stop, ready, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var said strings.Builder
	forwarder, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url),
		[]string{"0:12000"}, stop, ready, io.Discard, &said)
	if err != nil {
		return "", nil, err
	}
	go func() { failed <- forwarder.ForwardPorts() }()
	end = func() { close(stop) }
	select {
	case <-ready:
	case err := <-failed:
		return "", nil, errors.Join(err, errors.New("the port is not forwarded"))
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		end()
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local), end, nil
}

// runsOfCommit names the Workflows that a commit has led to.
func (s *site) runsOfCommit(sha string) ([]string, error) {
	list, err := s.argo.ArgoprojV1alpha1().Workflows(namespace).List(s.Context(), metav1.ListOptions{LabelSelector: "runhook/ref"})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, w := range list.Items {
		if strings.Contains(w.Annotations["runhook/source"], sha) {
			names = append(names, w.Name)
		}
	}
	return names, nil
}

// arrived waits for the run of a commit, and deletes it at the end of the test.
func (s *site) arrived(sha string) string {
	s.Helper()
	var run string
	s.eventually("the push "+sha+" has arrived", func() error {
		names, err := s.runsOfCommit(sha)
		if err != nil || len(names) != 1 {
			return fmt.Errorf("runs of it: %v, %w", names, err)
		}
		run = names[0]
		return nil
	})
	s.deleteAtEnd(run)
	return run
}

// A Sensor says that it subscribes, not that it has. It is old when its log may
// have lost what it said.
const (
	subscribing = 5 * time.Second
	old         = 5 * time.Minute
)

// subscribed waits until a Sensor gets what is emitted: an event that came
// before its first subscription is not for it.
func (s *site) subscribed(sensor string) {
	s.Helper()
	s.eventually("Sensor "+sensor+" has subscribed", func() error {
		name, err := s.eventsPod("sensor-name=" + sensor)
		if err != nil {
			return err
		}
		pod, err := s.kube.CoreV1().Pods(events).Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, container := range pod.Status.ContainerStatuses {
			if running := container.State.Running; running != nil && time.Since(running.StartedAt.Time) > old {
				return nil
			}
		}
		lines, err := s.logged(name, "Subscribing to subject")
		if err != nil {
			return err
		}
		var last struct{ TS time.Time }
		if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
			return err
		}
		if age := time.Since(last.TS); age < subscribing {
			return fmt.Errorf("it began %s ago", age)
		}
		return nil
	})
}

// logged gives the lines with a text in the log of a pod of Argo Events.
func (s *site) logged(pod, text string) ([][]byte, error) {
	log, err := s.kube.CoreV1().Pods(events).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(s.Context())
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(text)) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s has not said %q", pod, text)
	}
	return lines, nil
}
