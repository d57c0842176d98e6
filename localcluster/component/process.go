package component

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/runhook/runhook/localcluster/machine"
)

// Process is a long-running program of a component.
type Process struct {
	// Command is the program and its arguments.
	Command []string
	// Env is added to the environment.
	Env []string
	// Files are written before it starts: path to content.
	Files map[string]string
	// Inherit are open files it is given, from descriptor 3 on.
	Inherit []*os.File `json:"-"`
}

// spec is a hash of all that makes the process what it is.
func (p Process) spec() (string, error) {
	content, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("hash a process: %w", err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(content)), nil
}

// endedError says that a process is gone that should be running.
type endedError struct{ name string }

func (e *endedError) Error() string { return "its process ended" }

// process makes the component of a process: it runs and answers.
func process(name string, needs []string, make func(*Cluster) Process, answers func(context.Context, *Cluster) error) Component {
	return Component{
		Name: name, Needs: needs, Patience: patience,
		Start: func(_ context.Context, c *Cluster) error { return start(c, name, make(c)) },
		Ready: func(ctx context.Context, c *Cluster) error {
			record, err := machine.LoadRecord(recordPath(c, name))
			if err != nil {
				return err
			}
			if !record.Alive() {
				return &endedError{name}
			}
			return answers(ctx, c)
		},
	}
}

func recordPath(c *Cluster, name string) string { return c.Home.Run("pid", name+".json") }

// Record is the process of a component; components without one have the zero Record.
func Record(c *Cluster, name string) (machine.Record, error) {
	return machine.LoadRecord(recordPath(c, name))
}

// start starts the process unless it runs already exactly so.
func start(c *Cluster, name string, p Process) error {
	spec, err := p.spec()
	if err != nil {
		return err
	}
	record, err := machine.LoadRecord(recordPath(c, name))
	if err != nil {
		return err
	}
	if record.Alive() && record.Spec == spec {
		return nil
	}
	if err := record.Stop(); err != nil {
		return err
	}
	for path, content := range p.Files {
		if err := writeFile(path, content); err != nil {
			return err
		}
	}
	pid, err := spawn(c, name, p)
	if err != nil {
		return err
	}
	record, err = machine.NewRecord(pid, spec)
	if err != nil {
		return &endedError{name}
	}
	return record.Save(recordPath(c, name))
}

func spawn(c *Cluster, name string, p Process) (int, error) {
	log, err := openLog(c, name)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	program := p.Command[0]
	if program == self {
		program = c.Program.Path
	}
	cmd := exec.Command(program, p.Command[1:]...)
	cmd.Env = append(plainEnvironment(), p.Env...)
	cmd.Dir = c.Home.State()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = p.Inherit
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives this command and its terminal
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", p.Command[0], err)
	}
	go func() { _ = cmd.Wait() }() // or it would stay as a zombie when it ends while we wait for it
	return cmd.Process.Pid, nil
}

// plainEnvironment keeps what a user has set, a proxy say, out of the cluster.
func plainEnvironment() []string {
	return []string{"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
}

func openLog(c *Cluster, name string) (*os.File, error) {
	path := c.Home.Log(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the logs: %w", err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return log, nil
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
