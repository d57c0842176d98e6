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
	return &cobra.Command{
		Use: "up", Short: "Bring the cluster up, or repair a running one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, unlock, err := claim()
			if err != nil {
				return err
			}
			defer unlock()
			return up(cmd.Context(), home, progress.New(os.Stderr, time.Now()))
		},
	}
}

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
func up(ctx context.Context, home layout.Home, p *progress.Printer) error {
	if err := checkBoot(home); err != nil {
		return err
	}
	if err := installPackages(ctx, home, p); err != nil {
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
	return enter(ctx, home, set, p)
}

// installPackages installs the Debian packages that are missing.
func installPackages(ctx context.Context, home layout.Home, p *progress.Printer) error {
	missing := machine.Missing(ctx, machine.Packages)
	if len(missing) == 0 {
		return nil
	}
	log := home.Dir + "/packages.log"
	return p.During("install "+strings.Join(missing, " "), func() error {
		return machine.Install(ctx, missing, log)
	})
}

// enter makes the namespaces and runs boot in them.
func enter(ctx context.Context, home layout.Home, set binaries.Set, p *progress.Printer) error {
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
	c, err := newCluster(home, set)
	if err != nil {
		return err
	}
	listeners, err := component.Listen(c)
	if err != nil {
		return err
	}
	args := append([]string{"boot", "--since", p.Start().Format(time.RFC3339Nano)}, place{home, set}.args()...)
	if way.Fresh {
		args = append(args, "--fresh")
	}
	cmd := way.Command(ctx, c.Program.Path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	component.HandOver(cmd, listeners)
	return quiet(cmd.Run())
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
