package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	"github.com/argoproj/argo-workflows/v3/pkg/client/informers/externalversions"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/runhook/runhook/pkg/cli"
)

// memory is what a process takes, in bytes.
type memory struct{ Live, Resident, Peak uint64 }

func (m memory) String() string {
	mib := func(b uint64) uint64 { return b >> 20 }
	return fmt.Sprintf("%d MiB | %d MiB | %d MiB |", mib(m.Live), mib(m.Resident), mib(m.Peak))
}

// holder is a process that holds everything until it is told to end.
type holder struct {
	memory  memory
	process *exec.Cmd
	hold    io.Closer
}

// startHolder starts one, and waits until it has said what that takes.
func startHolder(ctx context.Context, what string, args ...string) (*holder, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, append([]string{"-hold", what}, args...)...)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	h := &holder{process: c, hold: stdin}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &h.memory)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", what, err), h.end())
	}
	return h, nil
}

func (h *holder) end() error { return errors.Join(h.hold.Close(), h.process.Wait()) }

// holdAndTell is what a holder does.
func holdAndTell(ctx context.Context, what string, args []string) error {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	var err error
	if what == "watch" {
		err = holdByWatch(ctx, ended, args[0], args[1], args[2])
	} else {
		ended <- nil
		err = holdEverything(ctx, args[0])
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(settled())
	}
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin) // until it is closed
	}
	stop()
	return errors.Join(err, <-ended)
}

// holdEverything is what a program does that takes informers as they come.
func holdEverything(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	argo, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	workflows := externalversions.NewSharedInformerFactoryWithOptions(argo, 0, externalversions.WithNamespace(namespace)).
		Argoproj().V1alpha1().Workflows().Informer()
	pods := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace)).Core().V1().Pods().Informer()
	go workflows.RunWithContext(ctx)
	go pods.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), workflows.HasSynced, pods.HasSynced) {
		return errors.New("the caches cannot be filled")
	}
	return nil
}

// holdByWatch runs the watch as `runhook watch` does, until it is ready and leads.
func holdByWatch(ctx context.Context, ended chan<- error, kubeconfig, dir, sink string) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf("namespace: %s\nlisten: 127.0.0.1:%s\nmetrics: 127.0.0.1:%s\nsinks:\n- {name: bench, type: http, url: %q, types: [runhook.run.failed.v1]}\n",
		namespace, ports[0], ports[1], sink)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	go func() {
		var log bytes.Buffer
		code := cli.Run(ctx, []string{"watch", "-c", file, "--kubeconfig", kubeconfig}, cli.System{Version: "bench", Getenv: os.Getenv, Out: &log, Err: &log})
		if code != 0 {
			ended <- fmt.Errorf("the watch ended with %d: %s", code, log.Bytes()[max(0, log.Len()-2000):])
			return
		}
		ended <- nil
	}()
	return eventually(ctx, func() error {
		response, err := http.Get("http://127.0.0.1:" + ports[1] + "/metrics")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil && !strings.Contains(string(text), "\nrunhook_watch_leader 1\n") {
			err = errors.New("the watch does not lead")
		}
		return err
	})
}

// settled measures when no more garbage is made: what was listed is looked at
// one by one after it.
func settled() memory {
	var now runtime.MemStats
	for before := uint64(0); ; before = now.HeapAlloc {
		debug.FreeOSMemory()
		runtime.ReadMemStats(&now)
		if before > 0 && now.HeapAlloc > before-before/100 && now.HeapAlloc < before+before/100 {
			break
		}
		time.Sleep(2 * time.Second)
	}
	return memory{now.HeapAlloc, ofStatus("VmRSS"), ofStatus("VmHWM")}
}

// ofStatus is what the kernel says of this process.
func ofStatus(field string) uint64 {
	text, _ := os.ReadFile("/proc/self/status")
	found := regexp.MustCompile(`(?m)^` + field + `:\s+(\d+) kB$`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kib, _ := strconv.ParseUint(string(found[1]), 10, 64)
	return kib << 10
}
