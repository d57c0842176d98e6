package workflow

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/gordo"
)

// object is an object of a custom resource, for which there are no types here.
type object struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            map[string]any    `json:"spec"`
}

func (p *Plan) virtualService() object {
	return object{
		metav1.TypeMeta{APIVersion: "networking.istio.io/v1alpha3", Kind: "VirtualService"},
		p.meta(host, host, "VirtualService", "model-server"),
		map[string]any{
			"gateways": []string{"istio-system/istio-gateway"},
			"hosts":    []string{"*"},
			"http": []any{map[string]any{
				"match": []any{map[string]any{"uri": map[string]any{"regex": "/gordo/v0/" + p.project.Name + "/.+"}}},
				"route": []any{map[string]any{"destination": map[string]any{"host": host, "port": map[string]any{"number": 80}}}},
			}},
		},
	}
}

func (p *Plan) serviceMonitor() object {
	return object{
		metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: "ServiceMonitor"},
		p.meta(host+"-monitor", host, "ServiceMonitor", "model-server-monitor"),
		map[string]any{
			"endpoints": []any{map[string]any{"port": "metrics-gordo", "path": "/metrics"}},
			"selector":  map[string]any{"matchLabels": map[string]any{gordo.LabelApp: host}},
		},
	}
}

func (p *Plan) scaledObject() object {
	address := p.options.PrometheusAddress
	if address == "" {
		address = "None" // gordo's word; the object is applied only with an address
	}
	return object{
		metav1.TypeMeta{APIVersion: "keda.sh/v1alpha1", Kind: "ScaledObject"},
		p.meta("gordoserver-scaled-object-"+p.project.Name, host, "service", "model-server"),
		map[string]any{
			"scaleTargetRef":  map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": host},
			"minReplicaCount": 1, "maxReplicaCount": 20, "pollingInterval": 30, "cooldownPeriod": 600,
			"triggers": []any{map[string]any{"type": "prometheus", "metadata": map[string]any{
				"serverAddress": address, "metricName": p.options.KedaMetric,
				"query": p.options.KedaQuery, "threshold": p.options.KedaThreshold,
			}}},
		},
	}
}

// modelManifest is the Model of a machine. The machine comes in as JSON, and
// JSON stands where JSON does, so that the manifest stays JSON.
func (p *Plan) modelManifest() string {
	name := placeholder("model-name")
	meta := p.meta(p.project.Name+"-"+name, name, "model", "model")
	meta.Labels[gordo.LabelModel] = name
	const here = "@config@"
	text := manifest(object{metav1.TypeMeta{APIVersion: "equinor.com/v1", Kind: "Model"}, meta,
		map[string]any{"gordo-version": p.tag, "config": here}})
	return strings.Replace(text, strconv.Quote(here), placeholder("config"), 1)
}

// modelNames is the annotation that names the machines of a part, in Python's
// spelling.
func modelNames(machines []gordo.Machine) string {
	names := make([]string, len(machines))
	for i := range machines {
		names[i] = strconv.Quote(machines[i].Name)
	}
	return "[" + strings.Join(names, ", ") + "]"
}
