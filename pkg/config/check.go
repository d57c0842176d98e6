package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/secret"
	"github.com/runhook/runhook/pkg/strict"
)

// check gathers the mistakes of a config.
type check struct {
	getenv   func(string) string
	mistakes fault.List
}

func (k *check) config(c *Config) {
	k.required("namespace", c.Namespace, label)
	k.listen("listen", c.Listen)
	k.listen("metrics", c.Metrics)
	if _, port, _ := net.SplitHostPort(c.Listen); c.Metrics == c.Listen && port != "0" {
		k.mistakes.Add("metrics", "is the address of listen; metrics have their own")
	}
	if c.TLS != nil {
		k.given("tls.cert", c.TLS.Cert)
		k.given("tls.key", c.TLS.Key)
	}
	if c.PublicURL != "" {
		k.url("publicURL", c.PublicURL)
		c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	}
	k.cluster(c.Cluster)
	k.runs(c.Runs)
	k.build(c.Build)
	k.each("gordo.configMaps", c.Gordo.ConfigMaps, subdomain)
	k.auth(c)
	k.hooks(c)
	k.sinks(c)
	c.Limits.Check("limits", &k.mistakes)
}

// grammar gives what is wrong with a text, as Kubernetes' validation does.
type grammar func(string) []string

// required checks a text that must be there.
func (k *check) required(path, value string, is grammar) {
	if value == "" {
		k.mistakes.Add(path, "is missing")
		return
	}
	k.optional(path, value, is)
}

// optional checks a text that may be empty.
func (k *check) optional(path, value string, is grammar) {
	if value == "" {
		return
	}
	if wrong := is(value); len(wrong) > 0 {
		k.mistakes.Add(path, "%s", wrong[0])
	}
}

func (k *check) given(path, value string) {
	k.required(path, value, func(string) []string { return nil })
}

// each checks the texts of a list, none of which may stand twice.
func (k *check) each(path string, values []string, is grammar) {
	for i, value := range values {
		at := strict.Index(path, i)
		k.required(at, value, is)
		if slices.Contains(values[:i], value) {
			k.mistakes.Add(at, "%q is named twice", value)
		}
	}
}

// within checks that a list names only what another part of the config lists.
func (k *check) within(path string, values []string, listed []string, where string) {
	for i, value := range values {
		if !slices.Contains(listed, value) {
			k.mistakes.Add(strict.Index(path, i), "%q is not in %s", value, where)
		}
	}
}

// unique notes a name that an earlier entry has.
func (k *check) unique(seen map[string]bool, path, name string) {
	if name != "" && seen[name] {
		k.mistakes.Add(path, "%q is the name of an earlier one", name)
	}
	seen[name] = true
}

func (k *check) oneOf(path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		k.mistakes.Add(path, "%q is not one of %s", value, strings.Join(allowed, ", "))
	}
}

func (k *check) between(path string, value, least, most time.Duration) {
	if value < least || value > most {
		k.mistakes.Add(path, "must be from %s to %s", least, most)
	}
}

func (k *check) listen(path, address string) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		k.mistakes.Add(path, "%q is not host:port, as in :8080", address)
		return
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		k.mistakes.Add(path, "%q is no port", port)
	}
}

// url checks an address to which paths are added: a query or a user would get lost.
func (k *check) url(path, text string) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		k.mistakes.Add(path, "is not an address that begins with http:// or https://")
		return
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		k.mistakes.Add(path, "must have no user, query or fragment")
	}
}

// secret loads a secret. Its text is in no message.
func (k *check) secret(path string, ref secret.Ref) secret.Value {
	if k.getenv == nil {
		return secret.Value{}
	}
	value, err := ref.Load(k.getenv)
	if err != nil {
		k.mistakes.Add(path, "%s", fault.From(err).Detail)
	}
	return value
}

func label(value string) []string { return validation.IsDNS1123Label(value) }

func subdomain(value string) []string { return validation.IsDNS1123Subdomain(value) }

func qualified(value string) []string { return validation.IsQualifiedName(value) }

var hostGrammar = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?$|^\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?$`)

func host(value string) []string {
	if hostGrammar.MatchString(value) {
		return nil
	}
	return []string{fmt.Sprintf("%q is not a host, as in git.lab or 127.0.0.1:5000", value)}
}

var repositoryGrammar = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.:-]*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

func repository(value string) []string {
	if repositoryGrammar.MatchString(value) {
		return nil
	}
	return []string{fmt.Sprintf("%q is not a repository without tag, as in registry/acme", value)}
}
