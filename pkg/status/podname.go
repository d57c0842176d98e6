package status

import (
	"fmt"
	"hash/fnv"
)

// podNameFormat is Argo's annotation; v1 names pods by node id.
const podNameFormat = "workflows.argoproj.io/pod-name-format"

// podNamePrefix is how much of a pod's name Argo fills before the hash.
const podNamePrefix = 253 - 10 - 1

// podName is the name that Argo gives the pod of a node; the Workflow does not
// hold it (workflow/util/pod_name.go, which imports the controller's clients).
func podName(w *Workflow, n *Node) string {
	if w.Metadata.Annotations[podNameFormat] == "v1" {
		return n.ID
	}
	if n.Name == w.Metadata.Name {
		return n.Name
	}
	prefix := w.Metadata.Name
	template := n.TemplateName
	if n.TemplateRef != nil {
		template = n.TemplateRef.Template
	}
	if template != "" {
		prefix += "-" + template
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(n.Name))
	return fmt.Sprintf("%.*s-%d", podNamePrefix, prefix, hash.Sum32())
}
