package status

import (
	"bytes"
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/owner"
	"github.com/runhook/runhook/pkg/strict"
)

// ReadRun reads a Workflow from a file's JSON or YAML, and those of its helpers
// where they stand beside it: one object, or a List out of which a run is chosen
// by name. The file's name only serves the message; an empty run takes the only
// one there is.
func ReadRun(file string, data []byte, run string) (*Workflow, []*Workflow, error) {
	// One object in JSON is by far the most usual, and may be large: it is
	// decoded in the same pass that finds out its kind.
	var top struct {
		Kind string `json:"kind"`
		Workflow
	}
	if err := jsonv2.Unmarshal(data, &top); err == nil && top.Kind == "Workflow" {
		if run != "" && top.Metadata.Name != run {
			return nil, nil, notNamed(file, run, top.Metadata.Name)
		}
		if err := top.complete(); err != nil {
			return nil, nil, inFile(file, err)
		}
		return &top.Workflow, nil, nil
	}
	data, err := asJSON(file, data)
	if err != nil {
		return nil, nil, err
	}
	items, err := objects(file, data, "Workflow")
	if err != nil {
		return nil, nil, err
	}
	chosen, err := choose(file, items, run)
	if err != nil {
		return nil, nil, err
	}
	w, err := Decode(chosen.raw)
	if err != nil {
		return nil, nil, inFile(file, err)
	}
	var helpers []*Workflow
	for _, item := range items {
		if item.Metadata.Labels[owner.ExtraOfLabel] != w.Metadata.Name {
			continue
		}
		helper, err := Decode(item.raw)
		if err != nil {
			return nil, nil, inFile(file, err)
		}
		helpers = append(helpers, helper)
	}
	return w, helpers, nil
}

// choose gives the Workflow of a name, else the only one that is no helper.
func choose(file string, items []object, run string) (object, error) {
	var names []string
	var chosen *object
	for i := range items {
		item := &items[i]
		switch {
		case item.Metadata.Name == run && run != "":
			return *item, nil
		case item.Metadata.Labels[owner.ExtraOfLabel] == "":
			names, chosen = append(names, item.Metadata.Name), item
		}
	}
	switch {
	case len(items) == 0:
		return object{}, fault.New(fault.Invalid, "%s: holds no Workflow", file)
	case run != "" || chosen == nil:
		return object{}, notNamed(file, run, names...)
	case len(names) > 1:
		return object{}, fault.New(fault.Invalid, "%s: holds %d Workflows, choose one with --run: %s", file, len(names), strings.Join(names, ", "))
	}
	return *chosen, nil
}

func notNamed(file, run string, names ...string) error {
	return fault.New(fault.NotFound, "%s: no Workflow is named %q, there is: %s", file, run, strings.Join(names, ", "))
}

// inFile says in which file a fault is.
func inFile(file string, err error) error {
	f := fault.From(err)
	return fault.Wrap(f.Kind, err, "%s: %s", file, f.Detail)
}

// ReadPods reads the pods of one moment from a file's JSON or YAML: a Pod or a List.
func ReadPods(file string, data []byte) ([]corev1.Pod, error) {
	data, err := asJSON(file, data)
	if err != nil {
		return nil, err
	}
	items, err := objects(file, data, "Pod")
	if err != nil {
		return nil, err
	}
	pods := make([]corev1.Pod, len(items))
	for i, item := range items {
		err := strict.Decodable(item.raw)
		if err == nil {
			err = json.Unmarshal(item.raw, &pods[i])
		}
		if err != nil {
			return nil, fault.Wrap(fault.Malformed, err, "%s: items[%d]: not a Pod: %v", file, i, err)
		}
	}
	return pods, nil
}

// object is the head of any Kubernetes object, and its bytes.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Items *[]json.RawMessage `json:"items"`
	raw   json.RawMessage
}

// objects gives the objects of a kind that a file holds: one, or a List of
// them. In a typed list the items need not name their kind.
func objects(file string, data []byte, kind string) ([]object, error) {
	top, err := head(data)
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "%s: not a Kubernetes object: %v", file, err)
	}
	switch {
	case top.Kind == kind:
		return []object{top}, nil
	case top.Kind != "List" && top.Kind != kind+"List":
		return nil, fault.New(fault.Invalid, "%s: kind is %q, a %s or a List of them is asked for", file, top.Kind, kind)
	case top.Items == nil:
		return nil, fault.New(fault.Invalid, "%s: items is missing", file)
	}
	items := make([]object, len(*top.Items))
	for i, raw := range *top.Items {
		item, err := head(raw)
		if err != nil {
			return nil, fault.Wrap(fault.Malformed, err, "%s: items[%d]: not a Kubernetes object: %v", file, i, err)
		}
		if item.Kind != kind && (item.Kind != "" || top.Kind == "List") {
			return nil, fault.New(fault.Invalid, "%s: items[%d].kind is %q, want %s", file, i, item.Kind, kind)
		}
		items[i] = item
	}
	return items, nil
}

func head(raw json.RawMessage) (object, error) {
	o := object{raw: raw}
	err := json.Unmarshal(raw, &o)
	return o, err
}

// asJSON gives JSON for JSON or YAML. What begins like an object of JSON and
// is none may still be YAML's flow style.
func asJSON(file string, data []byte) ([]byte, error) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 {
		return nil, fault.New(fault.Malformed, "%s: empty", file)
	} else if trimmed[0] == '{' && json.Valid(trimmed) {
		return trimmed, nil
	}
	converted, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "%s: neither JSON nor YAML: %v", file, err)
	}
	return converted, nil
}
