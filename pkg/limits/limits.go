// Package limits holds every limit of runhook in one place, each with its
// reason. The config may change those that Set names, by the same names.
package limits

import "time"

// Bytes that are read from outside.
const (
	// Head is the size of a request line with its headers. GitHub and GitLab
	// send below 4 KiB; a bearer token of a service account is about 1 KiB.
	Head = 64 << 10
	// HookBody is the body of a webhook. Hosts send up to 25 MB, but cut the
	// commit list long before; 3 MiB holds 2,048 commits with their paths.
	HookBody = 3 << 20
	// FunctionBody is the body of a function call: a run of 1 MiB as a
	// Workflow fits twice.
	FunctionBody = 2 << 20
	// Workflow is the largest Workflow that is sent: etcd refuses a request
	// over 1.5 MiB, and Argo needs room for the status.
	Workflow = 1 << 20
	// LogBytes is how much of one attempt's log is given.
	LogBytes = 1 << 20
	// NodeStatus is a Workflow's node status after decompression: Argo writes
	// at most 1 MiB compressed, which a hostile object could blow up.
	NodeStatus = 64 << 20
	// JSONDepth is how deep JSON or YAML may nest; a run needs 12.
	JSONDepth = 64
	// YAMLBytes is a YAML document as JSON, its aliases written out: a few
	// lines of aliases of aliases would fill any memory.
	YAMLBytes = 4 << 20
	// Problems is how many mistakes of one request are told: a hostile body
	// holds hundreds of thousands, and nobody reads them.
	Problems = 100
	// Quoted is how many bytes of a text from outside an error says back.
	Quoted = 200
)

// Times that a caller waits.
const (
	// HookTime is how long a hook takes to answer: Gitea hangs up at 5 s.
	HookTime = 3 * time.Second
	// FunctionTime is how long a function takes to answer.
	FunctionTime = 5 * time.Second
	// ListTime is the same for functions that list a whole cluster.
	ListTime = 30 * time.Second
	// ShutdownTime is how long requests under way may take after SIGTERM;
	// Kubernetes kills after 30 s.
	ShutdownTime = 20 * time.Second
)

// Sizes of a run.
const (
	// Workers of one split task: beyond that Argo's status passes what etcd takes.
	Workers = 1000
	// EnvEntry and ContainerArgs are bytes as JSON: Linux takes 128 KiB for
	// one argument or variable, and Argo moves longer args to a file.
	EnvEntry      = 120 << 10
	ContainerArgs = 120 << 10
	// MinMemory is the least a container is given: below it runc fails, and
	// `memory: 8` (bytes) is a slip of the pen.
	MinMemory = 4 << 20
)
