package logs

import (
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/argo"
	"github.com/runhook/runhook/pkg/run"
)

// part is an unsplit task, or a worker, the merge or a helper of a split one.
type part struct {
	path   string // its name relative to the Workflow, as status has it
	parent string // the split task; empty for an unsplit one
	id     string
	worker int // -1: not a worker
}

// partOf reads the name of a task of status, such as `fit.fit-3`.
func partOf(path string) part {
	p := part{path: path, id: path, worker: -1}
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 {
		return p
	}
	p.parent, p.id = path[:dot], path[dot+1:]
	if number, err := strconv.Atoi(strings.TrimPrefix(p.id, p.parent+"-")); err == nil && p.id == run.WorkerID(p.parent, number) {
		p.worker = number
	}
	return p
}

// partOfHelper reads the labels of a helper's Workflow.
func partOfHelper(labels map[string]string) part {
	task := labels[argo.TaskLabel]
	number, err := strconv.Atoi(labels[argo.ExtraLabel])
	if task == "" || err != nil {
		return part{worker: -1}
	}
	id := run.HelperID(task, number)
	return part{path: task + "." + id, parent: task, id: id, worker: -1}
}

// asks reports whether a request is about a part: it is named itself, or is a
// part of what is named. The items of a foreign task stand in brackets.
func (r Request) asks(p part) bool {
	if r.Worker != nil {
		return p.worker == *r.Worker && p.parent == r.Task
	}
	return p.path == r.Task || p.id == r.Task ||
		strings.HasPrefix(p.path, r.Task+".") || strings.HasPrefix(p.path, r.Task+"(")
}

// name gives the task and the worker as an answer names them.
func (p part) name() (task string, worker *int) {
	if p.worker >= 0 {
		return p.parent, &p.worker
	}
	return p.id, nil
}
