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
	quoted  []byte // the same in quotes: most of a document is this, twice
	reads   string // its data provider; empty without influx
}

// doAll is the DAG: models, then the server, then builders and clients.
func (p *Plan) doAll(nodes []node) wfv1.Template {
	failFast := false
	tasks := p.tasks(nodes)
	list := make([]wfv1.DAGTask, len(tasks))
	for i, t := range tasks {
		list[i] = t.object()
	}
	return wfv1.Template{Name: "do-all", DAG: &wfv1.DAGTemplate{Tasks: list, FailFast: &failFast}}
}

func (p *Plan) tasks(nodes []node) []task {
	tasks := make([]task, 0, 3*len(nodes)+8)
	add := func(name, template string, needs []string, inputs ...input) {
		tasks = append(tasks, task{name, template, needs, inputs})
	}
	ensured, server := []string{ensureSingle}, []string{"gordo-server"}
	add(ensureSingle, ensureSingle, nil)
	models := make([]string, len(nodes))
	for i, n := range nodes {
		models[i] = "gordo-mdl-" + n.suffix
		add(models[i], "gordo-model", ensured, input{"model-name", n.machine.Name, nil}, input{"config", n.text, n.quoted})
	}
	add("gordo-server", "gordo-server", models, input{hostName, p.serverHost(), nil})
	if p.clients > 0 {
		server = append(server, "gordo-postgres")
	}
	for _, n := range nodes {
		add("model-builder-"+n.suffix, "model-builder", server, input{"machine-name", n.machine.Name, nil}, input{"machine", n.text, n.quoted})
	}
	add("postgres-cleanup", "postgres-cleanup", ensured)
	add("influx-cleanup", "influx-cleanup", ensured)
	if p.clients > 0 {
		add("gordo-postgres", "gordo-postgres", []string{"postgres-cleanup"})
		add("gordo-influx", "gordo-influx", []string{"influx-cleanup"})
		add("gordo-grafana", "gordo-grafana", []string{"influx-cleanup"})
	}
	for _, n := range nodes {
		if n.reads != "" {
			add("gordo-client-"+n.suffix, "gordo-client-para-limited", []string{"gordo-server", "gordo-influx", "model-builder-" + n.suffix},
				input{"model-name", n.machine.Name, nil}, input{"train-start-date", n.machine.TrainStart.Text(), nil}, input{"data-provider", n.reads, nil})
		}
	}
	return tasks
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
