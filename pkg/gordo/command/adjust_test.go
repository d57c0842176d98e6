package command

import (
	"encoding/json"
	"strings"

	"github.com/runhook/runhook/pkg/gordo"
)

type object = map[string]any

// generated are the deviations of `generate`, beside those of `normalize`.
var generated = map[string]deviation{
	"name-duplicate":             {refused, gordo.DuplicateName, "1.4: duplicate names are refused"},
	"flags-labels-reserved-key":  {refused, gordo.ReservedLabels, "1.4: reserved label keys are refused"},
	"resource-bool-ok":           {refused, gordo.ResourceRefused, "1.4: resources of bool are refused"},
	"resource-null-renders-none": {refused, gordo.ResourceRefused, "1.4: resources of null are refused"},
}

// edit brings one of gordo's documents to what runhook makes by a rule.
type edit struct {
	code  gordo.Code
	apply func(want, ours object)
}

// always are the differences of every document.
var always = []edit{
	{gordo.ResourceTemplates, resourceTemplates},
	{gordo.PostgresPerMachine, postgresPerMachine},
	{gordo.LabelsEverywhere, clientLabels},
}

// sometimes are the differences of single cases.
var sometimes = map[string][]edit{
	"builder-env-field-ref-dropped":    {{gordo.ValueFromKept, fieldRef}},
	"volumes-emptydir-lost":            {{gordo.VolumesKept, emptyDir}},
	"flags-keda-scaler":                {{gordo.ReferenceText, uidText}},
	"flags-owner-references":           {{gordo.ReferenceText, uidText}},
	"flags-labels-all":                 {{gordo.ServerLabels, serverLabels}},
	"flags-security-context-group-one": {{gordo.GroupIsNumber, replacing(`"runAsGroup":true`, `"runAsGroup":1`)}},
	"flags-log-level-option-and-env":   {{gordo.FlagsWin, replacing(`ERROR`, `DEBUG`)}},
	"flags-model-builder-class-lost":   {{gordo.BuilderClassAlone, builderClass}},
	"name-dot-ok":                      {{gordo.TaskNames, taskNames}},
}

func adjust(name string, want, ours []object) {
	allModels(want)
	for i := range want {
		if i >= len(ours) {
			return
		}
		for _, e := range append(always, sometimes[name]...) {
			e.apply(want[i], ours[i])
		}
	}
}

// at walks down: text is a key, or the name of an item of a list.
func at(v any, path ...string) any {
	for _, step := range path {
		switch x := v.(type) {
		case object:
			v = x[step]
		case []any:
			v = nil
			for _, item := range x {
				if m, ok := item.(object); ok && m["name"] == step {
					v = item
				}
			}
		default:
			return nil
		}
	}
	return v
}

func mapAt(v any, path ...string) object {
	m, _ := at(v, path...).(object)
	return m
}

func template(document object, name string) object {
	return mapAt(document, "spec", "templates", name)
}

// resourceTemplates: what applies and deletes are Argo resource templates, whose
// pod is Argo's own; two of our scripts know their hosts by variables; and the
// pods are deleted by a template of its own.
func resourceTemplates(want, ours object) {
	for _, name := range []string{"apply-with-retries", "influx-cleanup", "postgres-cleanup", "cleanup", "gordo-server-hpa-cleanup", "gordo-server-keda-cleanup"} {
		delete(template(want, name), "script")
		delete(template(ours, name), "resource")
	}
	for _, name := range []string{"gordo-influx-database-creator", "gordo-grafana-datasource-creator"} {
		delete(mapAt(template(ours, name), "script"), "env")
	}
	spec := mapAt(ours, "spec")
	var kept []any
	for _, t := range spec["templates"].([]any) {
		if t.(object)["name"] != "cleanup-pods" {
			kept = append(kept, t)
		}
	}
	spec["templates"] = kept
	if cleanup := template(ours, "workflow-cleanup"); len(cleanup["steps"].([]any)) == 2 {
		cleanup["steps"] = cleanup["steps"].([]any)[:1]
	}
	// The text of the Model is checked by TestModelOfAMachine.
	for _, document := range []object{want, ours} {
		step := template(document, "gordo-model")["steps"].([]any)[0].([]any)[0]
		mapAt(step, "arguments", "parameters", "resource")["value"] = "(model)"
	}
}

