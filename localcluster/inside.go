package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/component"
	"github.com/runhook/runhook/localcluster/images"
	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
	"github.com/runhook/runhook/localcluster/progress"
)

// The commands here run inside the cluster's namespaces; up and status start them.

func bootCommand() *cobra.Command {
	var place place
	var since string
	var fresh bool
	command := &cobra.Command{
		Use: "boot", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			listeners, err := component.Inherited()
			if err != nil {
				return err
			}
			start, err := time.Parse(time.RFC3339Nano, since)
			if err != nil {
				return fmt.Errorf("read --since: %w", err)
			}
			c, err := newCluster(place)
			if err != nil {
				return err
			}
			c.Listeners = listeners
			if fresh {
				if err := furnish(c.Home); err != nil {
					return err
				}
			}
			p := progress.New(os.Stderr, start)
			return component.Up(cmd.Context(), c, c.All(), p)
		},
	}
	place.flags(command)
	command.Flags().StringVar(&since, "since", "", "when up began")
	command.Flags().BoolVar(&fresh, "fresh", false, "the mount namespace is new")
	return command
}

// furnish makes a new mount namespace the cluster's.
func furnish(home layout.Home) error {
	if err := machine.CoverFolders(home.Run(resolverFile)); err != nil {
		return err
	}
	name, err := machine.MountNamespace()
	if err != nil {
		return err
	}
	if err := os.WriteFile(home.Run(mountFile), []byte(name), 0o644); err != nil {
		return fmt.Errorf("write the cluster's state: %w", err)
	}
	return nil
}

func inspectCommand() *cobra.Command {
	var place place
	var format string
	command := &cobra.Command{
		Use: "inspect", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newCluster(place)
			if err != nil {
				return err
			}
			return inspect(cmd, c, format)
		},
	}
	place.flags(command)
	formatFlag(command, &format)
	return command
}

// sight is what `status` shows of a component.
type sight struct {
	Name      string `json:"name"`
	PID       int    `json:"pid,omitempty"`
	MemoryMiB int    `json:"memoryMiB,omitempty"`
	Ready     bool   `json:"ready"`
	Detail    string `json:"detail,omitempty"`
}

func inspect(cmd *cobra.Command, c *component.Cluster, format string) error {
	var sights []sight
	unready := 0
	for _, part := range c.All() {
		record, err := component.Record(c, part.Name)
		if err != nil {
			return err
		}
		s := sight{Name: part.Name, Ready: true}
		if record.Alive() {
			s.PID, s.MemoryMiB = record.PID, record.Memory()
		}
		if err := part.Ready(cmd.Context(), c); err != nil {
			s.Ready, s.Detail = false, err.Error()
			unready++
		}
		sights = append(sights, s)
	}
	if err := show(cmd.OutOrStdout(), sights, format); err != nil {
		return fmt.Errorf("print the components: %w", err)
	}
	if unready > 0 {
		return fmt.Errorf("%d components are not ready: run localcluster up; logs are in %s", unready, c.Home.Run("log"))
	}
	return nil
}

func show(w io.Writer, sights []sight, format string) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(sights)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tPID\tMEMORY\tREADY")
	for _, s := range sights {
		pid, memory, ready := "-", "-", "yes"
		if s.PID > 0 {
			pid, memory = fmt.Sprint(s.PID), fmt.Sprintf("%d MiB", s.MemoryMiB)
		}
		if !s.Ready {
			ready = "no: " + s.Detail
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, pid, memory, ready)
	}
	return table.Flush()
}

// place tells a command inside where everything lies: it has no working directory of its own.
type place struct {
	home  layout.Home
	set   binaries.Set
	gitea binaries.Gitea
}

func (p *place) flags(command *cobra.Command) {
	command.Flags().StringVar(&p.home.Dir, "home", "", "the cluster's home")
	command.Flags().StringVar(&p.home.Checkout, "checkout", "", "the repository's root")
	command.Flags().StringVar(&p.set.Dir, "binaries", "", "folder of the binaries")
	command.Flags().StringVar(&p.gitea.Dir, "gitea", "", "folder of Gitea; empty: there is none")
}

func (p place) args() []string {
	return []string{"--home", p.home.Dir, "--checkout", p.home.Checkout, "--binaries", p.set.Dir, "--gitea", p.gitea.Dir}
}

func forwardCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forward", Hidden: true,
		RunE: func(cmd *cobra.Command, targets []string) error {
			listeners, err := component.Inherited()
			if err != nil {
				return err
			}
			return component.Forward(cmd.Context(), listeners, targets)
		},
	}
}

func registryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "registry", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return images.Serve(cmd.Context(), args[0], args[1])
		},
	}
}
