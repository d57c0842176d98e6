//go:build cluster

package clustertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/runhook/runhook/pkg/watch"
)

// watchProcess is a watch of the test's own.
type watchProcess struct {
	*exec.Cmd
	// keeps is set once no proof passes it.
	keeps atomic.Bool
	kill  func()
}

// Write reads what the watch logs.
func (w *watchProcess) Write(log []byte) (int, error) {
	if bytes.Contains(log, []byte(watch.Keeps)) {
		w.keeps.Store(true)
	}
	return len(log), nil
}

// watch starts a watch of the namespace, with more in its config, that is
// killed at the test's end at the latest.
func (p *play) watch(more string) *watchProcess {
	p.Helper()
	config := filepath.Join(p.TempDir(), "config.yaml")
	must(p.site, os.WriteFile(config, []byte(fmt.Sprintf("namespace: %s\nlisten: 127.0.0.1:0\nmetrics: 127.0.0.1:0\n%s\n", p.namespace, more)), 0o600))
	w := &watchProcess{Cmd: exec.Command(filepath.Join(root, "bin/runhook"), "watch", "-c", config, "--kubeconfig", env(p.T, "KUBECONFIG"))}
	w.Stderr = w
	must(p.site, w.Start())
	w.kill = sync.OnceFunc(func() {
		_ = w.Process.Kill() // it may have ended by itself
		_ = w.Wait()
	})
	p.Cleanup(w.kill)
	return w
}
