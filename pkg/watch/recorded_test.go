package watch

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/metrics"
	"github.com/runhook/runhook/pkg/status/recorded"
)

// moments are the snapshots of a case that was recorded on a real cluster.
type moments struct{ recorded.Moments }

func recording(t testing.TB, name string) moments { return moments{recorded.Read(t, name)} }

// workflow gives a Workflow as the cache would hold it.
func (m moments) workflow(t testing.TB, file, name string) *workflow {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(m.Moments[file], &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range append(list.Items, m.Moments[file]) {
		w := &workflow{}
		if err := json.Unmarshal(item, w); err != nil {
			t.Fatal(err)
		}
		if w.Name == name {
			if w.fault != nil {
				t.Fatal(w.fault)
			}
			return w
		}
	}
	t.Fatalf("%s holds no Workflow %s", file, name)
	return nil
}

// pods gives the pods of a Workflow as the cache would hold them.
func (m moments) pods(t testing.TB, file, name string) []corev1.Pod {
	t.Helper()
	pods := slices.DeleteFunc(m.Pods(t, file), func(p corev1.Pod) bool { return p.Labels[cause.WorkflowLabel] != name })
	for i := range pods {
		slim, err := trimPod(&pods[i])
		if err != nil {
			t.Fatal(err)
		}
		pods[i] = *slim.(*corev1.Pod)
	}
	return pods
}

func annotate(w *workflow, evidence string) {
	if evidence == "" {
		return
	}
	state := *w.state()
	state.Metadata.Annotations = maps.Clone(state.Metadata.Annotations)
	if state.Metadata.Annotations == nil {
		state.Metadata.Annotations = map[string]string{}
	}
	state.Metadata.Annotations[cause.Annotation] = evidence
	w.held.Store(&state)
}

// counted gives the series of the watch that are not 0, but for times.
func counted(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	families, err := m.Registry().(*prometheus.Registry).Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]float64{}
	for _, family := range families {
		name := family.GetName()
		if !strings.HasPrefix(name, "runhook_") || name == "runhook_build_info" || strings.HasSuffix(name, "_lag_seconds") || strings.HasSuffix(name, "_oldest_seconds") {
			continue
		}
		for _, metric := range family.GetMetric() {
			value := metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			suffix := ""
			if family.GetType() == dto.MetricType_HISTOGRAM {
				value, suffix = float64(metric.GetHistogram().GetSampleCount()), "_count"
			}
			if value == 0 {
				continue
			}
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+`="`+label.GetValue()+`"`)
			}
			text := ""
			if len(labels) > 0 {
				text = "{" + strings.Join(labels, ",") + "}"
			}
			series[name+suffix+text] = value
		}
	}
	return series
}
