package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/component"
	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
	"github.com/runhook/runhook/localcluster/progress"
)

func upCommand() *cobra.Command {
	var with []string
	command := &cobra.Command{
		Use: "up", Short: "Bring the cluster up, or repair a running one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, unlock, err := claim()
			if err != nil {
				return err
			}
			defer unlock()
			for _, what := range with {
				if what != withGitea {
					return fmt.Errorf("--with %s: there is %s only", what, withGitea)
				}
			}
			return up(cmd.Context(), home, len(with) > 0, progress.New(os.Stderr, time.Now()))
		},
	}
	command.Flags().StringSliceVar(&with, "with", nil, "what else the cluster is to have from now on: "+withGitea)
	return command
}

// withGitea asks for the git host, which takes minutes to build.
const withGitea = "gitea"

// claim is what up and down begin with.
func claim() (layout.Home, func(), error) {
	if os.Geteuid() != 0 {
		return layout.Home{}, nil, fmt.Errorf("the cluster needs namespaces and mounts: run localcluster as root")
	}
	home, err := layout.Find()
	if err != nil {
		return layout.Home{}, nil, err
	}
	unlock, err := machine.Lock(home.Lock())
	return home, unlock, err
}

// up does what is done on the machine itself and then continues inside.
func up(ctx context.Context, home layout.Home, gitea bool, p *progress.Printer) error {
	if err := checkBoot(home); err != nil {
		return err
	}
	if err := installPackages(ctx, home, machine.Packages, p); err != nil {
		return err
	}
	if err := machine.LoadModules(ctx); err != nil {
		return err
	}
	set, err := binaries.Ensure(ctx, home, p)
	if err != nil {
		return err
	}
	if err := checkBinaries(home, set); err != nil {
		return err
	}
	host, err := ensureGitea(ctx, home, gitea, p)
	if err != nil {
		return err
	}
	return enter(ctx, place{home, set, host}, p)
}

// ensureGitea builds Gitea if it is asked for, or the cluster has one already.
func ensureGitea(ctx context.Context, home layout.Home, asked bool, p *progress.Printer) (binaries.Gitea, error) {
	if !asked && !giteaOf(home).Wanted() {
		return binaries.Gitea{}, nil
	}
	if err := installPackages(ctx, home, machine.Compilers, p); err != nil {
		return binaries.Gitea{}, err
	}
	host, err := binaries.EnsureGitea(ctx, home, p)
	if err != nil {
		return binaries.Gitea{}, err
	}
	if err := os.WriteFile(home.Run(giteaFile), []byte(host.Dir), 0o644); err != nil {
		return binaries.Gitea{}, fmt.Errorf("write the cluster's state: %w", err)
	}
	return host, nil
}

// installPackages installs the Debian packages that are missing.
func installPackages(ctx context.Context, home layout.Home, packages []string, p *progress.Printer) error {
	missing := machine.Missing(ctx, packages)
	if len(missing) == 0 {
		return nil
	}
	log := home.Dir + "/packages.log"
	return p.During("install "+strings.Join(missing, " "), func() error {
		return machine.Install(ctx, missing, log)
	})
}

// enter makes the namespaces and runs boot in them.
func enter(ctx context.Context, at place, p *progress.Printer) error {
	home := at.home
	if !machine.NamespaceFolderExists() {
		if err := addLines(home.Run(madeNetns), []string{"yes"}); err != nil {
			return err
		}
	}
	if err := machine.EnsureNamespace(ctx, layout.Namespace); err != nil {
		return err
	}
	way, err := entry(home)
	if err != nil {
		return err
	}
	if way.Fresh {
		if err := prepareFresh(home); err != nil {
			return err
		}
	}
	c, err := newCluster(at)
	if err != nil {
		return err
	}
	listeners, err := component.Listen(c)
	if err != nil {
		return err
	}
	args := append([]string{"boot", "--since", p.Start().Format(time.RFC3339Nano)}, at.args()...)
	if way.Fresh {
		args = append(args, "--fresh")
	}
	cmd := way.Command(ctx, c.Program.Path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	component.HandOver(cmd, listeners)
	if err := quiet(cmd.Run()); err != nil {
		return err
	}
	p.Line(`the cluster is up: eval "$(%s env)"`, os.Args[0])
	return nil
}

// prepareFresh clears what a cluster left of which no process lives any more,
// and readies the folders that will be covered.
func prepareFresh(home layout.Home) error {
	if err := machine.RemoveControlGroup(layout.ControlGroup); err != nil {
		return err
	}
	made, err := machine.MakeCovered()
	if err != nil {
		return err
	}
	if err := addLines(home.Run(madeFolders), made); err != nil {
		return err
	}
	return os.WriteFile(home.Run(resolverFile), []byte(component.Resolver), 0o644)
}
