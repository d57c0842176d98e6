package workflow

import (
	"strconv"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/gordo"
)

// hostName is the input of every template of the server.
const hostName = "host-name"

// host is where Argo puts the server's name.
var host = placeholder(hostName)

// service is the Service before the server's pods.
func (p *Plan) service() corev1.Service {
	ports := []corev1.ServicePort{{Name: "http-gordo", Port: 80, TargetPort: intstr.FromString("http-api")}}
	if !p.options.WithoutPrometheus {
		ports = append(ports, corev1.ServicePort{Name: "metrics-gordo", Port: 5000, TargetPort: intstr.FromString("metrics")})
	}
	return corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: p.meta(host, host, "service", "model-server"),
		Spec:       corev1.ServiceSpec{Selector: map[string]string{gordo.LabelApp: host}, Ports: ports},
	}
}

// deployment runs the server, and beside it the one that shows its metrics.
func (p *Plan) deployment() appsv1.Deployment {
	one, grace := int32(1), int64(p.options.GracePeriod)
	meta := p.meta(host, host, "server", "model-server-deployment")
	pod := map[string]string{gordo.LabelApp: host, "project": p.project.Name}
	for key, value := range p.options.ResourcesLabels {
		pod[key] = value
	}
	for key, value := range p.options.ServerLabels {
		meta.Labels[key], pod[key] = value, value
	}
	spec := corev1.PodSpec{
		PriorityClassName: "server-priority", TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{p.serverContainer()},
		Volumes: []corev1.Volume{{Name: "gstor", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "azurefile"},
		}}},
	}
	if !p.options.WithoutPrometheus {
		spec.Containers = append(spec.Containers, p.metricsContainer())
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "metrics", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{gordo.LabelApp: host}},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod}, Spec: spec},
		},
	}
}

func (p *Plan) probe(port string, delay int) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthcheck", Port: intstr.FromString(port)}},
		InitialDelaySeconds: int32(delay), TimeoutSeconds: int32(p.options.ProbeTimeout),
	}
}

var metricsDir = corev1.EnvVar{Name: "prometheus_multiproc_dir", Value: "/metrics"}

func (p *Plan) serverContainer() corev1.Container {
	prometheus := !p.options.WithoutPrometheus
	c := corev1.Container{
		Name: "gordoserver-" + p.project.Name, Image: p.server.image, ImagePullPolicy: p.policy,
		Command: []string{"gordo", "run-server"},
		Ports:   []corev1.ContainerPort{{Name: "http-api", ContainerPort: 5555}},
		Env: []corev1.EnvVar{
			{Name: "MODEL_COLLECTION_DIR", Value: p.modelsDir()},
			{Name: "GORDO_LOG_LEVEL", Value: p.logLevel},
			{Name: "EXPECTED_MODELS", Value: p.expected},
			{Name: "PROJECT", Value: p.project.Name},
			{Name: "ENABLE_PROMETHEUS", Value: strconv.FormatBool(prometheus)},
		},
		Resources:       p.server.resources,
		VolumeMounts:    []corev1.VolumeMount{{Name: "gstor", MountPath: "/gordo"}},
		LivenessProbe:   p.probe("http-api", p.options.LivenessDelay),
		ReadinessProbe:  p.probe("http-api", p.options.ReadinessDelay),
		SecurityContext: p.options.SecurityContext,
	}
	if n := p.options.ServerWorkers; n != 0 {
		c.Env = append(c.Env, corev1.EnvVar{Name: "GORDO_SERVER_WORKERS", Value: strconv.Itoa(n)})
	}
	if n := p.options.ServerThreads; n != 0 {
		c.Env = append(c.Env, corev1.EnvVar{Name: "GORDO_SERVER_THREADS", Value: strconv.Itoa(n)})
	}
	if prometheus {
		c.Command = append(c.Command, "--with-prometheus-config")
		c.Env = append(c.Env, metricsDir)
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "metrics", MountPath: "/metrics"})
	}
	return c
}

