package generate

import (
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

func TestPolicyOfWhatIsSubmitted(t *testing.T) {
	runtime := func(text string) map[string]any {
		return map[string]any{"config": project + "  runtime: " + text + "\n"}
	}
	option := func(name string, value any) map[string]any {
		return map[string]any{"options": map[string]any{name: value}}
	}
	poor := ci
	poor.Queues, poor.Claims, poor.Secrets = nil, nil, nil
	for name, tc := range map[string]struct {
		more   map[string]any
		caller function.Caller
		kind   fault.Kind
		path   string
	}{
		"fine":                   {map[string]any{}, ci, "", ""},
		"a Secret":               {runtime(`{builder: {env: [{name: T, valueFrom: {secretKeyRef: {name: wandb, key: k}}}]}}`), ci, "", ""},
		"a Secret not listed":    {runtime(`{builder: {env: [{name: T, valueFrom: {secretKeyRef: {name: x, key: k}}}]}}`), ci, fault.Invalid, "spec.config.globals.runtime.builder.env.T.valueFrom.secretKeyRef.name"},
		"a Secret by a flag":     {option("custom-model-builder-envs", []any{map[string]any{"name": "T", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "x", "key": "k"}}}}), ci, fault.Invalid, "spec.config.globals.runtime.builder.env.T.valueFrom.secretKeyRef.name"},
		"a ConfigMap":            {runtime(`{builder: {env: [{name: T, valueFrom: {configMapKeyRef: {name: projects, key: k}}}]}}`), ci, "", ""},
		"a ConfigMap not listed": {runtime(`{builder: {env: [{name: T, valueFrom: {configMapKeyRef: {name: x, key: k}}}]}}`), ci, fault.Invalid, "spec.config.globals.runtime.builder.env.T.valueFrom.configMapKeyRef.name"},
		"a host's folder":        {runtime(`{volumes: [{name: a, emptyDir: {}}, {name: h, hostPath: {path: /}}]}`), ci, fault.Invalid, "spec.config.globals.runtime.volumes[1].hostPath"},
		"a claim not listed":     {runtime(`{volumes: [{name: h, persistentVolumeClaim: {claimName: x}}]}`), ci, fault.Invalid, "spec.config.globals.runtime.volumes[0].persistentVolumeClaim.claimName"},
		"another's claim":        {runtime(`{volumes: [{name: h, persistentVolumeClaim: {claimName: data}}]}`), ci, fault.Forbidden, "spec.config.globals.runtime.volumes[0].persistentVolumeClaim.claimName"},
		"Argo's volume":          {runtime(`{volumes: [{name: var-run-argo, emptyDir: {}}]}`), ci, fault.Invalid, "spec.config.globals.runtime.volumes[0].name"},
		"a label of the builder": {runtime(`{builder: {metadata: {labels: {runhook/run: x}}}}`), ci, fault.Invalid, `spec.config.globals.runtime.builder.metadata.labels["runhook/run"]`},
		"a label":                {option("resources-labels", map[string]any{"kueue.x-k8s.io/queue-name": "x"}), ci, fault.Invalid, `options.resources-labels["kueue.x-k8s.io/queue-name"]`},
		"a namespace":            {option("namespace", "kubeflow"), ci, fault.Invalid, "options.namespace"},
		"the runs' namespace":    {option("namespace", "runs"), ci, "", ""},
		"a security context":     {option("security-context", map[string]any{"privileged": true}), ci, fault.Invalid, "options.security-context"},
		"a pod's":                {option("pod-security-context", map[string]any{"runAsUser": 0}), ci, fault.Invalid, "options.pod-security-context"},
		"nothing made":           {option("split-workflows", -1), ci, fault.Invalid, "options.split-workflows"},
		"a long name":            {map[string]any{"revision": strings.Repeat("1", 46), "projectName": "a-project-of-a-long-name"}, ci, fault.Invalid, ""},
		"no right at all":        {map[string]any{}, poor, fault.Forbidden, "submit"},
	} {
		tc.more["submit"] = true
		on := newCluster()
		_, _, err := ask(on, tc.caller, request(tc.more))
		if tc.kind == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		f := fault.From(err)
		if f == nil || f.Kind != tc.kind || tc.path != "" && f.Problems[0].Path != tc.path || on.created != 0 {
			t.Errorf("%s: %v, want %s", name, err, tc.path)
		}
	}
}

func TestGordosOwnClaimMustBeListed(t *testing.T) {
	strict := settings
	strict.Policy.Claims = nil
	on := newCluster()
	_, err := New(on, on.cancel(), strict).Handle(t.Context(), function.Call{Caller: ci, Body: request(map[string]any{"submit": true})})
	if f := fault.From(err); f == nil || f.Kind != fault.Invalid || f.Problems[0].Path != "submit" || !strings.Contains(err.Error(), "azurefile") {
		t.Error(err)
	}
}
