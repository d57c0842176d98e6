package functions

import (
	buildimage "github.com/runhook/runhook/functions/build-image"
	hasimage "github.com/runhook/runhook/functions/has-image"
	"github.com/runhook/runhook/pkg/cluster"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/image/registry"
)

// Images is how the config has images built and asked for.
func Images(c *config.Config) image.Settings {
	return image.Settings{
		Registry: image.Registry(c.Cluster.Registry),
		Address:  c.Build.Address,
		Image:    c.Build.Image,
		Timeout:  c.Build.Timeout.Duration,
		Hosts:    image.GitHosts{TLS: c.Build.GitHosts, Plain: c.Build.PlainHosts},
	}
}

// images are the functions that share one client of the registry.
func images(c *config.Config, on *cluster.Cluster, asked *registry.Client) []function.Function {
	settings := Images(c)
	return []function.Function{
		buildimage.New(on, asked, settings),
		hasimage.New(asked, settings.Registry),
	}
}
