package component

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/localcluster/layout"
)

// kueue is Kueue's controller, managing the pods of the runs' namespace.
func kueue() Component {
	return deployment("kueue", nil, controller{"kueue-system", "kueue-controller-manager", ":8081/readyz"}, startKueue)
}

func startKueue(ctx context.Context, c *Cluster) error {
	base, err := upstream(c, "kueue", "kueue", "default")
	if err != nil {
		return err
	}
	objects, err := render(ctx, c, "kueue", kueueKustomization(base), trimWebhooks)
	if err != nil {
		return err
	}
	return apply(ctx, c, "kueue", objects)
}

// The user is given because an image made of one binary has none.
const kueueTemplate = `resources: [${BASE}]
patches:
- target: {kind: Deployment, name: kueue-controller-manager}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "${REGISTRY}/${IMAGE}"}
    - {op: replace, path: /spec/template/spec/containers/0/imagePullPolicy, value: IfNotPresent}
    - {op: replace, path: /spec/template/spec/containers/0/resources, value: {requests: {cpu: 50m, memory: 128Mi}}}
    - {op: add, path: /spec/template/spec/securityContext/runAsUser, value: 65532}
    - {op: replace, path: /spec/template/spec/containers/0/readinessProbe/periodSeconds, value: 1}
    - {op: replace, path: /spec/replicas, value: 1}
${PINNED}
- target: {kind: ConfigMap, name: kueue-manager-config}
  patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: kueue-manager-config, namespace: kueue-system}
    data:
      controller_manager_config.yaml: |
        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        health: {healthProbeBindAddress: ":8081"}
        metrics: {bindAddress: ":8443", enableClusterQueueResources: true}
        webhook: {port: 9443}
        leaderElection: {leaderElect: false}
        clientConnection: {qps: 50, burst: 100}
        managedJobsNamespaceSelector:
          matchLabels: {kubernetes.io/metadata.name: ${RUNS}}
        integrations:
          frameworks: [pod]
`

func kueueKustomization(base string) string {
	return fill(kueueTemplate, words{
		"BASE": base, "IMAGE": kueueImage,
		"REGISTRY": layout.Registry, "RUNS": layout.RunsNamespace, "PINNED": pinned,
	})
}

// keptWebhooks are those of Kueue's own kinds and of pods. The others fail
// closed for every Deployment and Job while Kueue is down, itself included.
var keptWebhooks = []string{"pod", "clusterqueue", "cohort", "resourceflavor", "workload"}

// trimWebhooks drops the other webhooks, and keeps that of pods to the runs' namespace.
func trimWebhooks(objects string) (string, error) {
	documents := strings.Split(objects, "\n---\n")
	for i, document := range documents {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return "", fmt.Errorf("read Kueue's manifests: %w", err)
		}
		webhooks, ok := object["webhooks"].([]any)
		if !ok {
			continue
		}
		object["webhooks"] = slices.DeleteFunc(webhooks, func(w any) bool { return !keepWebhook(w) })
		trimmed, err := yaml.Marshal(object)
		if err != nil {
			return "", fmt.Errorf("write Kueue's manifests: %w", err)
		}
		documents[i] = strings.TrimSuffix(string(trimmed), "\n")
	}
	return strings.Join(documents, "\n---\n"), nil
}

func keepWebhook(w any) bool {
	webhook, _ := w.(map[string]any)
	name, _ := webhook["name"].(string)
	kind, ok := strings.CutSuffix(name, ".kb.io")
	if !ok || len(kind) < 2 || !slices.Contains(keptWebhooks, kind[1:]) { // m or v, then the kind
		return false
	}
	if kind[1:] == "pod" {
		webhook["namespaceSelector"] = map[string]any{
			"matchLabels": map[string]any{"kubernetes.io/metadata.name": layout.RunsNamespace},
		}
	}
	return true
}
