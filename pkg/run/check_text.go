package run

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

var (
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	paramName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$`)
)

// reserved prefixes of env names: ours, and those that Argo gives its own meaning.
var reserved = []string{"RUNHOOK_", "ARGO_"}

// grammar applies a rule of Kubernetes. All of these exclude braces and `$`,
// so that Argo finds nothing to expand.
func (c *checker) grammar(path, text string, rule func(string) []string) bool {
	for _, wrong := range rule(text) {
		c.add(path, "%s: %s", quote(text), wrong)
		return false
	}
	return true
}

// freeText may be anything that a program can be given.
func (c *checker) freeText(path, text string) {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		c.add(path, "holds a NUL, which no program can be given")
	case !utf8.ValidString(text):
		c.add(path, "is not UTF-8")
	}
}

// tooMany bounds params and variables before each is looked at.
func (c *checker) tooMany(path string, n int) bool {
	if n > limits.Variables {
		c.add(path, "are %d; at most %d are taken", n, limits.Variables)
	}
	return n > limits.Variables
}

func (c *checker) env(path string, env map[string]EnvValue) {
	if c.tooMany(path, len(env)) {
		return
	}
	for _, key := range sorted(env) {
		value, at := env[key], strict.Key(path, key)
		if !envName.MatchString(key) {
			c.add(at, "a name is letters, digits and `_`, and does not begin with a digit")
		}
		for _, prefix := range reserved {
			if strings.HasPrefix(key, prefix) {
				c.add(at, "names that begin with %s are taken", prefix)
			}
		}
		if value.Secret != nil {
			c.secretKey(at, *value.Secret)
			continue
		}
		c.freeText(at, value.Text)
		c.entry(at, key, value.Text)
	}
}

// entry bounds an env entry as Argo gets it.
func (c *checker) entry(path, key, text string) {
	size := len(text)
	if size <= limits.EnvEntry { // escaped, a brace is 16 bytes
		size = jsonSize(corev1.EnvVar{Name: key, Value: Escape(text)})
	}
	if size > limits.EnvEntry {
		c.add(path, "is at least %d bytes as JSON, braces and `$` escaped; at most %d fit into an environment variable", size, limits.EnvEntry)
	}
}

// words are a command or arguments.
func (c *checker) words(path string, words []string) {
	escaped, size := make([]string, len(words)), 0
	for i, word := range words {
		c.freeText(strict.Index(path, i), word)
		if size += len(word); size <= limits.ContainerArgs {
			escaped[i] = Escape(word)
		}
	}
	if size <= limits.ContainerArgs {
		size = jsonSize(escaped)
	}
	if size > limits.ContainerArgs {
		c.add(path, "are at least %d bytes as JSON, braces and `$` escaped; at most %d fit", size, limits.ContainerArgs)
	}
}

// image applies the rule by which kubelets read references.
func (c *checker) image(path, image string) {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		c.add(path, "%s is no image reference", quote(image))
	}
}

func (c *checker) duration(path string, d Duration, least, most time.Duration) {
	switch parsed, ok := d.Parse(); {
	case !ok:
		c.add(path, "%s is no duration such as 90s or 24h", quote(string(d)))
	case parsed < least || parsed > most:
		c.add(path, "%s is not between %s and %s", quote(string(d)), least, most)
	}
}

// jsonSize is what encoding/json writes, as Argo does.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0 // not for values of texts
	}
	return len(data)
}

// quote says back a text from outside, bounded.
func quote(text string) string {
	if len(text) > limits.Quoted {
		text = strings.ToValidUTF8(text[:limits.Quoted], "") + "…"
	}
	return strconv.Quote(text)
}

// choose says what there is to choose from.
func choose(names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
