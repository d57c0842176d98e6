package status

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/cause"
)

// sights is what is known of the pods of each node.
type sights struct {
	entries map[string][]cause.Entry // by node id, oldest pod first
	pods    map[string]*corev1.Pod   // by node id, the newest as last given
	fault   error                    // why the annotation was not read
}

// look joins the evidence of a Workflow with pods, which may show several
// moments, oldest first.
func look(w *Workflow, pods []corev1.Pod) sights {
	s := sights{entries: map[string][]cause.Entry{}, pods: map[string]*corev1.Pod{}}
	evidence, err := cause.Decode(w.Metadata.Annotations[cause.Annotation])
	if err != nil {
		evidence, s.fault = &cause.Evidence{}, err
	}
	nodeOf := nodeFinder(w)
	for i := range pods {
		pod := &pods[i]
		node := nodeOf(pod)
		if node == nil {
			continue
		}
		entry, _ := cause.Observe(pod)
		entry.Node, entry.UID = node.ID, cmp.Or(entry.UID, pod.Name)
		evidence.Add(entry)
		if last := s.pods[node.ID]; last == nil || !pod.CreationTimestamp.Before(&last.CreationTimestamp) {
			s.pods[node.ID] = pod
		}
	}
	for _, entry := range evidence.Entries() {
		if node := w.Status.Nodes[entry.Node]; node != nil && node.Type == typePod {
			s.entries[entry.Node] = append(s.entries[entry.Node], entry)
		}
	}
	return s
}

// NodeOf gives the node of a pod, of which the name may be all that is known;
// nil: the Workflow has none.
func (w *Workflow) NodeOf(pod *corev1.Pod) *Node { return nodeFinder(w)(pod) }

// nodeFinder finds the node of a pod: by Argo's annotation, else by the pod's name.
func nodeFinder(w *Workflow) func(*corev1.Pod) *Node {
	var byPodName map[string]*Node
	return func(pod *corev1.Pod) *Node {
		if !belongs(w, pod) {
			return nil
		}
		if id := pod.Annotations[cause.NodeAnnotation]; id != "" {
			return w.Status.Nodes[id]
		}
		if byPodName == nil {
			byPodName = map[string]*Node{}
			for _, n := range w.Status.Nodes {
				if n.Type == typePod {
					byPodName[podName(w, n)] = n
				}
			}
		}
		return byPodName[pod.Name]
	}
}

// belongs tells the pods of this Workflow from those of another, also from one
// of the same name that was there before.
func belongs(w *Workflow, pod *corev1.Pod) bool {
	if pod.Namespace != "" && w.Metadata.Namespace != "" && pod.Namespace != w.Metadata.Namespace {
		return false
	}
	for _, o := range pod.OwnerReferences {
		if o.Kind == "Workflow" && w.Metadata.UID != "" && o.UID != "" {
			return string(o.UID) == w.Metadata.UID
		}
	}
	label := pod.Labels[cause.WorkflowLabel]
	return label == "" || label == w.Metadata.Name
}

// last is what was seen of the newest pod of a node.
func (s sights) last(node string) cause.Entry {
	if seen := s.entries[node]; len(seen) > 0 {
		return seen[len(seen)-1]
	}
	return cause.Entry{}
}

// replaced are the pods of a node that another took the place of: Argo starts
// the pod of a young or lost node again under the same name, and says nothing.
func (s sights) replaced(node string) []cause.Entry {
	seen := s.entries[node]
	return slices.Clone(seen[:max(len(seen)-1, 0)])
}
