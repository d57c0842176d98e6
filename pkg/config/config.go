// Package config reads the one file that says what runhook serves. It is
// strict: all mistakes are told at once, each with its file, line and path.
package config

import (
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/hook"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

// Config is the whole file. Only Namespace must be given.
type Config struct {
	// Namespace is where the runs are.
	Namespace string `json:"namespace"`
	// Listen is the address of hooks and functions, Metrics that of /metrics.
	Listen  string `json:"listen"`
	Metrics string `json:"metrics"`
	// TLS serves Listen with a certificate; without, it is plain HTTP.
	TLS *TLS `json:"tls"`
	// PublicURL is what links begin with; it is never taken from a request.
	PublicURL string      `json:"publicURL"`
	Cluster   Cluster     `json:"cluster"`
	Runs      Runs        `json:"runs"`
	Build     Build       `json:"build"`
	Gordo     Gordo       `json:"gordo"`
	Auth      Auth        `json:"auth"`
	Hooks     []hook.Spec `json:"hooks"`
	Sinks     []Sink      `json:"sinks"`
	Limits    limits.Set  `json:"limits"`

	// HookSecrets holds the secrets of every hook by its path; nil where none
	// was read.
	HookSecrets map[string][]secret.Value `json:"-"`

	document *strict.Document
}

// TLS names the files of a certificate and its key.
type TLS struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// StatusURL is where the status of a run is read: a mere path, where the config
// has no public address.
func (c *Config) StatusURL(run string) string { return c.PublicURL + "/functions/status?run=" + run }

// Load reads the config file and the secrets that it names. With a nil getenv
// no secret is read: manifests are made where there are none.
func Load(path string, getenv func(string) string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the config %s cannot be read: %v", path, err)
	}
	return Parse(path, data, getenv)
}

// Parse reads a config; file serves the messages.
func Parse(file string, data []byte, getenv func(string) string) (*Config, error) {
	document, err := strict.Parse(file, data)
	if err != nil {
		return nil, err
	}
	c := Default()
	c.document = document
	wrong := fault.From(document.Decode(&c))
	if wrong != nil && (strict.Costly(wrong) || !decodedNonetheless(document, &c)) {
		return nil, wrong
	}
	k := check{getenv: getenv}
	k.config(&c)
	if err := document.Locate(k.mistakes.Err(fault.Invalid, "the config is not right")); err != nil {
		return nil, merge(wrong, fault.From(err))
	}
	if wrong != nil {
		return nil, wrong
	}
	return &c, nil
}

// decodedNonetheless fills the config with what could be read of a wrong file,
// so that the other mistakes can be told too. False: it broke off in between.
func decodedNonetheless(document *strict.Document, c *Config) bool {
	err := json.Unmarshal(document.JSON(), c)
	var wrong *json.UnmarshalTypeError
	return err == nil || errors.As(err, &wrong)
}

// merge puts the mistakes of meaning to those of form, except where the form
// is to blame: a namespace that is a number is not missing as well.
func merge(form, meaning *fault.Error) error {
	if form == nil {
		return meaning
	}
	var list fault.List
	for _, p := range form.Problems {
		list.Add(p.Path, "%s", p.Detail)
	}
	for _, p := range meaning.Problems {
		blamed := false
		for _, f := range form.Problems {
			blamed = blamed || p.Path == f.Path || strings.HasPrefix(p.Path, f.Path+".") || strings.HasPrefix(p.Path, f.Path+"[")
		}
		if !blamed {
			list.Add(p.Path, "%s", p.Detail)
		}
	}
	return list.Err(form.Kind, form.Detail)
}

// Locate puts file:line before the detail of every problem whose path is one
// of the config, such as those of compiling the hooks.
func (c *Config) Locate(err error) error {
	if c.document == nil { // no file: the default
		return err
	}
	return c.document.Locate(err)
}

// CheckFunctions refuses rights and routes that name a function which does not exist.
func (c *Config) CheckFunctions(known []string) error {
	k := check{}
	k.functions(c, known)
	return c.Locate(k.mistakes.Err(fault.Invalid, "the config names unknown functions"))
}
