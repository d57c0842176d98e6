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
	// PayloadValues is how many values a hook's body may hold: each takes some 60
	// bytes, however short it is written. 2,048 commits with their paths have 150,000.
	PayloadValues = 250_000
	// RefusedBody is how much of a body is thrown away after it was refused: a
	// sender that is cut off does not look for the answer. GitHub's largest is 25 MB.
	RefusedBody = 32 << 20
	// FunctionBody is the body of a function call: a run of 1 MiB as a
	// Workflow fits twice.
	FunctionBody = 2 << 20
	// Workflow is the largest Workflow that is sent: etcd refuses a request
	// over 1.5 MiB, and Argo needs room for the status.
	Workflow = 1 << 20
	// Program is the least that a task takes in its Workflow: the expression
	// for its retries is longer.
	Program = 400
	// LogBytes is how much of one attempt's log is given.
	LogBytes = 1 << 20
	// LogsBytes is how much one call of `logs` gives: a task of 1,000 workers
	// would fill any memory.
	LogsBytes = 16 << 20
	// NodeStatus is a Workflow's node status after decompression: Argo writes
	// at most 1 MiB compressed, which a hostile object could blow up.
	NodeStatus = 64 << 20
	// EvidenceBytes and EvidenceEntries bound the annotation runhook/evidence:
	// Kubernetes takes 256 KiB of annotations, and others want room too.
	EvidenceBytes   = 128 << 10
	EvidenceEntries = 2000
	// EvidencePlain is the same decompressed: an entry has below 1 KiB.
	EvidencePlain = 2 << 20
	// JSONDepth is how deep JSON or YAML may nest; a run needs 12.
	JSONDepth = 64
	// Values is what the lists and maps of one JSON text may take in memory: a
	// body of 2 MiB that says {} again and again would be 300 MiB of tasks. A
	// Workflow of 1 MiB needs a quarter at most.
	Values = 8 << 20
	// YAMLBytes is a YAML document, and the same as JSON, its aliases written
	// out: reading takes some 50 times a file's size, and a few lines of aliases
	// of aliases would fill any memory.
	YAMLBytes = 4 << 20
	// Problems is how many mistakes of one request are told: a hostile body
	// holds hundreds of thousands, and nobody reads them.
	Problems = 100
	// KeyBytes is the longest Idempotency-Key; a UUID has 36.
	KeyBytes = 255
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
	// LogTime is how long one log may take within FunctionTime: a node that
	// does not answer must not hide the logs of the others.
	LogTime = 3 * time.Second
	// FollowTime is how long a caller may follow a log.
	FollowTime = time.Hour
	// WaitTime is how long a caller may wait for a change of a run: proxies on
	// the way take a connection for dead after a minute without a byte.
	WaitTime = 50 * time.Second
	// WaitPoll is how long without a signal until a run that is waited for is
	// read anyway, and a broken watch is made anew.
	WaitPoll = 5 * time.Second
	// WaitGap is the least time between two reads of it: a run of a thousand
	// workers changes a hundred times a second when it starts.
	WaitGap = 200 * time.Millisecond
	// HelperTime is how long it is waited within FunctionTime for the name of a
	// helper that was stopped: its pods have to go first.
	HelperTime = 3 * time.Second
	// DrainTime is how long requests are still taken after SIGTERM, until
	// everybody knows that the pod is not ready: kube-proxy takes a second or two.
	DrainTime = 3 * time.Second
	// ShutdownTime is how long requests under way may take after SIGTERM;
	// Kubernetes kills after 30 s.
	ShutdownTime = 20 * time.Second
	// HeadTime is how long a request's head may take to come in, BodyTime the
	// whole request: a slow sender must not hold a connection for ever. 3 MiB
	// in 30 s is 100 KiB/s.
	HeadTime = 5 * time.Second
	BodyTime = 30 * time.Second
	// IdleTime is how long a connection stays open between two requests.
	IdleTime = 2 * time.Minute
	// TokenTime is how long the API server's word on a ServiceAccount token
	// is believed: a deleted account is shut out after it.
	TokenTime = 10 * time.Second
	// RetryAfter is when a call may come again, where nothing better is known.
	RetryAfter = 2 * time.Second
	// OnceKeep is how long an alert's having been acted on is remembered:
	// longer than Alertmanager repeats anything.
	OnceKeep = 7 * 24 * time.Hour
	// OncePending is when an alert that somebody began to act on is taken over:
	// ten times a hook's time, so that who began has surely died.
	OncePending = 30 * time.Second
	// OnceNote is how long noting that an alert was acted on may take, after
	// the call's own time.
	OnceNote = 2 * time.Second
)

