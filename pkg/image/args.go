package image

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// Args are the build arguments of a Dockerfile.
type Args map[string]string

var argName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Check notes every mistake of the arguments, which stand at a path. No value
// is said back: it may be a secret.
func (a Args) Check(path string, mistakes *fault.List) {
	bytes := 0
	for _, name := range a.names() {
		at := strict.Key(path, name)
		bytes += len(name) + len(a[name])
		switch {
		case !argName.MatchString(name):
			mistakes.Add(at, "is not the name of a build argument: letters, digits and _, no digit first")
		case strings.HasPrefix(strings.ToUpper(name), "BUILDKIT_"):
			mistakes.Add(at, "names that begin with BUILDKIT_ change what BuildKit does, and are not taken")
		case strings.ContainsRune(a[name], 0):
			mistakes.Add(at, "holds a NUL, which no argument of a program can hold")
		}
	}
	if bytes > limits.ContainerArgs {
		mistakes.Add(path, "hold %d bytes; at most %d are taken", bytes, limits.ContainerArgs)
	}
}

func (a Args) names() []string { return slices.Sorted(maps.Keys(a)) }

// Blacken takes the values out of a log, since a Dockerfile may print them;
// those of several lines line by line, since a log sets something before each.
func (a Args) Blacken(log string) string {
	var secrets []string
	for _, value := range a {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= limits.BuildSecret {
				secrets = append(secrets, line)
			}
		}
	}
	// The longest first, since one may be a part of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		log = strings.ReplaceAll(log, secret, "***")
	}
	return log
}