func (p *Plan) metricsContainer() corev1.Container {
	return corev1.Container{
		Name: "gordoserver-prometheus-" + p.project.Name, Image: p.metrics.image, ImagePullPolicy: p.policy,
		Command: []string{"gordo", "run-server", "--port", "5000", "--workers", strconv.Itoa(p.options.MetricsWorkers), "--threads", "4",
			"--server-app", "gordo.server.prometheus.server:build_app()"},
		Ports:           []corev1.ContainerPort{{Name: "metrics", ContainerPort: 5000}},
		Env:             []corev1.EnvVar{metricsDir},
		Resources:       p.metrics.resources,
		VolumeMounts:    []corev1.VolumeMount{{Name: "metrics", MountPath: "/metrics"}},
		LivenessProbe:   p.probe("metrics", 60),
		ReadinessProbe:  p.probe("metrics", 5),
		SecurityContext: p.options.SecurityContext,
	}
}

func (p *Plan) autoscaler() autoscalingv1.HorizontalPodAutoscaler {
	one, cpu := int32(1), int32(p.options.TargetCPU)
	return autoscalingv1.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: p.meta("gordoserver-scaler-"+p.project.Name, host, "service", "model-server"),
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: host},
			MinReplicas:    &one, MaxReplicas: int32(p.servers), TargetCPUUtilizationPercentage: &cpu,
		},
	}
}

// scalers are the templates of what scales the server, and of what removes it.
func (p *Plan) scalers() []wfv1.Template {
	selector := "--selector=" + gordo.LabelProject + "=" + p.project.Name
	list := []wfv1.Template{applying("gordo-server-hpa", manifest(p.autoscaler()), hostName)}
	cleanups := []wfv1.Template{p.deletion("gordo-server-hpa-cleanup", "gordo-hpa-cleanup", "horizontalpodautoscalers", selector)}
	if p.options.WithKeda {
		list = append(list, applying("gordo-server-keda", manifest(p.scaledObject()), hostName))
		cleanups = append(cleanups, p.deletion("gordo-server-keda-cleanup", "gordo-hpa-cleanup", "scaledobjects.keda.sh", selector))
	}
	return append(list, cleanups...)
}

// serving are the other templates of the server and of the models.
func (p *Plan) serving() []wfv1.Template {
	return []wfv1.Template{
		applying("gordo-server-svc", manifest(p.service()), hostName),
		applying("gordo-server-istio", manifest(p.virtualService()), hostName),
		applying("gordo-model", p.modelManifest(), "model-name", "config"),
		applying("gordo-server-deployment", manifest(p.deployment()), hostName),
		applying("gordo-server-monitor", manifest(p.serviceMonitor()), hostName),
		p.serverSteps(),
	}
}

// serverSteps deploys the server, then all that stands around it.
func (p *Plan) serverSteps() wfv1.Template {
	var around []wfv1.WorkflowStep
	switch p.options.Scaler {
	case gordo.ScalerCPU:
		around = append(around, call("gordo-server-hpa", hostName))
	case gordo.ScalerKeda:
		around = append(around, call("gordo-server-keda", hostName))
	}
	if p.options.WithKeda && p.options.Scaler != gordo.ScalerKeda {
		around = append(around, call("gordo-server-keda-cleanup"))
	}
	if p.options.Scaler != gordo.ScalerCPU {
		around = append(around, call("gordo-server-hpa-cleanup"))
	}
	around = append(around, call("gordo-server-svc", hostName))
	if !p.options.WithoutPrometheus {
		around = append(around, call("gordo-server-monitor", hostName))
	}
	around = append(around, call("gordo-server-istio", hostName))
	t := wfv1.Template{Name: "gordo-server", Inputs: parameters(hostName)}
	t.Steps = append(sequence(call("gordo-server-deployment", hostName)), wfv1.ParallelSteps{Steps: around})
	return t
}
