package workflow

import (
	_ "embed"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/runhook/runhook/pkg/gordo"
)

// store is one of the services that a project's machines write to: a
// StatefulSet of one pod with a disk, and a Service before it.
type store struct {
	name      string // as in gordo-<name>-<project>
	kind      string // what the StatefulSet's labels call it
	component string
	port      int32
	disk      string
	class     string
	pod       corev1.PodSpec // its one container lacks name, ports and mount
	mount     corev1.VolumeMount
}

func (s store) host(project string) string { return "gordo-" + s.name + "-" + project }

func (p *Plan) stores() (influx, grafana, postgres store) {
	http := func(path string, delay, timeout int32) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("api")}},
			InitialDelaySeconds: delay, TimeoutSeconds: timeout,
		}
	}
	influx = store{
		name: "influx", kind: "influxd-deployment", component: "influxdb", port: 8086, disk: "28Gi", class: "managed-premium",
		mount: corev1.VolumeMount{MountPath: "/var/lib/influxdb"},
		pod: corev1.PodSpec{Containers: []corev1.Container{{
			Image: "influxdb:1.8.5-alpine", Resources: p.influx,
			LivenessProbe: http("/ping", 30, 5), ReadinessProbe: http("/ping", 5, 1),
		}}},
	}
	filesystem := int64(472)
	grafana = store{
		name: "grafana", kind: "grafanad-deployment", component: "grafanadb", port: 3000, disk: "1Gi", class: "default",
		mount: corev1.VolumeMount{MountPath: "/var/lib/grafana"},
		pod: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{FSGroup: &filesystem},
			Containers: []corev1.Container{{
				Image: "grafana/grafana:7.5.7", Resources: size("1G", "500m", "2G", "1000m"), ReadinessProbe: http("/login", 5, 1),
				Env: []corev1.EnvVar{
					{Name: "GF_INSTALL_PLUGINS", Value: "grafana-worldmap-panel,flant-statusmap-panel,vonage-status-panel"},
					{Name: "GF_AUTH_ANONYMOUS_ENABLED", Value: "true"},
					{Name: "GF_AUTH_ANONYMOUS_ORG_ROLE", Value: "Admin"},
					{Name: "GF_AUTH_DISABLE_LOGIN_FORM", Value: "true"},
					{Name: "GF_AUTH_BASIC_ENABLED", Value: "false"},
					{Name: "SERVER_ENABLE_GZIP", Value: "true"},
				},
			}},
		},
	}
	ready := func(delay, timeout, period, failures int32) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:        corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "exec pg_isready --host $POD_IP"}}},
			InitialDelaySeconds: delay, TimeoutSeconds: timeout, PeriodSeconds: period, SuccessThreshold: 1, FailureThreshold: failures,
		}
	}
	grace := int64(10)
	postgres = store{
		name: "postgres", kind: "postgresd-deployment", component: "postgresdb", port: 5432, disk: "1Gi", class: "default",
		mount: corev1.VolumeMount{MountPath: "/var/lib/postgresql/data/pgdata", SubPath: "postgres-db"},
		pod: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{
				Image: "postgres:11.2", Resources: size("256Mi", "50m", "500Mi", "200m"),
				LivenessProbe: ready(60, 5, 10, 6), ReadinessProbe: ready(5, 3, 5, 3),
				Env: []corev1.EnvVar{
					{Name: "POSTGRES_USER", Value: "postgres"},
					{Name: "PGUSER", Value: "postgres"},
					{Name: "POSTGRES_DB", Value: "postgres"},
					{Name: "PGDATA", Value: "/var/lib/postgresql/data/pgdata"},
					{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"}}},
				},
			}},
		},
	}
	return influx, grafana, postgres
}

func (p *Plan) storeService(s store) corev1.Service {
	host := s.host(p.project.Name)
	return corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: p.meta(host, host, "service", s.name),
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{gordo.LabelApp: host},
			Ports:    []corev1.ServicePort{{Name: "api", Port: s.port, TargetPort: intstr.FromInt32(s.port)}},
		},
	}
}

