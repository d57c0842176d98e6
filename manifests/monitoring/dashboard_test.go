package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/metrics"
)

// dashboard is what is read of Grafana's own format.
type dashboard struct {
	Panels []struct {
		Type, Title string
		Targets     []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct {
			Name, Type string
			Query      string
		}
	}
}

// variables are Grafana's, as a query may have them filled in.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", `"$namespace"`, `".*"`, `"$queue"`, `".*"`)

var (
	legendLabel = regexp.MustCompile(`{{(\w+)}}`)
	labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
)

func TestTheDashboardAsksForWhatIsExported(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	e, shown := export(t), map[string]bool{}
	for _, panel := range d.Panels {
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			used, result, problems := e.check(variables.Replace(target.Expr))
			for _, problem := range problems {
				t.Errorf("panel %q: %v", panel.Title, problem)
			}
			for _, metric := range used {
				shown[metric] = true
			}
			for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(result, label[1]) {
					t.Errorf("panel %q: its legend shows a label %s, which it has not", panel.Title, label[1])
				}
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		asked := labelValues.FindStringSubmatch(v.Query)
		if asked == nil {
			t.Fatalf("variable %s is asked for by %q", v.Name, v.Query)
		}
		if _, _, problems := e.check("sum by (" + asked[2] + ") (" + asked[1] + ")"); len(problems) > 0 {
			t.Errorf("variable %s: %v", v.Name, problems)
		}
	}
	for _, m := range slices.Concat(metrics.Table(), metrics.WatchTable()) {
		if !shown[m.Name] {
			t.Errorf("no panel shows %s", m.Name)
		}
	}
}
