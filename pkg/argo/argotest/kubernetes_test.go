package argotest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// kubelet gives the environment and the words that a program is started with,
// by Kubernetes' documented rule: `$(NAME)` becomes the value of a variable
// that stands before it (in command and args: of any), `$$` becomes `$`, and
// everything else stays, a reference to what is not known too. The kubelet's
// own code is in no module that can be imported.
func kubelet(c *corev1.Container) (env map[string]string, words []string) {
	env = map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = expand(e.Value, env)
	}
	for _, word := range append(append([]string{}, c.Command...), c.Args...) {
		words = append(words, expand(word, env))
	}
	return env, words
}

func expand(text string, known map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		end := strings.IndexByte(rest, ')')
		switch {
		case strings.HasPrefix(rest, "$$"):
			b.WriteByte('$')
			i++
		case strings.HasPrefix(rest, "$(") && end > 0:
			name := rest[2:end]
			value, ok := known[name]
			if !ok {
				value = rest[:end+1]
			}
			b.WriteString(value)
			i += end
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
