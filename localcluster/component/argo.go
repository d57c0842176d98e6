package component

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/runhook/runhook/localcluster/layout"
)

// argoWorkflows is Argo's controller as a pod, and its full CRDs: with them the
// API server checks what it is sent.
func argoWorkflows() Component {
	return deployment("argo-workflows", nil, controller{"argo", "workflow-controller", ":6060/healthz"}, startArgo)
}

func startArgo(ctx context.Context, c *Cluster) error {
	definitions, err := argoDefinitions(c)
	if err != nil {
		return err
	}
	if err := apply(ctx, c, "argo-definitions", definitions); err != nil {
		return err
	}
	base, err := upstream(c, "argo-workflows", "argo-workflows", "base", "workflow-controller")
	if err != nil {
		return err
	}
	rbac, err := upstream(c, "argo-workflows", "argo-workflows", "cluster-install-no-crds", "workflow-controller-rbac")
	if err != nil {
		return err
	}
	objects, err := render(ctx, c, "argo-workflows", argoKustomization(base, rbac), asIs)
	if err != nil {
		return err
	}
	return apply(ctx, c, "argo-workflows", argoNamespaces+objects)
}

// argoDefinitions are the full CRDs, put together by hand: kustomize takes
// seconds over their seven megabytes.
func argoDefinitions(c *Cluster) (string, error) {
	paths, err := filepath.Glob(filepath.Join(c.Binaries.Manifests("argo-workflows"), "base", "crds", "full", "argoproj.io_*.yaml"))
	if err != nil || len(paths) == 0 {
		return "", fmt.Errorf("find the CRDs of Argo Workflows: %d files (%v)", len(paths), err)
	}
	var all strings.Builder
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read the CRDs of Argo Workflows: %w", err)
		}
		all.WriteString("---\n")
		all.Write(content)
	}
	return all.String(), nil
}

const argoNamespaces = `apiVersion: v1
kind: Namespace
metadata: {name: argo}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + layout.RunsNamespace + `}
---
apiVersion: v1
kind: Service
metadata: {name: workflow-controller-metrics, namespace: argo}
spec:
  selector: {app: workflow-controller}
  ports: [{name: metrics, port: 9090}]
---
`

// The requeue time is how soon a changed pod is looked at: 10 s by default.
const argoTemplate = `namespace: argo
resources: [${BASE}, ${RBAC}]
patches:
- target: {kind: Deployment, name: workflow-controller}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "${REGISTRY}/${IMAGE}"}
    - {op: add, path: /spec/template/spec/containers/0/imagePullPolicy, value: IfNotPresent}
    - {op: add, path: /spec/template/spec/containers/0/securityContext/runAsUser, value: 8737}
    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: LEADER_ELECTION_DISABLE, value: "true"}}
    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: DEFAULT_REQUEUE_TIME, value: 2s}}
    - {op: replace, path: /spec/template/spec/containers/0/args, value: [--namespaced, --managed-namespace, ${RUNS}, --configmap, workflow-controller-configmap, --executor-image, ${REGISTRY}/${EXECUTOR}, --executor-image-pull-policy, IfNotPresent]}
${PINNED}
- target: {kind: ConfigMap, name: workflow-controller-configmap}
  patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: workflow-controller-configmap}
    data:
      executor: |
        imagePullPolicy: IfNotPresent
        resources: {requests: {cpu: 10m, memory: 64Mi}}
      metricsConfig: |
        enabled: true
        path: /metrics
        port: 9090
        secure: false
`

func argoKustomization(base, rbac string) string {
	return fill(argoTemplate, words{
		"BASE": base, "RBAC": rbac, "IMAGE": argoImage, "EXECUTOR": argoexecImage,
		"REGISTRY": layout.Registry, "RUNS": layout.RunsNamespace, "PINNED": pinned,
	})
}
