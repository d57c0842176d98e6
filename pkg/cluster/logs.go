package cluster

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
)

// Log gives what a container has printed: of its last lines (nil: of all) the
// first bytes.
func (c *Cluster) Log(ctx context.Context, pod, container string, lines *int64, bytes int64) ([]byte, error) {
	options := &corev1.PodLogOptions{Container: container, TailLines: lines, LimitBytes: &bytes}
	stream, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(pod, options).Stream(ctx)
	if err != nil {
		return nil, faultOf(err, "the log of pod "+pod)
	}
	defer stream.Close()
	text, err := io.ReadAll(io.LimitReader(stream, bytes))
	return text, faultOf(err, "the log of pod "+pod)
}

// FollowLog gives what a container has printed, beginning with its last lines
// (nil: all), and what it prints from now on, until it ends or the context does.
func (c *Cluster) FollowLog(ctx context.Context, pod, container string, lines *int64) (io.ReadCloser, error) {
	options := &corev1.PodLogOptions{Container: container, TailLines: lines, Follow: true}
	stream, err := c.streams.CoreV1().Pods(c.namespace).GetLogs(pod, options).Stream(ctx)
	return stream, faultOf(err, "the log of pod "+pod)
}
