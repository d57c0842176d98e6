package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
	"github.com/runhook/runhook/localcluster/progress"
)

func downCommand() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Tear the cluster down, leaving only its built binaries", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, unlock, err := claim()
			if err != nil {
				return err
			}
			defer unlock()
			p := progress.New(os.Stderr, time.Now())
			if err := down(cmd.Context(), home); err != nil {
				return err
			}
			p.Line("the cluster is down")
			return nil
		},
	}
}

// down needs no records: the cluster's processes stand in its network
// namespace, its pods and builds in its cgroup, and its mounts in a mount
// namespace that ends with the last of them.
func down(ctx context.Context, home layout.Home) error {
	if err := killMembers(); err != nil {
		return err
	}
	if err := machine.RemoveControlGroup(layout.ControlGroup); err != nil {
		return err
	}
	if err := machine.DeleteNamespace(ctx, layout.Namespace); err != nil {
		return err
	}
	if len(readLines(home.Run(madeNetns))) > 0 {
		if err := machine.RemoveNamespaceFolder(); err != nil {
			return err
		}
	}
	if err := machine.Unmount(home.State()); err != nil {
		return err
	}
	for _, folder := range readLines(home.Run(madeFolders)) {
		// Only an empty one goes: another may have begun to use it.
		if err := os.Remove(folder); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return fmt.Errorf("remove a folder made for the cluster: %w", err)
		}
	}
	if err := os.RemoveAll(home.State()); err != nil {
		return fmt.Errorf("remove the cluster's state: %w", err)
	}
	return nil
}

// killPatience is how long killed processes may take to go.
const killPatience = 10 * time.Second

// killMembers kills without asking, as nothing of the cluster is kept. It
// repeats, as a process may have started another meanwhile.
func killMembers() error {
	for end := time.Now().Add(killPatience); ; time.Sleep(50 * time.Millisecond) {
		pids, err := machine.Members(layout.Namespace)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("processes %v do not end though killed", pids)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d: %w", pid, err)
			}
		}
	}
}
