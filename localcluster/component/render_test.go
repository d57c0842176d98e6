package component

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/localcluster/layout"
	"github.com/runhook/runhook/localcluster/machine"
)

func decode(t *testing.T, content string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.UnmarshalStrict([]byte(content), &out); err != nil {
		t.Fatalf("%v in\n%s", err, content)
	}
	return out
}

func TestKustomizationsAreWellFormed(t *testing.T) {
	for name, content := range map[string]string{
		"argo":   argoKustomization("base", "rbac"),
		"kueue":  kueueKustomization("base"),
		"events": eventsKustomization("base"),
	} {
		k := decode(t, content)
		if strings.Contains(content, "${") {
			t.Errorf("%s: a word is not filled in", name)
		}
		patches, _ := k["patches"].([]any)
		if len(patches) == 0 {
			t.Fatalf("%s has no patches", name)
		}
		pinnedFirst := false
		for _, p := range patches {
			text, _ := p.(map[string]any)["patch"].(string)
			var patch any
			if err := yaml.Unmarshal([]byte(text), &patch); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, text)
			}
			pinnedFirst = pinnedFirst || strings.Contains(text, "kubernetes.io/hostname: "+layout.NodeName(1))
		}
		if !pinnedFirst {
			t.Errorf("%s is not kept on the first node", name)
		}
	}
}

func TestKubeletConfig(t *testing.T) {
	c := cluster(t)
	ports := map[any]bool{}
	for n := 1; n <= layout.Nodes; n++ {
		config := decode(t, kubeletConfig(c, n))
		if config["address"] != layout.NodeAddress(n) || config["cgroupRoot"] != "/runhook/"+layout.NodeName(n) {
			t.Errorf("node %d has address %v and cgroup %v", n, config["address"], config["cgroupRoot"])
		}
		if dns, _ := config["clusterDNS"].([]any); len(dns) != 1 || dns[0] != layout.Gateway {
			t.Errorf("node %d has DNS %v", n, config["clusterDNS"])
		}
		ports[config["healthzPort"]] = true
	}
	if len(ports) != layout.Nodes {
		t.Errorf("the kubelets share a port: %v", ports)
	}
}

func TestCNIConfigGivesEachNodeItsRange(t *testing.T) {
	var config struct {
		Plugins []struct {
			Bridge string
			IPAM   struct {
				Ranges [][]struct{ Subnet, RangeStart, RangeEnd, Gateway string }
			}
		}
	}
	if err := json.Unmarshal([]byte(cniConfig("/d", 2)), &config); err != nil {
		t.Fatal(err)
	}
	r := config.Plugins[0].IPAM.Ranges[0][0]
	if r.Subnet != layout.PodNetwork || r.RangeStart != "10.88.2.1" || r.RangeEnd != "10.88.2.254" || r.Gateway != layout.Gateway {
		t.Errorf("got %+v", r)
	}
}

func TestContainerdConfig(t *testing.T) {
	config := containerdConfig("/d")
	for _, want := range []string{`root = "/d/containerd"`, `address = "/d/containerd.sock"`, `sandbox_image = "` + layout.Registry + "/" + pauseImage + `"`} {
		if !strings.Contains(config, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestPrometheusConfig(t *testing.T) {
	config := decode(t, prometheusConfig("/d", []string{"/d/rules/a.yml", "/d/rules/b.yml"}))
	if rules, _ := config["rule_files"].([]any); len(rules) != 2 || rules[1] != "/d/rules/b.yml" {
		t.Errorf("rules are %v", config["rule_files"])
	}
	var jobs []string
	for _, s := range config["scrape_configs"].([]any) {
		jobs = append(jobs, s.(map[string]any)["job_name"].(string))
	}
	if want := []string{"kueue", "argo-workflows", "runhook"}; !slices.Equal(jobs, want) {
		t.Errorf("jobs are %v, want %v", jobs, want)
	}
	for _, service := range []string{"runhook-metrics", "runhook-watch-metrics"} {
		if !strings.Contains(prometheusConfig("/d", nil), service+".runhook-system.svc.cluster.local") {
			t.Errorf("%s is not scraped", service)
		}
	}
}

func TestTrimWebhooks(t *testing.T) {
	const input = `kind: Service
metadata: {name: s}
---
kind: MutatingWebhookConfiguration
webhooks:
- name: mpod.kb.io
  namespaceSelector: {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}
- name: mdeployment.kb.io
- name: mworkload.kb.io
- name: other
---
kind: ValidatingWebhookConfiguration
webhooks: [{name: vjob.kb.io}, {name: vclusterqueue.kb.io}]
`
	out, err := trimWebhooks(input)
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(out, "\n---\n")
	kept := func(document string) (names []string) {
		for _, w := range decode(t, document)["webhooks"].([]any) {
			names = append(names, w.(map[string]any)["name"].(string))
		}
		return names
	}
	if len(documents) != 3 || documents[0] != "kind: Service\nmetadata: {name: s}" {
		t.Fatalf("other documents were changed:\n%s", out)
	}
	if got := kept(documents[1]); !slices.Equal(got, []string{"mpod.kb.io", "mworkload.kb.io"}) {
		t.Errorf("kept %v", got)
	}
	if got := kept(documents[2]); !slices.Equal(got, []string{"vclusterqueue.kb.io"}) {
		t.Errorf("kept %v", got)
	}
	if !strings.Contains(documents[1], "kubernetes.io/metadata.name: "+layout.RunsNamespace) || strings.Contains(documents[1], "NotIn") {
		t.Errorf("pods are not selected by namespace:\n%s", documents[1])
	}
	if _, err := trimWebhooks("a: [\n"); err == nil {
		t.Error("what is no YAML was taken")
	}
}

func TestAProcessIsStartedAnewOnlyWhenItDiffers(t *testing.T) {
	c := cluster(t)
	sleep := func(seconds string) machine.Record {
		t.Helper()
		if err := start(c, "sleeper", Process{Command: []string{"sleep", seconds}}); err != nil {
			t.Fatal(err)
		}
		record, err := Record(c, "sleeper")
		if err != nil || !record.Alive() {
			t.Fatalf("%+v does not live: %v", record, err)
		}
		return record
	}
	first := sleep("61")
	if again := sleep("61"); again != first {
		t.Errorf("the same process was started anew: %+v, then %+v", first, again)
	}
	other := sleep("62")
	if first.Alive() || other.PID == first.PID {
		t.Error("a changed process was not replaced")
	}
	if err := other.Stop(); err != nil {
		t.Fatal(err)
	}
	if third := sleep("62"); third == other {
		t.Error("an ended process was not started")
	} else if err := third.Stop(); err != nil {
		t.Fatal(err)
	}
}
