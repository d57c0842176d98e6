// Package run says what a run is: its fields, what of them is acceptable, and
// the names that follow from it. It knows nothing of a cluster.
package run

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/image"
	"github.com/runhook/runhook/pkg/strict"
)

// Run is one submission.
type Run struct {
	// ID names the run: a DNS label, letter first. Empty: made from the key.
	ID string `json:"id,omitempty"`
	// Queue is the Kueue LocalQueue; empty: not queued.
	Queue string `json:"queue,omitempty"`
	// Priority is a name of the config.
	Priority string `json:"priority,omitempty"`
	// Image is for the tasks that name none.
	Image string `json:"image,omitempty"`
	// Build asks for a first task `build`.
	Build *Build `json:"build,omitempty"`
	// Params are texts that every task sees as RUNHOOK_PARAM_<NAME>.
	Params map[string]string `json:"params,omitempty"`
	// Env is for every task.
	Env map[string]EnvValue `json:"env,omitempty"`
	// Volumes can be mounted by tasks.
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// Deadline is how long the run may take.
	Deadline Duration `json:"deadline,omitempty"`
	// Reserved runs on the nodes that are reserved for this run only.
	Reserved bool `json:"reserved,omitempty"`
	// Tasks are the nodes of the run's graph.
	Tasks []Task `json:"tasks"`
}

// Build is the image that a run's first task builds and pushes.
type Build struct {
	// Ref is a tag in the cluster's registry.
	Ref string `json:"ref"`
	// Git is the context.
	Git image.Git `json:"git"`
}

// Task is one node of a run's graph.
type Task struct {
	// ID is a DNS label, letter first, of at most 40 characters.
	ID string `json:"id"`
	// Needs are the tasks that must have succeeded before.
	Needs []string `json:"needs,omitempty"`
	Program
	// Nodes pin workers to nodes: worker i goes to Nodes[i mod n].
	Nodes []string `json:"nodes,omitempty"`
	// Split makes workers of the task.
	Split *Split `json:"split,omitempty"`
}

// Program is what a container runs, and with what.
type Program struct {
	Image   string              `json:"image,omitempty"`
	Command []string            `json:"command,omitempty"` // the program, not a shell
	Args    []string            `json:"args,omitempty"`    // added to the command
	Env     map[string]EnvValue `json:"env,omitempty"`     // text, or a key of a Secret
	// Resources are requests by name; memory is the limit too.
	Resources map[string]Quantity `json:"resources,omitempty"`
	// MaxMemory is what an attempt gets after one that was killed for memory.
	MaxMemory Quantity `json:"maxMemory,omitempty"`
	Retry     *Retry   `json:"retry,omitempty"`  // default: a failed attempt is final
	Mounts    []Mount  `json:"mounts,omitempty"` // volumes of the run
}

// Retry says how often a failed attempt is tried again.
type Retry struct {
	// Failures is how many attempts must have been made for a failed one to be final.
	Failures int `json:"failures,omitempty"`
	// Backoff is the first wait; it doubles.
	Backoff Duration `json:"backoff,omitempty"`
}

// Mount puts a volume of the run into a container.
type Mount struct {
	Name     string `json:"name"` // of a volume of the run
	Path     string `json:"path"` // in the container, absolute
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// Split divides a task among workers.
type Split struct {
	// Workers all must succeed.
	Workers int `json:"workers"`
	// Extra is how many helpers of lower priority there may be. The watch adds
	// them when the task begins, and takes them back when its workers are done.
	Extra int `json:"extra,omitempty"`
	// Merge joins the workers' results. It has the task's image, env and
	// mounts where it names none of its own.
	Merge *Program `json:"merge,omitempty"`
}

// BuildTask is the id of the task that Build asks for.
const BuildTask = "build"

// Decode reads a run strictly. It does not judge it: see Check.
func Decode(data []byte) (*Run, error) {
	var r Run
	if err := strict.JSON(data, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
