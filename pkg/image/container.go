package image

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Where things lie in the build's container.
const (
	contextFolder = "/context"
	loginFolder   = "/registry-auth"
	scratchFolder = "/tmp"
)

// script is all that the shell reads: what a caller says reaches it as
// arguments, which it never looks into. It is here since buildctl replaces its
// metadata file, and a mounted file, as the termination message is one, can
// only be written to.
const script = `buildctl "$@" --metadata-file ` + scratchFolder + `/metadata && cat ` + scratchFolder + `/metadata > ` + corev1.TerminationMessagePathDefault

// container is the name of the build's one container, argoContainer what Argo
// calls it in a run.
const (
	container     = "build"
	argoContainer = "main"
)

// Arguments are buildctl's for a build.
func (s Settings) Arguments(build Build) []string {
	args := []string{"--addr", s.Address, "build", "--progress", "plain", "--frontend", "dockerfile.v0"}
	if build.Git != nil {
		args = append(args, "--opt", "context="+build.Git.context())
	} else {
		args = append(args, "--local", "context="+contextFolder, "--local", "dockerfile="+contextFolder)
	}
	for _, name := range build.Args.names() {
		args = append(args, "--opt", "build-arg:"+name+"="+build.Args[name])
	}
	output := "type=image,name=" + build.Ref.String() + ",push=true"
	if s.Registry.PlainHTTP {
		output += ",registry.insecure=true"
	}
	return append(args, "--output", output)
}

// Pod is the pod that lets BuildKit build: a client that needs no right on the
// cluster, and the only pod that sees the registry's Secret.
func (s Settings) Pod(build Build) corev1.PodSpec {
	pod := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(int64(1)), // there is nothing to save
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{
			Name:    container,
			Image:   s.Image,
			Command: []string{"sh", "-c", script, "sh"},
			Args:    unexpanded(s.Arguments(build)),
			Env:     []corev1.EnvVar{{Name: "HOME", Value: scratchFolder}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: scratchFolder}},
		}},
	}
	if build.Git == nil {
		mountFiles(&pod, build)
	}
	if s.Registry.Auth != "" {
		mountLogin(&pod, s.Registry.Auth)
	}
	return pod
}

// unexpanded writes text so that Kubernetes, which expands $(NAME) in
// arguments, gives it back as it was.
func unexpanded(args []string) []string {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$", "$$")
	}
	return args
}

// mountFiles mounts every file by itself: a ConfigMap as a whole is a folder
// of links into hidden folders, and BuildKit would take all of that for the
// context.
func mountFiles(pod *corev1.PodSpec, build Build) {
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "context", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: build.Name()}},
	}})
	for _, name := range slices.Sorted(maps.Keys(build.Files)) {
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{
			Name: "context", MountPath: contextFolder + "/" + name, SubPath: name, ReadOnly: true,
		})
	}
}

func mountLogin(pod *corev1.PodSpec, secret string) {
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "login", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{
			SecretName: secret,
			Items:      []corev1.KeyToPath{{Key: corev1.DockerConfigJsonKey, Path: "config.json"}},
		},
	}})
	c := &pod.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "login", MountPath: loginFolder, ReadOnly: true})
	c.Env = append(c.Env, corev1.EnvVar{Name: "DOCKER_CONFIG", Value: loginFolder})
}
