package workflow

import (
	"strconv"
	"strings"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/gordo"
)

const ensureSingle = "ensure-single-workflow"

// node is a machine as the DAG knows it: the end of its tasks' names, and its
// JSON.
type node struct {
	machine *gordo.Machine
	suffix  string
	text    string // the machine
	reads   string // its data provider; empty without influx
}

// doAll is the DAG: models, then the server, then builders and clients.
func (p *Plan) doAll(nodes []node) wfv1.Template {
	failFast := false
	tasks := make([]wfv1.DAGTask, 0, 3*len(nodes)+8)
	tasks = append(tasks, task(ensureSingle, ensureSingle))
	models := make([]string, len(nodes))
	for i, n := range nodes {
		models[i] = "gordo-mdl-" + n.suffix
		t := task(models[i], "gordo-model", ensureSingle)
		t.Arguments = arguments("model-name", n.machine.Name, "config", n.text)
		tasks = append(tasks, t)
	}
	server := task("gordo-server", "gordo-server", models...)
	server.Arguments = arguments(hostName, p.serverHost())
	tasks = append(tasks, server)
	needs := []string{"gordo-server"}
	if p.clients > 0 {
		needs = append(needs, "gordo-postgres")
	}
	for _, n := range nodes {
		t := task("model-builder-"+n.suffix, "model-builder", needs...)
		t.Arguments = arguments("machine-name", n.machine.Name, "machine", n.text)
		tasks = append(tasks, t)
	}
	tasks = append(tasks, task("postgres-cleanup", "postgres-cleanup", ensureSingle), task("influx-cleanup", "influx-cleanup", ensureSingle))
	if p.clients > 0 {
		tasks = append(tasks, task("gordo-postgres", "gordo-postgres", "postgres-cleanup"),
			task("gordo-influx", "gordo-influx", "influx-cleanup"), task("gordo-grafana", "gordo-grafana", "influx-cleanup"))
	}
	for _, n := range nodes {
		if n.reads == "" {
			continue
		}
		t := task("gordo-client-"+n.suffix, "gordo-client-para-limited", "gordo-server", "gordo-influx", "model-builder-"+n.suffix)
		t.Arguments = arguments("model-name", n.machine.Name, "train-start-date", n.machine.TrainStart.Text(), "data-provider", n.reads)
		tasks = append(tasks, t)
	}
	return wfv1.Template{Name: "do-all", DAG: &wfv1.DAGTemplate{Tasks: tasks, FailFast: &failFast}}
}

func task(name, template string, dependencies ...string) wfv1.DAGTask {
	return wfv1.DAGTask{Name: name, Template: template, Dependencies: dependencies}
}

// suffixes give every machine a name that Argo takes in a task: it refuses
// dots. Two machines that differ by nothing else are told apart by a number.
func suffixes(machines []gordo.Machine) []string {
	list := make([]string, len(machines))
	taken := make(map[string]bool, len(machines))
	for i := range machines {
		if !strings.Contains(machines[i].Name, ".") {
			list[i] = machines[i].Name
			taken[list[i]] = true
		}
	}
	for i := range machines {
		if list[i] != "" {
			continue
		}
		base := strings.ReplaceAll(machines[i].Name, ".", "-")
		name := base
		for n := 2; taken[name]; n++ {
			name = base + "-" + strconv.Itoa(n)
		}
		list[i], taken[name] = name, true
	}
	return list
}
