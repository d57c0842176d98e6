package gordo

import (
	"strings"
	"testing"
)

// project normalises a config of one machine, given by what is special of it.
func project(t *testing.T, globals, machine string, o Normal) (*Project, error) {
	t.Helper()
	config := "globals: {" + globals + "}\nmachines:\n- name: a\n  <<: {" + machine + "}\n"
	for key, value := range map[string]string{
		"model":   "{sklearn.decomposition.PCA: {}}",
		"dataset": "{type: RandomDataset, train_start_date: 2021-03-01T00:00:00Z, train_end_date: 2021-09-01T00:00:00Z, tags: [A]}",
	} {
		if !strings.Contains(machine, key+":") {
			config += "  " + key + ": " + value + "\n"
		}
	}
	c, err := Load([]byte(config))
	if err != nil {
		t.Fatalf("%v in\n%s", err, config)
	}
	o.Project = "p"
	return Normalize(c, o)
}

const times = "train_start_date: 2021-03-01T00:00:00Z, train_end_date: 2021-09-01T00:00:00Z"

func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		code             Code
		path             string
		globals, machine string
	}{
		{ListMerged, "spec.config.machines[0].evaluation.metrics", "", "evaluation: {metrics: [a]}"},
		{ListMerged, "spec.config.machines[0].dataset.tags", "dataset: {tags: [G]}", "dataset: {type: RandomDataset, tags: [A, B], " + times + "}"},
		{ListMerged, "spec.config.globals.evaluation.metrics", "evaluation: {metrics: []}", ""},
		{GlobalsWin, "spec.config.machines[0].dataset.resolution", "dataset: {resolution: 1H}", "dataset: {type: RandomDataset, resolution: 2H, tags: [A], " + times + "}"},
		{CVModeLost, "spec.config.machines[0].evaluation", "evaluation: {cv_mode: build_only}", ""},
		{ConfigMapValue, "spec.config.globals.runtime.builder.env[0].valueFrom.configMapKeyRef.value", "runtime: {builder: {env: [{name: A, valueFrom: {configMapKeyRef: {key: k, value: v}}}]}}", ""},
		{BuilderKey, "spec.config.globals.runtime.builder.colour", "runtime: {builder: {colour: red}}", ""},
		{LimitRaised, "spec.config.globals.runtime.server.resources.limits.memory", "runtime: {server: {resources: {requests: {memory: 9999}}}}", ""},
		{LimitRaised, "spec.config.machines[0].runtime.x.resources.limits.cpu", "", "runtime: {x: {resources: {requests: {cpu: 2}, limits: {cpu: 1}}}}"},
		{NotAMapping, "spec.config.machines[0].runtime", "", "runtime: ~"},
		{DatasetArgument, "spec.config.machines[0].dataset.colour", "", "dataset: {type: RandomDataset, colour: red, tags: [A], " + times + "}"},
		{ModelUnchecked, `spec.config.machines[0].model["my.Model"]`, "", "model: {my.Model: {}}"},
		{ModelUnchecked, `spec.config.machines[0].model["sklearn.pipeline.Pipeline"].steps[0]["my.Step"]`, "", "model: {sklearn.pipeline.Pipeline: {steps: [{my.Step: {}}]}}"},
		{ProviderUnknown, "spec.config.machines[0].dataset.data_provider.type", "", "dataset: {data_provider: {type: my.LakeProvider}, tags: [A], " + times + "}"},
		{TagsSplit, "spec.config.machines[0].dataset.tags", "", "dataset: {type: RandomDataset, tags: AB, " + times + "}"},
	} {
		p, err := project(t, test.globals, test.machine, Normal{})
		if err != nil {
			t.Errorf("%s: %v", test.code, err)
			continue
		}
		found := false
		for _, w := range p.Warnings {
			found = found || w.Code == test.code && w.Path == test.path
		}
		if !found {
			t.Errorf("%s at %s is missing in %v", test.code, test.path, p.Warnings)
		}
		if err := Strict(p.Warnings); err == nil || !strings.Contains(err.Error(), test.path+": "+string(test.code)) {
			t.Errorf("strict gave %v", err)
		}
	}
}

func TestNothingIsWarnedOfInAPlainConfig(t *testing.T) {
	p, err := project(t, "runtime: {server: {resources: {limits: {memory: 9000}}}}", "metadata: {a: 1}", Normal{})
	if err != nil || len(p.Warnings) > 0 || Strict(p.Warnings) != nil {
		t.Errorf("%v, %v", err, p.Warnings)
	}
}

// TestMistakesAreToldTogether: every mistake of a config, with its path.
func TestMistakesAreToldTogether(t *testing.T) {
	_, err := project(t, "", "model: 5, runtime: {reporters: x}, dataset: {type: RandomDataset, tags: [], filter_periods: {filter_method: x}, "+times+"}", Normal{})
	for _, path := range []string{".model: ", ".runtime.reporters: ", ".dataset.tags: ", ".dataset.filter_periods.filter_method: "} {
		if err == nil || !strings.Contains(err.Error(), "spec.config.machines[0]"+path) {
			t.Errorf("%s is missing in %v", path, err)
		}
	}
}

func TestTheSameConfigHasTheSameRevision(t *testing.T) {
	revision := func(machine string) string {
		p, err := project(t, "", machine, Normal{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Revision()
		if err != nil || len(r) != 12 {
			t.Fatalf("%q, %v", r, err)
		}
		return r
	}
	if a, b := revision("metadata: {x: 1}"), revision("metadata: {x:   1}"); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if a, b := revision("metadata: {x: 1}"), revision("metadata: {x: 2}"); a == b {
		t.Errorf("both are %s", a)
	}
}
