package gordo

import (
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/version"
)

// fullBuild is the cv_mode of a machine that says nothing of its evaluation.
const fullBuild = "full_build"

// defaultGlobals are gordo's own globals, for a number of machines and for
// images of a version.
func defaultGlobals(machines int, v string) *py.Map {
	image := imageNames(v)
	return py.MapOf(
		"runtime", py.MapOf(
			"reporters", []any{},
			"server", py.MapOf("resources", resources(3000, 1000, 6000, 2000), "image", image.server),
			"prometheus_metrics_server", py.MapOf("resources", resources(200, 100, 1000, 200), "image", image.server),
			"builder", py.MapOf("image", image.builder, "resources", resources(3900, 1001, 31200, 1001),
				"remote_logging", py.MapOf("enable", false)),
			"client", py.MapOf("resources", resources(3500, 100, 4000, 2000), "max_instances", int64(30), "image", image.client),
			"influx", py.MapOf("enable", true, "resources", influxResources(machines)),
			"deployer", py.MapOf("image", image.deployer),
		),
		"evaluation", py.MapOf(
			"cv_mode", fullBuild,
			"scoring_scaler", "sklearn.preprocessing.MinMaxScaler",
			"metrics", []any{"explained_variance_score", "r2_score", "mean_squared_error", "mean_absolute_error"},
		),
	)
}

type images struct{ deployer, server, builder, client string }

// imageNames are gordo's images: one for all since 1.2.0. What is no version
// by PEP 440 (a branch, a commit, latest) is newer than that.
func imageNames(v string) images {
	if parsed, err := version.ParsePEP440(v); err == nil && !parsed.AtLeast(1, 2, 0) {
		return images{"gordo-deploy", "gordo-model-server", "gordo-model-builder", "gordo-client"}
	}
	return images{"gordo-base", "gordo-base", "gordo-base", "gordo-base"}
}
