package component

import (
	"context"
	"path/filepath"

	"github.com/runhook/runhook/localcluster/binaries"
	"github.com/runhook/runhook/localcluster/images"
	"github.com/runhook/runhook/localcluster/layout"
)

// registry is this program's own command: blobs lie on disk.
func registry() Component {
	return process("registry", []string{"network"}, func(c *Cluster) Process {
		return own(c, "registry", layout.Registry, c.Home.Run("registry"))
	}, answers200("http://"+layout.Registry+"/v2/"))
}

// own is a command of this program that stays running. Its path may differ
// from call to call, so the hash stands for it.
func own(c *Cluster, args ...string) Process {
	return Process{Command: append([]string{self}, args...), Env: []string{"RUNHOOK_PROGRAM=" + c.Program.Hash}}
}

// self stands for this program in a Process.
const self = "localcluster"

// images every cluster holds.
var (
	pauseImage    = "pause:3.10"
	argoexecImage = "argoexec:" + binaries.ArgoWorkflowsVersion
	argoImage     = "workflow-controller:" + binaries.ArgoWorkflowsVersion
	kueueImage    = "kueue:" + binaries.KueueVersion
	eventsImage   = "argo-events:" + binaries.ArgoEventsVersion
	buildctlImage = "buildctl:" + binaries.BuildKitVersion
	busyboxImage  = "busybox:1"
)

// Images are what the cluster ships: its own pods', and a busybox for templates and tests.
func Images(set binaries.Set) []images.Image {
	shell := images.Shell("/usr/bin/busybox")
	return []images.Image{
		{Ref: pauseImage, Entrypoint: []string{"/bin/pause"}, Files: binary(set, "pause")},
		{Ref: busyboxImage, Files: shell},
		{Ref: argoexecImage, Entrypoint: []string{"argoexec"}, Files: append(binary(set, "argoexec"), shell...)},
		{Ref: argoImage, Entrypoint: []string{"workflow-controller"}, Files: binary(set, "workflow-controller")},
		{Ref: kueueImage, Entrypoint: []string{"/manager"}, Files: []images.File{{Path: "manager", From: set.Path("kueue")}}},
		{Ref: buildctlImage, Entrypoint: []string{"buildctl"}, Files: append(binary(set, "buildctl"), shell...)},
		{Ref: eventsImage, Entrypoint: []string{"/bin/argo-events"}, Files: binary(set, "argo-events")},
	}
}

func binary(set binaries.Set, name string) []images.File {
	return []images.File{{Path: filepath.Join("bin", name), From: set.Path(name)}}
}

// shippedImages are those images in the registry.
func shippedImages() Component {
	each := func(do func(context.Context, string, images.Image) error) func(context.Context, *Cluster) error {
		return func(ctx context.Context, c *Cluster) error {
			for _, image := range Images(c.Binaries) {
				if err := do(ctx, layout.Registry, image); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return Component{
		Name: "images", Needs: []string{"registry"}, Patience: patience,
		Start: each(images.Push), Ready: each(images.Pushed),
	}
}
