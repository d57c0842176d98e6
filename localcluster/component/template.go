package component

import "os"

// words are what a template's ${NAME}s stand for.
type words map[string]string

// fill fills a template; a word it asks for must be given.
func fill(template string, w words) string {
	return os.Expand(template, func(name string) string {
		value, ok := w[name]
		if !ok {
			panic("a template asks for " + name) // found by the first test that renders it
		}
		return value
	})
}

// pinned is the part of a patch that keeps a controller of the cluster on the
// first node, whatever befalls that, so that the other nodes are empty and
// tests can taint or lose them. Its probe waits longer than the one second of
// upstream, within which a machine that compiles beside it may not answer.
const pinned = `    - {op: add, path: /spec/template/spec/nodeSelector, value: {kubernetes.io/hostname: node1}}
    - {op: add, path: /spec/template/spec/tolerations, value: [{operator: Exists}]}
    - {op: add, path: /spec/template/spec/containers/0/livenessProbe/timeoutSeconds, value: 30}`
