package status

import (
	"time"

	// encoding/json/v2 takes half the time of encoding/json, which is most of
	// the time of a status.
	"github.com/go-json-experiment/json"

	"github.com/runhook/runhook/pkg/fault"
)

// Workflow is the part of an Argo Workflow that is read here. Decoding only
// that much is what makes a status cheap: Argo's own type has some hundred
// fields a node, with every template's containers beside them.
type Workflow struct {
	Metadata Metadata `json:"metadata"`
	Spec     Spec     `json:"spec"`
	Status   State    `json:"status"`
}

// Metadata is the part of an object's metadata that is read.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
}

// Spec is the part of a Workflow's spec that is read.
type Spec struct {
	Entrypoint       string     `json:"entrypoint"`
	Shutdown         string     `json:"shutdown"`
	Suspend          bool       `json:"suspend"`
	Templates        []Template `json:"templates"`
	TemplateDefaults *Template  `json:"templateDefaults"`
}

// Template is the part of a template that is read.
type Template struct {
	Name  string `json:"name"`
	Retry *Retry `json:"retryStrategy"`
	DAG   *struct {
		Tasks []DAGTask `json:"tasks"`
	} `json:"dag"`
}

// Retry is a template's retry strategy.
type Retry struct {
	Policy     string `json:"retryPolicy"`
	Expression string `json:"expression"`
}

// DAGTask is one task of a DAG template.
type DAGTask struct {
	Name         string    `json:"name"`
	Template     string    `json:"template"`
	Dependencies []string  `json:"dependencies"`
	Depends      string    `json:"depends"`
	Inline       *Template `json:"inline"`
}

// State is the part of a Workflow's status that is read.
type State struct {
	Phase           string              `json:"phase"`
	Message         string              `json:"message"`
	StartedAt       time.Time           `json:"startedAt"`
	FinishedAt      time.Time           `json:"finishedAt"`
	Nodes           map[string]*Node    `json:"nodes"`
	CompressedNodes string              `json:"compressedNodes"`
	OffloadVersion  string              `json:"offloadNodeStatusVersion"`
	StoredTemplates map[string]Template `json:"storedTemplates"`
	StoredSpec      *Spec               `json:"storedWorkflowTemplateSpec"`
}

// Node is the part of a node's status that is read.
type Node struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	DisplayName  string    `json:"displayName"`
	Type         string    `json:"type"`
	Phase        string    `json:"phase"`
	BoundaryID   string    `json:"boundaryID"`
	Message      string    `json:"message"`
	StartedAt    time.Time `json:"startedAt"`
	FinishedAt   time.Time `json:"finishedAt"`
	Host         string    `json:"hostNodeName"`
	TemplateName string    `json:"templateName"`
	TemplateRef  *struct {
		Template string `json:"template"`
	} `json:"templateRef"`
	Children []string `json:"children"`
	Outputs  *struct {
		ExitCode string `json:"exitCode"`
	} `json:"outputs"`
}

// Decode reads one Workflow from JSON, whatever form its node status has.
func Decode(data []byte) (*Workflow, error) {
	w := &Workflow{}
	if err := json.Unmarshal(data, w); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "not a Workflow: %v", err)
	}
	if err := w.complete(); err != nil {
		return nil, err
	}
	return w, nil
}

// complete makes a decoded Workflow safe to walk.
func (w *Workflow) complete() error {
	if w.Metadata.Name == "" {
		return fault.New(fault.Invalid, "not a Workflow: metadata.name is missing")
	}
	if w.Status.CompressedNodes != "" && len(w.Status.Nodes) == 0 {
		plain, err := decompress(w.Status.CompressedNodes)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(plain, &w.Status.Nodes); err != nil {
			return fault.Wrap(fault.Malformed, err, "status.compressedNodes: not the JSON of nodes: %v", err)
		}
	}
	w.Status.CompressedNodes = ""
	for id, node := range w.Status.Nodes {
		if node == nil {
			return fault.New(fault.Malformed, "status.nodes[%s]: null", id)
		}
		node.ID = id
	}
	return nil
}

// offloaded reports whether the nodes stand in Argo's database only.
func (w *Workflow) offloaded() bool {
	return w.Status.OffloadVersion != "" && len(w.Status.Nodes) == 0
}