func (p *Plan) storeSet(s store) appsv1.StatefulSet {
	host, one := s.host(p.project.Name), int32(1)
	volume := s.name + "-storage-" + p.options.Revision
	s.mount.Name = volume
	c := &s.pod.Containers[0]
	c.Name, c.ImagePullPolicy, c.SecurityContext = host, corev1.PullIfNotPresent, p.options.SecurityContext
	c.Ports = []corev1.ContainerPort{{Name: "api", ContainerPort: s.port}}
	c.VolumeMounts = []corev1.VolumeMount{s.mount}
	claim := p.meta(volume, host, "", "")
	for _, key := range []string{gordo.LabelApp, gordo.LabelName, gordo.LabelComponent} {
		delete(claim.Labels, key)
	}
	claim.Namespace = ""
	claim.Annotations = map[string]string{gordo.LabelProject: p.project.Name, gordo.LabelRevision: p.options.Revision}
	pod := map[string]string{gordo.LabelApp: host}
	for key, value := range p.options.ResourcesLabels {
		pod[key] = value
	}
	return appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: p.meta(host, host, s.component, s.kind),
		Spec: appsv1.StatefulSetSpec{
			Replicas: &one, ServiceName: host,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{gordo.LabelApp: host}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod, OwnerReferences: p.owners}, Spec: s.pod},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: claim, Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				StorageClassName: &s.class,
				Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(s.disk)}},
			}}},
		},
	}
}

//go:embed scripts/influx-database.sh
var influxDatabase string

//go:embed scripts/grafana-sources.sh
var grafanaSources string

// storage are the templates of influx, grafana and postgres, in gordo's order.
func (p *Plan) storage() []wfv1.Template {
	influx, grafana, postgres := p.stores()
	small := size("50M", "10m", "1G", "200m")
	hosts := []corev1.EnvVar{
		{Name: "INFLUX_HOST", Value: influx.host(p.project.Name)},
		{Name: "GRAFANA_HOST", Value: grafana.host(p.project.Name)},
		{Name: "POSTGRES_HOST", Value: postgres.host(p.project.Name)},
	}
	service := func(s store) wfv1.Template {
		return applying("gordo-"+s.name+"-service", manifest(p.storeService(s)))
	}
	set := func(s store) wfv1.Template { return p.statefulSet("gordo-"+s.name+"-statefulset", p.storeSet(s)) }
	whole := func(s store, steps ...string) wfv1.Template {
		t := wfv1.Template{Name: "gordo-" + s.name}
		for _, step := range steps {
			t.Steps = append(t.Steps, sequence(call(t.Name+"-"+step))...)
		}
		return t
	}
	return []wfv1.Template{
		service(influx), set(influx),
		p.script("gordo-influx-database-creator", "gordo-influx-database-creator", influxDatabase, small, hosts[:1]...),
		whole(influx, "statefulset", "service", "database-creator"),
		service(grafana), set(grafana),
		p.script("gordo-grafana-datasource-creator", "gordo-grafana-datasource-creator", grafanaSources, small, hosts...),
		whole(grafana, "service", "statefulset", "datasource-creator"),
		service(postgres), set(postgres),
		whole(postgres, "statefulset", "service"),
	}
}

// storageCleanups delete what older revisions left of the stores; the claims of
// a StatefulSet carry its selector's labels.
func (p *Plan) storageCleanups() []wfv1.Template {
	influx, grafana, postgres := p.stores()
	const kinds = "statefulsets,services,persistentvolumeclaims"
	deadline := intstr.FromInt32(300)
	cleanup := func(name string, hosts string) wfv1.Template {
		t := p.deletion(name, "gordo-"+name, kinds, "--selector="+p.otherRevisions()+",app in ("+hosts+")")
		t.ActiveDeadlineSeconds = &deadline
		return t
	}
	return []wfv1.Template{
		cleanup("influx-cleanup", influx.host(p.project.Name)+","+grafana.host(p.project.Name)),
		cleanup("postgres-cleanup", postgres.host(p.project.Name)),
	}
}
