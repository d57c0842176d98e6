package gordo

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/gordo/version"
	"github.com/runhook/runhook/pkg/strict"
)

// revisionLength leaves room for `postgres-storage-` before it in a volume's name.
const revisionLength = 46

func revision(o *Options, v string) error {
	o.Revision = v
	if v == "" {
		return nil
	}
	if len(validation.IsDNS1123Label(v)) > 0 || len(v) > revisionLength {
		return fmt.Errorf("%.100q can't stand in the names of objects: use at most %d lower-case letters, digits and dashes", v, revisionLength)
	}
	return nil
}

func namespace(o *Options, v string) error {
	o.Namespace = v
	if v != "" && len(validation.IsDNS1123Label(v)) > 0 {
		return fmt.Errorf("%.100q is no namespace", v)
	}
	return nil
}

// retryDuration is a number of seconds, or a duration as Go writes it.
func retryDuration(o *Options, v string) error {
	o.RetryDuration = v
	if _, err := strconv.ParseUint(v, 10, 31); err == nil {
		return nil
	}
	if d, err := time.ParseDuration(v); err != nil || d < 0 {
		return fmt.Errorf("%.100q is no duration: write 15s or 2m", v)
	}
	return nil
}

func pullPolicy(o *Options, v string) error {
	o.PullPolicy = v
	switch corev1.PullPolicy(v) {
	case "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever:
		return nil
	}
	return fmt.Errorf("%.100q is not one of Always, IfNotPresent, Never", v)
}

func gordoVersion(o *Options, v string) error {
	o.GordoVersion = v
	_, err := version.ParseImage(v)
	return err
}

func scaler(o *Options, v string) error {
	o.Scaler = v
	switch v {
	case ScalerNone, ScalerCPU, ScalerKeda:
		return nil
	}
	return fmt.Errorf("%.100q is not one of none, k8s_cpu, keda", v)
}

var queryName = regexp.MustCompile(`\{\{-?\s*([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}`)

// kedaQuery puts the project's name into the query; other names are empty.
func kedaQuery(query, project string) (string, error) {
	result := queryName.ReplaceAllStringFunc(query, func(tag string) string {
		if queryName.FindStringSubmatch(tag)[1] == "project_name" {
			return project
		}
		return ""
	})
	for _, open := range []string{"{{", "{%", "{#"} {
		if strings.Contains(result, open) {
			return "", fmt.Errorf("holds %s that is no {{ name }}: only names in double braces are replaced", open)
		}
	}
	return result, nil
}

func checkKeda(o *Options, list *fault.List) {
	query, err := kedaQuery(o.KedaQuery, o.Project)
	if err != nil {
		list.Add("--keda-prometheus-query", "%v", err)
	}
	o.KedaQuery = query
	if o.Scaler != ScalerKeda {
		return
	}
	if !o.WithKeda {
		list.Add("--ml-server-hpa-type", "keda needs --with-keda")
	}
	if o.PrometheusAddress == "" {
		list.Add("--prometheus-server-address", "is needed for --ml-server-hpa-type=keda")
	}
}

var levels = map[string]bool{"CRITICAL": true, "FATAL": true, "ERROR": true, "WARNING": true, "WARN": true, "INFO": true, "DEBUG": true, "NOTSET": true}

// LogLevel checks a log level and writes it in upper case.
func LogLevel(v string) (string, error) {
	level := strings.ToUpper(v)
	if !levels[level] {
		return "", fmt.Errorf("%.100q is no log level: use critical, error, warning, info or debug", v)
	}
	return level, nil
}

func builderEnvs(o *Options, v string) error {
	value, err := py.ReadJSON([]byte(v))
	if err != nil {
		return fmt.Errorf("is no JSON: %w", err)
	}
	list, ok := value.([]any)
	if !ok {
		return errors.New("must be a list of variables, not " + kindOf(value))
	}
	var r report
	r.env("", list)
	o.Warnings = append(o.Warnings, r.flagWarnings("custom-model-builder-envs")...)
	o.BuilderEnv = list
	return r.err()
}

// flagWarnings puts a flag in front of the paths of warnings.
func (r *report) flagWarnings(name string) []Warning {
	for i := range r.warnings {
		r.warnings[i].Path = flagPath(Flag{Name: name}, r.warnings[i].Path)
	}
	return r.warnings
}

func flagPath(f Flag, below string) string {
	return strict.Join("--"+f.Name, strings.TrimPrefix(below, "."))
}

func securityContext(o *Options, v string) error {
	if v == "" {
		return nil
	}
	var context corev1.SecurityContext
	if err := strict.JSON([]byte(v), &context); err != nil {
		return err
	}
	if context != (corev1.SecurityContext{}) {
		o.SecurityContext = &context
	}
	return nil
}

func podSecurityContext(o *Options, v string) error {
	if v == "" {
		return nil
	}
	var context corev1.PodSecurityContext
	if err := strict.JSON([]byte(v), &context); err != nil {
		return err
	}
	if !reflect.DeepEqual(context, corev1.PodSecurityContext{}) {
		o.PodSecurityContext = &context
	}
	return nil
}