// Rates, a second, and how many may come at once.
const (
	// CallerRate lets a Sensor with ten thousand events catch up in minutes.
	CallerRate  = 50
	CallerBurst = 200
	// HookRate is for verified deliveries: a monorepo's busiest hour has one a second.
	HookRate  = 50
	HookBurst = 200
	// AddressRate is for deliveries and tokens that are not proven.
	AddressRate  = 1
	AddressBurst = 30
	// RateKeys is how many callers, hooks or addresses are told apart at once;
	// the one that has been away longest is forgotten first.
	RateKeys = 10_000
	// Tokens is how many ServiceAccount tokens are remembered.
	Tokens = 1000
	// Secret is the largest file of a secret: Kubernetes takes no larger Secret.
	Secret = 1 << 20
	// TokenBytes is the longest bearer token that is looked at.
	TokenBytes = 16 << 10
)

// Reading the cluster.
const (
	// Page is how many objects one request of a list asks for, as kubectl does.
	Page = 500
	// WorkflowsAtOnce is how many runs an alert looks at side by side.
	WorkflowsAtOnce = 16
	// LogsAtOnce is how many logs of one call are read side by side.
	LogsAtOnce = 8
	// Followed is how many logs one caller follows side by side; the next one
	// begins when one of them has ended.
	Followed = 32
)

// Sizes of a run.
const (
	// Workers of one split task: beyond that Argo's status passes what etcd takes.
	Workers = 1000
	// EnvEntry and ContainerArgs are bytes as JSON: Linux takes 128 KiB for
	// one argument or variable, and Argo moves longer args to a file.
	EnvEntry      = 120 << 10
	ContainerArgs = 120 << 10
	// Variables is how many params a run has, and how many variables it or one of
	// its programs names: looking at a hundred thousand takes a second and 60 MiB.
	Variables = 1000
	// MinMemory is the least a container is given: below it runc fails, and
	// `memory: 8` (bytes) is a slip of the pen.
	MinMemory = 4 << 20
)

// Deliveries.
const (
	// CELCost bounds one expression of a route: Kubernetes gives one of its
	// own expressions as much, about a tenth of a second at worst.
	CELCost = 1_000_000
	// HookPause is the wait before a hook tries a call again while the cluster
	// is away: most often a connection was lost, and there are 3 s in all.
	// It grows to HookPauseCap.
	HookPause    = 100 * time.Millisecond
	HookPauseCap = time.Second
	// WebhookWindow is how far a signed time may be off, as Standard Webhooks
	// asks.
	WebhookWindow = 5 * time.Minute
	// WebhookSignatures is how many signatures one header may list.
	WebhookSignatures = 16
)

// Sizes of a machine-learning project.
const (
	// GordoConfig is a config file in bytes: 5,000 machines of 30 tags each
	// take about 10 MiB, and reading takes some 20 times a file's size.
	GordoConfig = 32 << 20
	// GordoExpanded is the config with its aliases written out: a few lines of
	// aliases of aliases would fill any memory. 100,000 small machines take a
	// third of it.
	GordoExpanded = 192 << 20
	// GordoOutput is all Workflows of a project together: globals of a few KiB
	// are written once for every machine. 5,000 machines of 30 tags take a third.
	GordoOutput = 256 << 20
	// GordoAnswer is the Workflows that one call of `generate` gives: some 900
	// machines of 30 tags. More is submitted, or made by the command line.
	GordoAnswer = 16 << 20
	// GordoNumber bounds seconds, percents and replicas of the flags, which
	// Kubernetes holds in 32 bits.
	GordoNumber = 1_073_741_824
)