// postgresPerMachine: a machine without influx has no Postgres reporter.
func postgresPerMachine(want, ours object) {
	for _, task := range mapAt(template(want, "do-all"), "dag")["tasks"].([]any) {
		name, ok := strings.CutPrefix(task.(object)["name"].(string), "gordo-mdl-")
		if !ok {
			continue
		}
		if mapAt(template(want, "do-all"), "dag", "tasks", "gordo-client-"+name) != nil {
			continue
		}
		for task, parameter := range map[string]string{"gordo-mdl-": "config", "model-builder-": "machine"} {
			p := mapAt(template(want, "do-all"), "dag", "tasks", task+name, "arguments", "parameters", parameter)
			text := p["value"].(string)
			const reporter = `{\"gordo.reporters.postgres.PostgresReporter\": {\"host\": \"gordo-postgres-proj-a\"}}`
			p["value"] = strings.ReplaceAll(strings.ReplaceAll(text, ", "+reporter, ""), reporter, "")
		}
	}
}

// clientLabels: gordo-client's pods carry the labels of all others.
func clientLabels(want, ours object) {
	client, waiter := mapAt(template(want, "gordo-client"), "metadata", "labels"), mapAt(template(want, "gordo-client-waiter"), "metadata", "labels")
	for key, value := range waiter {
		if key != "app" {
			client[key] = value
		}
	}
}

// allModels: a split project's server expects the models of all parts.
func allModels(documents []object) {
	var all []string
	for _, d := range documents {
		names := strings.Trim(mapAt(d, "metadata", "annotations")["gordo-models"].(string), "[]")
		all = append(all, strings.Split(names, ", ")...)
	}
	for _, d := range documents {
		server := mapAt(deployment(d), "spec", "template", "spec", "containers", "gordoserver-proj-a", "env", "EXPECTED_MODELS")
		server["value"] = "[" + strings.Join(all, ",") + ",]"
	}
}

// deployment is the applied Deployment, as gordo's documents hold it.
func deployment(document object) object {
	step := template(document, "gordo-server-deployment")["steps"].([]any)[0].([]any)[0]
	return mapAt(step, "arguments", "parameters", "resource", "value", "manifest")
}

// replacing changes a text wherever it stands.
func replacing(old, with string) func(want, ours object) {
	return func(want, _ object) {
		text, err := json.Marshal(want)
		if err != nil {
			panic(err)
		}
		clear(want)
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), old, with)), &want); err != nil {
			panic(err)
		}
	}
}

func uidText(want, ours object) { replacing(`"uid":5`, `"uid":"5"`)(want, ours) }

func serverLabels(want, _ object) {
	pod := mapAt(deployment(want), "spec", "template")
	for _, key := range []string{"tier", "zone"} {
		mapAt(pod, "metadata", "labels")[key] = pod[key]
		delete(pod, key)
	}
}

func builderClass(want, _ object) {
	for name, kind := range map[string]string{"model-builder": "container", "gordo-client": "script"} {
		c := mapAt(template(want, name), kind)
		c["env"] = append(c["env"].([]any), object{"name": "MODEL_BUILDER_CLASS", "value": "my.Builder"})
	}
}

// fieldRef: what gordo drops stands in the pods and in the machine.
func fieldRef(want, _ object) {
	for name, kind := range map[string]string{"model-builder": "container", "gordo-client": "script"} {
		mapAt(template(want, name), kind, "env", "A")["valueFrom"] = object{"fieldRef": object{"fieldPath": "status.podIP"}}
	}
	machines(want, `{\"name\": \"A\", \"valueFrom\": {}}`, `{\"name\": \"A\", \"valueFrom\": {\"fieldRef\": {\"fieldPath\": \"status.podIP\"}}}`)
}

func emptyDir(want, _ object) {
	mapAt(want, "spec", "volumes", "scratch")["emptyDir"] = object{}
	machines(want, `{\"name\": \"scratch\"}`, `{\"name\": \"scratch\", \"emptyDir\": {}}`)
}

// machines changes a text in the machines' JSON.
func machines(document object, old, with string) {
	for _, task := range mapAt(template(document, "do-all"), "dag")["tasks"].([]any) {
		for _, parameter := range []string{"config", "machine"} {
			if p := mapAt(task, "arguments", "parameters", parameter); p != nil {
				p["value"] = strings.ReplaceAll(p["value"].(string), old, with)
			}
		}
	}
}

// taskNames: a dot is a dash in the names of tasks, which Argo refuses.
func taskNames(want, _ object) {
	for _, task := range mapAt(template(want, "do-all"), "dag")["tasks"].([]any) {
		t := task.(object)
		t["name"] = strings.ReplaceAll(t["name"].(string), "north.pump", "north-pump")
		dependencies, _ := t["dependencies"].([]any)
		for i := range dependencies {
			dependencies[i] = strings.ReplaceAll(dependencies[i].(string), "north.pump", "north-pump")
		}
	}
}
