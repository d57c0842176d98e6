package component

import (
	"context"

	"github.com/runhook/runhook/localcluster/layout"
)

// argoEvents is Argo Events' controller as a pod and an event bus on the cluster's NATS.
func argoEvents() Component {
	return deployment("argo-events", []string{"nats"}, controller{"argo-events", "controller-manager", ":8081/readyz"}, startEvents)
}

func startEvents(ctx context.Context, c *Cluster) error {
	base, err := upstream(c, "argo-events", "argo-events", "cluster-install")
	if err != nil {
		return err
	}
	objects, err := render(ctx, c, "argo-events", eventsKustomization(base), asIs)
	if err != nil {
		return err
	}
	if err := apply(ctx, c, "argo-events", eventsNamespace+objects); err != nil {
		return err
	}
	return apply(ctx, c, "event-bus", eventBus)
}

const eventsNamespace = `apiVersion: v1
kind: Namespace
metadata: {name: argo-events}
---
`

// The controller ends at once without at least one version of each kind of bus,
// so both are named though neither is used.
const eventsTemplate = `resources: [${BASE}]
patches:
- target: {kind: Deployment, name: controller-manager}
  patch: |
    - {op: replace, path: /spec/template/spec/containers/0/image, value: "${REGISTRY}/${IMAGE}"}
    - {op: replace, path: /spec/template/spec/containers/0/imagePullPolicy, value: IfNotPresent}
${PINNED}
- target: {kind: Deployment, name: controller-manager}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: controller-manager}
    spec:
      template:
        spec:
          containers:
          - name: controller-manager
            env: [{name: ARGO_EVENTS_IMAGE, value: "${REGISTRY}/${IMAGE}"}]
- target: {kind: ConfigMap, name: argo-events-controller-config}
  patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: argo-events-controller-config}
    data:
      controller-config.yaml: |
        eventBus:
          nats:
            versions:
            - {version: unused, natsStreamingImage: unused, metricsExporterImage: unused}
          jetstream:
            settings: ""
            streamConfig: ""
            versions:
            - {version: unused, natsImage: unused, metricsExporterImage: unused, configReloaderImage: unused, startCommand: unused}
`

const eventBus = `apiVersion: argoproj.io/v1alpha1
kind: EventBus
metadata: {name: default, namespace: argo-events}
spec:
  jetstreamExotic:
    url: nats://` + natsAddress + `
    streamConfig: |
      maxMsgs: 50000
      maxAge: 168h
      maxBytes: -1
      replicas: 1
      duplicates: 300s
      retention: 0
      discard: 0
`

func eventsKustomization(base string) string {
	return fill(eventsTemplate, words{
		"BASE": base, "IMAGE": eventsImage, "REGISTRY": layout.Registry, "PINNED": pinned,
	})
}
