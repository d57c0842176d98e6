package gordo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// given looks flags up in a map.
func given(values map[string]string) Lookup {
	return func(f Flag) (string, bool) {
		v, ok := values[f.Name]
		return v, ok
	}
}

func TestDefaults(t *testing.T) {
	got, err := ParseOptions(given(nil))
	want := Options{
		SplitWorkflows: 30, GordoVersion: "6.0.4", Registry: "ghcr.io", Repository: "equinor",
		RetryDuration: "15s", RetryFactor: 2, ProbeTimeout: 5, ReadinessDelay: 5, LivenessDelay: 600, GracePeriod: 60, TargetCPU: 50,
		MetricsWorkers: 1, Scaler: "k8s_cpu", KedaMetric: "gordo_server_request_duration_seconds_count",
		KedaQuery:     `sum(rate(gordo_server_request_duration_seconds_count{project=~"",path=~".*prediction"}[30s]))`,
		KedaThreshold: "1.0", BuilderEnv: []any{}, LogLevel: "INFO",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestVariables: every flag's variable is gordo's, and the odd ones are odd.
func TestVariables(t *testing.T) {
	odd := map[string]string{
		"workflow-template": "", "argo-binary": "", "resources-labels": "WORKFLOW_GENERATOR_RESOURCE_LABELS",
		"model-builder-class": "MODEL_BUILDER_CLASS", "log-level": "GORDO_LOG_LEVEL",
	}
	for _, f := range Flags {
		want, isOdd := odd[f.Name]
		if !isOdd {
			want = "WORKFLOW_GENERATOR_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		}
		if f.Env != want {
			t.Errorf("--%s is read from %q, want %q", f.Name, f.Env, want)
		}
	}
	for _, name := range []string{"machine-config", "workflow-template", "output-file", "argo-binary"} {
		for _, f := range Flags {
			if f.Name == name && !f.Local {
				t.Errorf("--%s names a file or a program and is not local", name)
			}
		}
	}
}

func TestZeroCountsAsNotGiven(t *testing.T) {
	zeros := map[string]string{}
	for _, name := range []string{"gordo-server-probe-timeout", "gordo-server-readiness-initial-delay", "gordo-server-liveness-initial-delay", "server-termination-grace-period", "prometheus-metrics-server-workers"} {
		zeros[name] = "0"
	}
	zeros["server-target-cpu-utilization-percentage"], zeros["retry-backoff-factor"] = "0", "0"
	o, err := ParseOptions(given(zeros))
	if err != nil || o.ProbeTimeout != 5 || o.ReadinessDelay != 5 || o.LivenessDelay != 600 || o.GracePeriod != 60 || o.MetricsWorkers != 1 || o.TargetCPU != 0 || o.RetryFactor != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestBadFlagsSayWhich(t *testing.T) {
	for name, values := range map[string][]string{
		"n-servers":                 {"many", "-1", "1.5", "9999999999999"},
		"split-workflows":           {"0", "x"},
		"without-prometheus":        {"perhaps"},
		"project-revision":          {"A", "a_b", "a.b", "{{x}}", strings.Repeat("r", 47)},
		"namespace":                 {"A b"},
		"gordo-version":             {"", "x", "pr-"},
		"docker-registry":           {"{{workflow.name}}"},
		"retry-backoff-duration":    {"", "soon", "-5s"},
		"image-pull-policy":         {"never"},
		"ml-server-hpa-type":        {"magic"},
		"keda-prometheus-query":     {"{{ open", "{% if x %}", "{{ a.b }}", "{# x #}"},
		"custom-model-builder-envs": {"{", "{}", `[{"value": "x"}]`, `[1]`},
		"resources-labels":          {"{", `["a"]`, `{"app": "x"}`, `{"a b": "x"}`, `{"a": "b c"}`, "null"},
		"server-labels":             {`{"project": "x"}`},
		"model-builder-labels":      {`{"applications.gordo.equinor.com/model-name": "x"}`},
		"security-context":          {"{", `{"fsGroup": 1}`, `{"runAsGroup": true}`},
		"pod-security-context":      {`{"privileged": true}`},
		"owner-references":          {"[]", "x", "[{}]", "[", `[{uid: u, name: n, kind: k, apiVersion: v, controller: 1}]`},
		"argo-binary":               {"/usr/bin/argo", "argo;x", "kubectl"},
		"log-level":                 {"loud", ""},
	} {
		for _, value := range values {
			_, err := ParseOptions(given(map[string]string{name: value}))
			if err == nil || !strings.Contains(err.Error(), "--"+name) {
				t.Errorf("--%s=%s: %v", name, value, err)
			}
		}
	}
	if _, err := ParseOptions(given(map[string]string{"ml-server-hpa-type": "keda"})); err == nil ||
		!strings.Contains(err.Error(), "--with-keda") || !strings.Contains(err.Error(), "--prometheus-server-address") {
		t.Errorf("keda without what it needs: %v", err)
	}
}

func TestFlagsWithoutEffectMayBeAnythingForNormalize(t *testing.T) {
	o, err := ParseNormal(given(map[string]string{"split-workflows": "0", "resources-labels": "{", "project-name": "p", "default-data-provider": "X"}))
	if err != nil || o.Project != "p" || o.DefaultProvider != "X" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := ParseNormal(given(map[string]string{"custom-model-builder-envs": "{"})); err == nil {
		t.Error("a broken environment of the builder was taken")
	}
}

func TestValuesOfFlags(t *testing.T) {
	o, err := ParseOptions(given(map[string]string{
		"project-name": "p", "keda-prometheus-query": `x{a="{{ project_name }}",b="{{missing}}"}`,
		"resources-labels": `{"num": 5, "flag": true, "none": null, "text": "x"}`, "security-context": `{"runAsGroup": 3000}`, "pod-security-context": "{}",
		"custom-model-builder-envs": `[{"name": "A", "value": 5}]`, "with-keda": "Yes",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if o.KedaQuery != `x{a="p",b=""}` || *o.SecurityContext.RunAsGroup != 3000 || o.PodSecurityContext != nil || !o.WithKeda || len(o.BuilderEnv) != 1 {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff(map[string]string{"num": "5", "flag": "True", "none": "None", "text": "x"}, o.ResourcesLabels); diff != "" {
		t.Error(diff)
	}
	if len(o.Warnings) != 3 || o.Warnings[0].Code != LabelText || !strings.HasPrefix(o.Warnings[0].Path, "--resources-labels.") {
		t.Errorf("warnings %v", o.Warnings)
	}
}
