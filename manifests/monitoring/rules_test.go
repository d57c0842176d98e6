// Package monitoring holds the alert rules, the dashboard and the operator's
// objects against what runhook exports; promtool tries the rules on the cluster.
package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	"sigs.k8s.io/yaml"
)

const ruleFile = "rules/runhook.yaml"

func decode(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// alerts are the rules by their names.
func alerts(t *testing.T) map[string]monitoringv1.Rule {
	t.Helper()
	var file monitoringv1.PrometheusRuleSpec
	decode(t, ruleFile, &file)
	all := map[string]monitoringv1.Rule{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			all[rule.Alert] = rule
		}
	}
	return all
}

func TestTheOperatorsObjectsAreWhatTheySay(t *testing.T) {
	var plain monitoringv1.PrometheusRuleSpec
	var rule monitoringv1.PrometheusRule
	decode(t, ruleFile, &plain)
	decode(t, "prometheusrule.yaml", &rule)
	if diff := cmp.Diff(plain, rule.Spec); diff != "" {
		t.Errorf("the operator's rules are others (make generate): %s", diff)
	}
	var monitor monitoringv1.ServiceMonitor
	decode(t, "servicemonitor.yaml", &monitor)
	if len(monitor.Spec.Endpoints) != 1 || monitor.Spec.Endpoints[0].Port != "metrics" {
		t.Errorf("the monitor reads %+v", monitor.Spec.Endpoints)
	}
	var routes monitoringv1alpha1.AlertmanagerConfig
	decode(t, "alertmanager/alertmanagerconfig.yaml", &routes)
}

// TestRoutesNameAlertsThatThereAre reads every configuration of Alertmanager.
func TestRoutesNameAlertsThatThereAre(t *testing.T) {
	rules := alerts(t)
	named := regexp.MustCompile(`Runhook\w+`)
	for _, file := range []string{"alertmanager/alertmanager.yaml", "alertmanager/alertmanagerconfig.yaml", "../overlays/local/alertmanager.yaml", "dashboard.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := named.FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no alert", file)
		}
		for _, name := range names {
			if _, ok := rules[name]; !ok {
				t.Errorf("%s: no rule makes an alert %s", file, name)
			}
		}
	}
}

var annotationLabel = regexp.MustCompile(`\$labels\.(\w+)`)

func TestEveryAlertSaysWhatToDo(t *testing.T) {
	page, err := os.ReadFile("../../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	e, used := export(t), map[string]bool{}
	for name, rule := range alerts(t) {
		metrics, result, problems := e.check(rule.Expr.String())
		for _, problem := range problems {
			t.Errorf("%s: %v", name, problem)
		}
		for _, metric := range metrics {
			used[metric] = true
		}
		if severity := rule.Labels["severity"]; !slices.Contains([]string{"info", "warning", "critical"}, severity) {
			t.Errorf("%s has severity %q", name, severity)
		}
		for _, annotation := range []string{"summary", "description"} {
			text := rule.Annotations[annotation]
			if text == "" {
				t.Errorf("%s has no %s", name, annotation)
			}
			for _, label := range annotationLabel.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(result, label[1]) {
					t.Errorf("%s: its %s shows a label %s, which it has not", name, annotation, label[1])
				}
			}
		}
		if want := "https://github.com/runhook/runhook/blob/main/docs/alerts.md#" + strings.ToLower(name); rule.Annotations["runbook_url"] != want {
			t.Errorf("the runbook of %s is %q, want %s", name, rule.Annotations["runbook_url"], want)
		}
		if !strings.Contains(string(page), "\n### "+name+"\n") {
			t.Errorf("docs/alerts.md has no section %s", name)
		}
	}
	for _, must := range []string{
		"runhook_attempts_ended_total", "runhook_runs_preempted_repeatedly", "runhook_preempted_oldest_seconds", "runhook_false_successes_total",
		"runhook_watch_lag_seconds", "runhook_watch_leader", "runhook_evidence_dropped_total", "runhook_events_total", "runhook_hooks_total",
	} {
		if !used[must] {
			t.Errorf("no alert reads %s", must)
		}
	}
}

// TestEveryAlertIsTried looks for a moment at which promtool wants the alert to
// fire, and for one at which it wants it not to.
func TestEveryAlertIsTried(t *testing.T) {
	files, err := filepath.Glob("tests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	asked := regexp.MustCompile(`alertname=~?"([^"]+)"`)
	for _, file := range files {
		var tests struct {
			Tests []struct {
				Moments []struct {
					Expr    string `json:"expr"`
					Samples []struct {
						Labels string `json:"labels"`
					} `json:"exp_samples"`
				} `json:"promql_expr_test"`
			} `json:"tests"`
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &tests); err != nil {
			t.Fatal(file, err)
		}
		for _, test := range tests.Tests {
			for _, moment := range test.Moments {
				names := asked.FindStringSubmatch(moment.Expr)
				if names == nil {
					t.Fatalf("%s asks for no alert: %s", file, moment.Expr)
				}
				for name := range strings.SplitSeq(names[1], "|") {
					silent[name] = silent[name] || len(moment.Samples) == 0
					for _, sample := range moment.Samples {
						fires[name] = fires[name] || strings.Contains(sample.Labels, `alertstate="firing"`)
					}
				}
			}
		}
	}
	for name := range alerts(t) {
		if !fires[name] || !silent[name] {
			t.Errorf("%s: a test in which it fires: %v, and in which it does not: %v", name, fires[name], silent[name])
		}
	}
}
