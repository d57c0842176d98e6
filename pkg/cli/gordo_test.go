package cli

import (
	"strings"
	"testing"
)

const aProject = `machines:
- name: pump
  model: {sklearn.decomposition.PCA: {}}
  dataset:
    tags: [a, b]
    data_provider: {type: RandomDataProvider}
    train_start_date: 2020-01-01T00:00:00+00:00
    train_end_date: 2020-02-01T00:00:00+00:00
`

func TestProjects(t *testing.T) {
	config := file(t, "config.yaml", aProject)
	for command, want := range map[string]string{"normalize": `"name": "pump"`, "generate": "kind: Workflow"} {
		got := runhook(t, "", command, config, "--project-name", "p")
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("%s: %d, %s%.300s", command, got.code, got.err, got.out)
		}
		if got := runhook(t, "", command, config, "--nothing"); got.code != 2 {
			t.Errorf("%s with an unknown flag: %+v", command, got)
		}
		if got := runhook(t, "", command, file(t, "empty.yaml", "machines: 7"), "--project-name", "p"); got.code != 1 || got.out != "" {
			t.Errorf("%s of what is no config: %+v", command, got)
		}
	}
}
