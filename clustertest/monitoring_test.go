//go:build cluster

package clustertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const monitoring = root + "/manifests/monitoring"

// matching are the files of a pattern, of which there has to be one.
func matching(t *testing.T, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file, %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// TestTheirOwnToolsReadTheFiles lets promtool try every rule, and amtool read
// every configuration. Both come with Debian's packages of the cluster.
func TestTheirOwnToolsReadTheFiles(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{
		append([]string{"promtool", "check", "rules"}, matching(t, monitoring+"/rules/*.yaml")...),
		append([]string{"promtool", "test", "rules"}, matching(t, monitoring+"/tests/*.yaml")...),
		append([]string{"amtool", "check-config"}, matching(t, monitoring+"/alertmanager/alertmanager.yaml", root+"/manifests/overlays/*/alertmanager.yaml")...),
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
}

// TestPrometheusHasTheRules looks at what the Prometheus of the cluster makes of
// the rules.
func TestPrometheusHasTheRules(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var file monitoringv1.PrometheusRuleSpec
	for _, path := range matching(t, monitoring+"/rules/*.yaml") {
		text, err := os.ReadFile(path)
		must(s, err)
		must(s, yaml.UnmarshalStrict(text, &file))
	}
	s.eventually("Prometheus has evaluated every rule", func() error {
		var loaded struct {
			Data struct {
				Groups []struct {
					Rules []struct{ Name, Health, LastError string }
				}
			}
		}
		s.ask("RUNHOOK_PROMETHEUS", "/api/v1/rules?type=alert", &loaded)
		health := map[string]string{}
		for _, group := range loaded.Data.Groups {
			for _, rule := range group.Rules {
				health[rule.Name] = rule.Health + rule.LastError
			}
		}
		for _, group := range file.Groups {
			for _, rule := range group.Rules {
				if health[rule.Alert] != "ok" {
					return fmt.Errorf("%s is %q", rule.Alert, health[rule.Alert])
				}
			}
		}
		return nil
	})
}

// TestPrometheusAnswersTheDashboard asks the Prometheus of the cluster every
// query of the dashboard.
func TestPrometheusAnswersTheDashboard(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	out, err := exec.Command("kubectl", "kustomize", monitoring).Output()
	must(s, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	for document := range bytes.SplitSeq(out, []byte("\n---\n")) {
		var object corev1.ConfigMap
		must(s, yaml.Unmarshal(document, &object))
		if object.Kind == "ConfigMap" && object.Labels["grafana_dashboard"] != "" {
			must(s, json.Unmarshal([]byte(object.Data["runhook.json"]), &board))
		}
	}
	fill, asked := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$namespace", ".*", "$queue", ".*"), 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			asked++
			var got struct {
				Data struct{ Result []any }
			}
			s.eventually("panel "+panel.Title+" shows something", func() error {
				s.ask("RUNHOOK_PROMETHEUS", "/api/v1/query?query="+url.QueryEscape(fill.Replace(target.Expr)), &got)
				if len(got.Data.Result) == 0 {
					return fmt.Errorf("%s gives nothing", target.Expr)
				}
				return nil
			})
		}
	}
	if asked == 0 {
		t.Error("kustomize gives no dashboard")
	}
}
