package workflow

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// reader brings values of a config to the types of Kubernetes and gathers what
// is wrong with them.
type reader struct{ list fault.List }

func (r *reader) err() error { return r.list.Err(fault.Invalid, "no Workflow can be made") }

func (r *reader) mapping(path string, v any) *py.Map {
	m, ok := v.(*py.Map)
	if !ok {
		r.list.Add(path, "must be a mapping, not %s", py.Kind(v))
	}
	return m
}

// text takes a text that stands in a template: what Argo would expand is refused.
func (r *reader) text(path string, v any) string {
	text, ok := v.(string)
	switch {
	case !ok || text == "":
		r.list.Add(path, "must be text, not %s", py.Kind(v))
	case strings.Contains(text, "{{"):
		r.list.Add(path, "must not hold {{: Argo would expand it")
	}
	return text
}

func (r *reader) count(path string, v any) string {
	n, ok := v.(int64)
	if !ok || n < 1 {
		r.list.Add(path, "must be a whole number of at least 1")
	}
	return fmt.Sprint(n)
}

// units are what gordo measures in.
var units = map[string]string{"memory": "M", "cpu": "m"}

// resources reads requests and limits: memory in MB, cpu in thousandths, all
// else as Kubernetes writes it.
func (r *reader) resources(path string, v any) corev1.ResourceRequirements {
	m := r.mapping(path, v)
	return corev1.ResourceRequirements{
		Requests: r.amounts(path+".requests", m.MapAt("requests")),
		Limits:   r.amounts(path+".limits", m.MapAt("limits")),
	}
}

func (r *reader) amounts(path string, m *py.Map) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, e := range m.Entries() {
		name := py.Text(e.Key)
		at := strict.Key(path, name)
		unit, ours := units[name]
		if ours && !notNegative(e.Value) {
			r.list.Add(at, "must be a whole number of at least 0, not %s", describe(e.Value))
			continue
		}
		amount, ok := strict.Quantity(py.Text(e.Value) + unit)
		if !ok || len(validation.IsQualifiedName(name)) > 0 {
			r.list.Add(at, "is no amount of a resource")
			continue
		}
		list[corev1.ResourceName(name)] = amount
	}
	return list
}

func notNegative(v any) bool {
	switch x := v.(type) {
	case int64:
		return x >= 0
	case *big.Int:
		return x.Sign() >= 0
	}
	return false
}

func describe(v any) string {
	switch v.(type) {
	case int64, *big.Int:
		return py.Text(v)
	case string:
		return fmt.Sprintf("%.100q", v)
	}
	return py.Kind(v)
}

func (r *reader) logLevel(path string, runtime *py.Map, fallback string) string {
	v, there := runtime.Get("log_level")
	if !there || v == nil {
		return fallback
	}
	text, _ := v.(string)
	level, err := gordo.LogLevel(text)
	if err != nil {
		r.list.Add(path, "%s is no log level: use critical, error, warning, info or debug", describe(v))
	}
	return level
}

// decode turns a normalised value into objects of Kubernetes.
func (r *reader) decode(path string, v any, into any) {
	text, err := (&py.Writer{}).Append(nil, v)
	if err == nil {
		err = strict.JSON(text, into)
	}
	if err == nil {
		return
	}
	problem := fault.From(err)
	if len(problem.Problems) == 0 {
		r.list.Add(path, "%v", err)
	}
	for _, p := range problem.Problems {
		r.list.Add(strict.Join(path, p.Path), "%s", p.Detail)
	}
}

func (r *reader) env(path string, v any) []corev1.EnvVar {
	if v == nil {
		return nil
	}
	var env []corev1.EnvVar
	r.decode(path, v, &env)
	for i, e := range env {
		at := strict.Index(path, i)
		if len(validation.IsEnvVarName(e.Name)) > 0 {
			r.list.Add(at+".name", "%.100q is no name of a variable", e.Name)
		}
		if len(e.Value) > limits.EnvEntry {
			r.list.Add(at+".value", "has %d bytes, and a variable has at most %d", len(e.Value), limits.EnvEntry)
		}
		r.inert(at+".valueFrom", e.ValueFrom)
	}
	return env
}

func (r *reader) mounts(path string, v any) []corev1.VolumeMount {
	if v == nil {
		return nil
	}
	var mounts []corev1.VolumeMount
	r.decode(path, v, &mounts)
	r.inert(path, mounts)
	return mounts
}

func (r *reader) volumes(path string, v any) []corev1.Volume {
	var volumes []corev1.Volume
	r.decode(path, v, &volumes)
	r.inert(path, volumes)
	taken := map[string]bool{"azurefile": true, "tmpdir": true}
	for i, volume := range volumes {
		if taken[volume.Name] {
			r.list.Add(strict.Index(path, i)+".name", "%.100q is already the name of a volume", volume.Name)
		}
		taken[volume.Name] = true
	}
	return volumes
}

// inert refuses what Argo would expand anywhere in an object.
func (r *reader) inert(path string, v any) {
	text, _ := json.Marshal(v)
	if strings.Contains(string(text), "{{") {
		r.list.Add(path, "must not hold {{: Argo would expand it")
	}
}

func (r *reader) label(path string, labels map[string]string, key, value string) {
	path = strict.Key(path, key)
	if gordo.ReservedLabel(key) {
		r.list.Add(path, "is a label that gordo sets itself: choose another key")
	}
	if bad := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(bad) > 0 {
		r.list.Add(path, "is no label of Kubernetes: %s", strings.Join(bad, "; "))
	}
	labels[key] = value
}

// influx refuses machines whose influx is no mapping.
func (r *reader) influx(machines []gordo.Machine) {
	for i := range machines {
		v, there := machines[i].Runtime.Get("influx")
		if _, ok := v.(*py.Map); there && !ok && r.list.Len() < limits.Problems {
			r.list.Add(strict.Index("spec.config.machines", i)+".runtime.influx", "must be a mapping, not %s: write influx: {enable: false}", py.Kind(v))
		}
	}
}

// brace is the variable that stands for a brace behind a brace: Argo sees no
// template, and Kubernetes writes the brace back.
const brace = "RUNHOOK_BRACE"

// braced keeps Argo from expanding what stands in values.
func braced(env []corev1.EnvVar) []corev1.EnvVar {
	found := false
	for i := range env {
		if strings.Contains(env[i].Value, "{{") {
			env[i].Value = inertBraces(env[i].Value)
			found = true
		}
	}
	if found {
		env = append([]corev1.EnvVar{{Name: brace, Value: "{"}}, env...)
	}
	return env
}

func inertBraces(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if text[i] == '{' && i > 0 && text[i-1] == '{' {
			b.WriteString("$(" + brace + ")")
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
