package generate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/strict"
)

const notValid = "the request is not valid"

// strictOption makes errors of warnings; it is a flag of the command line that
// gordo does not know.
const strictOption = "strict"

// fields are the flags that are fields of the request.
var fields = map[string]string{"project-name": "projectName", "project-revision": "revision"}

// options reads what a request says by flags. The environment of the server
// says nothing: its callers do not know it.
func (r Request) options(settings Settings) (o gordo.Options, strictly bool, err error) {
	var wrong fault.List
	given := map[string]string{}
	for name, raw := range r.Options {
		path := strict.Key("options", name)
		text, ok := valueOf(raw)
		switch at := slices.IndexFunc(gordo.Flags, func(f gordo.Flag) bool { return f.Name == name }); {
		case !ok:
			wrong.Add(path, "null is no value: leave the option out")
			continue
		case name == strictOption:
			if strictly = text == "true"; !strictly && text != "false" {
				wrong.Add(path, "neither true nor false")
			}
		case at < 0:
			wrong.Add(path, "there is no such option; those are the flags of the command `generate`")
		case gordo.Flags[at].Local:
			wrong.Add(path, "names a file or a program of the machine that it runs on: only the command line has it")
		case fields[name] != "":
			wrong.Add(path, "is the field %s of the request", fields[name])
		}
		given[name] = text
	}
	if r.ProjectName == "" {
		wrong.Add("projectName", "is missing")
	}
	r.source(settings, &wrong)
	given["project-name"] = r.ProjectName
	if r.Revision != "" {
		given["project-revision"] = r.Revision
	}
	o, err = gordo.ParseOptions(func(f gordo.Flag) (string, bool) {
		value, ok := given[f.Name]
		return value, ok && !f.Local
	})
	if err != nil {
		for _, p := range fault.From(err).Problems {
			wrong.Add(requestPath(p.Path), "%s", p.Detail)
		}
	}
	if r.Submit {
		submittable(&o, settings, &wrong)
	}
	return o, strictly, wrong.Err(fault.Invalid, notValid)
}

// source checks where the config comes from.
func (r Request) source(settings Settings, wrong *fault.List) {
	switch {
	case len(r.Config) == 0 && r.ConfigMap == nil:
		wrong.Add("config", "is missing: give the config, or a configMap that holds it")
	case len(r.Config) > 0 && r.ConfigMap != nil:
		wrong.Add("configMap", "beside a config: give one of the two")
	case r.ConfigMap != nil && !slices.Contains(settings.ConfigMaps, r.ConfigMap.Name):
		wrong.Add("configMap.name", "%.100q is not in gordo.configMaps of the config", r.ConfigMap.Name)
	case r.ConfigMap != nil && r.ConfigMap.Key == "":
		wrong.Add("configMap.key", "is missing")
	}
}

// valueOf is an option's value as a flag's text.
func valueOf(raw json.RawMessage) (text string, ok bool) {
	raw = bytes.TrimSpace(raw)
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return text, true
	}
	return string(raw), string(raw) != "null"
}

// requestPath is where a flag's mistake stands in a request.
func requestPath(path string) string {
	flag, isFlag := strings.CutPrefix(path, "--")
	if !isFlag {
		return path
	}
	end := strings.IndexAny(flag, ".[")
	if end < 0 {
		end = len(flag)
	}
	if field := fields[flag[:end]]; field != "" {
		return field + flag[end:]
	}
	return "options." + flag
}

// inRequest tells a fault by the paths of the request.
func inRequest(err error) error {
	f := *fault.From(err)
	problems := make([]fault.Problem, len(f.Problems))
	for i, p := range f.Problems {
		problems[i] = fault.Problem{Path: requestPath(p.Path), Detail: p.Detail}
	}
	if path, detail, found := strings.Cut(f.Detail, ": "); found && len(problems) == 0 && requestPath(path) != path {
		f.Detail, problems = notValid, []fault.Problem{{Path: requestPath(path), Detail: detail}}
	}
	f.Problems = problems
	return &f
}
