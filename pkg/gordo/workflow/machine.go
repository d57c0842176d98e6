package workflow

import (
	_ "embed"
	"maps"
	"strconv"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/gordo"
)

// reportFile is where a builder leaves why it failed.
const reportFile = "/tmp/exception.json"

func (p *Plan) modelsDir() string {
	return "/gordo/models/" + p.project.Name + "/models/" + p.options.Revision
}

// mounted are the mounts of a builder and, with what the config adds, its own.
func (p *Plan) mounted() []corev1.VolumeMount {
	return append([]corev1.VolumeMount{{Name: "azurefile", MountPath: "/gordo"}, {Name: "tmpdir", MountPath: "/tmp"}}, p.mounts...)
}

// modelBuilder builds the model of one machine.
func (p *Plan) modelBuilder(part int) wfv1.Template {
	labels := p.podLabels("gordo-model-builder")
	labels[gordo.LabelWorkflow] = strconv.Itoa(part)
	labels[gordo.LabelModel] = placeholder("machine-name")
	maps.Copy(labels, p.builderLabels)
	level := p.project.ReportLevel
	if level == "" {
		level = "TRACEBACK"
	}
	return wfv1.Template{
		Name:          "model-builder",
		Inputs:        parameters("machine-name", "machine"),
		Metadata:      wfv1.Metadata{Labels: labels},
		RetryStrategy: p.retry(retries),
		Tolerations: []corev1.Toleration{{
			Key: "kubernetes.azure.com/scalesetpriority", Operator: corev1.TolerationOpEqual, Value: "spot", Effect: corev1.TaintEffectNoSchedule,
		}},
		Container: &corev1.Container{
			Image: p.builder.image, ImagePullPolicy: p.policy, Command: []string{"build"},
			Env: p.withEnv(
				corev1.EnvVar{Name: "OUTPUT_DIR", Value: p.modelsDir() + "/" + placeholder("machine-name")},
				corev1.EnvVar{Name: "MODEL_REGISTER_DIR", Value: "/gordo/models/" + p.project.Name + "/model_register"},
				corev1.EnvVar{Name: "PROJECT_NAME", Value: p.project.Name},
				corev1.EnvVar{Name: "MACHINE", Value: placeholder("machine")},
				corev1.EnvVar{Name: "AZUREML_WORKSPACE_STR", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "gordo-components-config-map"}, Key: "azureml_workspace_str",
				}}},
				corev1.EnvVar{Name: "GORDO_LOG_LEVEL", Value: p.logLevel},
				corev1.EnvVar{Name: "EXCEPTIONS_REPORTER_FILE", Value: reportFile},
				corev1.EnvVar{Name: "EXCEPTIONS_REPORT_LEVEL", Value: level},
			),
			Resources:              p.builder.resources,
			VolumeMounts:           p.mounted(),
			TerminationMessagePath: reportFile,
			SecurityContext:        p.options.SecurityContext,
		},
	}
}

// withEnv is the environment of a builder or a client: ours, then the config's.
// The variable that stands for a brace must come before what uses it.
func (p *Plan) withEnv(own ...corev1.EnvVar) []corev1.EnvVar { return append(own, p.env...) }

//go:embed scripts/client-waiter.sh
var clientWaiter string

//go:embed scripts/client.sh
var client string

// predicting are the templates of the clients.
func (p *Plan) predicting() []wfv1.Template {
	inputs := []string{"model-name", "train-start-date", "data-provider"}
	limited := wfv1.Template{Name: "gordo-client-para-limited", Inputs: parameters(inputs...)}
	limited.Steps = sequence(call("gordo-client-waiter"), call("gordo-client", "model-name", "data-provider", "train-start-date"))
	waiter := p.script("gordo-client-waiter", "gordo-client-waiter", clientWaiter, size("100M", "2m", "200M", "100m"),
		corev1.EnvVar{Name: "GORDO_PROJECT_NAME", Value: p.project.Name},
		corev1.EnvVar{Name: "GORDO_PROJECT_REVISION", Value: p.options.Revision},
		corev1.EnvVar{Name: "GORDO_MAX_CLIENTS", Value: p.maxClients},
		corev1.EnvVar{Name: "GORDO_TOTAL_NR_OF_CLIENTS", Value: strconv.Itoa(p.clients)},
	)
	predict := p.script("gordo-client", "gordo-client", client, p.client.resources, p.withEnv(
		corev1.EnvVar{Name: "GORDO_CLIENT_TARGET", Value: placeholder("model-name")},
		corev1.EnvVar{Name: "GORDO_TRAIN_START_DATE", Value: placeholder("train-start-date")},
		corev1.EnvVar{Name: "DATA_PROVIDER", Value: placeholder("data-provider")},
		corev1.EnvVar{Name: "GORDO_CLIENT_PROJECT", Value: p.project.Name},
		corev1.EnvVar{Name: "GORDO_CLIENT_HOST", Value: p.serverHost()},
		corev1.EnvVar{Name: "GORDO_CLIENT_PORT", Value: "80"},
		corev1.EnvVar{Name: "GORDO_CLIENT_SCHEME", Value: "http"},
		corev1.EnvVar{Name: "GORDO_CLIENT_PREDICT_INFLUX_URI", Value: ":@gordo-influx-" + p.project.Name + ":8086//feeder"},
		corev1.EnvVar{Name: "GORDO_CLIENT_INFLUX_RECREATE_DB", Value: "true"},
		corev1.EnvVar{Name: "GORDO_CLIENT_METADATA", Value: "version," + p.options.Revision},
		corev1.EnvVar{Name: "GORDO_LOG_LEVEL", Value: p.logLevel},
	)...)
	predict.Inputs = parameters(inputs...)
	predict.Script.Image = p.client.image
	predict.Script.VolumeMounts = p.mounts
	return []wfv1.Template{limited, waiter, predict}
}

func (p *Plan) serverHost() string { return "gordo-srv-" + p.project.Name }
