package limits

import "time"

// The watch.
const (
	// EventReplay is how far back a new leader sends again what runs imply: a
	// leader that dies is followed within LeaseTime, and an operator who sees
	// that sinks were away restarts within minutes.
	EventReplay = 5 * time.Minute
	// LeaseTime, LeaseRenew and LeaseRetry are those of Kubernetes' own controllers.
	LeaseTime  = 15 * time.Second
	LeaseRenew = 10 * time.Second
	LeaseRetry = 2 * time.Second
	// EvidenceTime is how long one proof is tried to be written before others
	// have their turn; it is tried again after them.
	EvidenceTime = 10 * time.Second
	// Watchers is how many Workflows are looked at side by side.
	Watchers = 4
	// OnceLook is how often it is looked what was remembered of alerts for too
	// long: it is kept for days.
	OnceLook = time.Hour
	// FlushTime is how long sinks may take after SIGTERM; with DrainTime it
	// stays below the 30 s after which Kubernetes kills.
	FlushTime = 10 * time.Second
)

// What a Sensor says of pods.
const (
	// RecordSkew is how far the clock that a condition was written by may be
	// ahead of ours.
	RecordSkew = 5 * time.Second
	// PodNameParts is how many parts the name of a pod may have: it is all that
	// is left of one that is gone, and a Workflow is asked for by each of its
	// beginnings. The longest run id with the longest task has 54.
	PodNameParts = 64
	// PodConditions is how many conditions a pod may have: Kubernetes and Kueue
	// write less than ten, and each is compared with all before it.
	PodConditions = 100
)

// Sinks.
const (
	// SinkLanes is how many events go to one sink side by side; those of one
	// run keep to one lane, in order.
	SinkLanes = 8
	// SinkQueue is how many events one lane holds: with 1 KiB each, all lanes
	// of a sink hold some 10 MiB.
	SinkQueue = 1250
	// SinkBytes is how much the data of all events of a sink that wait may be: a
	// Workflow of others may have names and messages of any length.
	SinkBytes = 32 << 20
	// SinkTime is how long one try may take.
	SinkTime = 10 * time.Second
	// SinkRetry is how long an event is tried: a receiver that restarts is
	// back within a minute.
	SinkRetry = 5 * time.Minute
	// SinkPause is the wait before the second try; it grows to SinkPauseCap.
	SinkPause    = 500 * time.Millisecond
	SinkPauseCap = 30 * time.Second
	// SinkAnswer is how much of an answer is read, so that its connection can
	// be used again.
	SinkAnswer = 64 << 10
)

// Statuses of commits.
const (
	// StatusRate, a second, and StatusBurst: GitHub asks for a second between two
	// writes, and refuses more than 80 a minute.
	StatusRate  = 1
	StatusBurst = 10
	// StatusCallRate and StatusCallBurst are for all calls: a new leader asks for
	// the status of every run that goes on. GitHub counts a write as five calls, and
	// allows 900 a minute.
	StatusCallRate  = 5
	StatusCallBurst = 50
	// StatusRest is how long a host is left alone that refuses for its rate and
	// does not say until when, as GitHub asks for; StatusRestCap bounds what hosts
	// say: their rates are by the hour at most.
	StatusRest    = time.Minute
	StatusRestCap = time.Hour
	// StatusRetry is how long a status is tried: one that waited for a host's
	// hour to pass has time left.
	StatusRetry = 2 * time.Hour
	// StatusAnswer is how much of an answer is read: a hundred statuses of a
	// commit take some 150 KiB.
	StatusAnswer = 1 << 20
)

// The stream of events.
const (
	// StreamKept is how many events a reader may have missed.
	StreamKept = 10_000
	// StreamBytes is how much the data of all events that are kept may be, which
	// are fewer then.
	StreamBytes = 64 << 20
	// StreamBehind is how many events a reader may be behind: a run of 1,000
	// workers that starts gives some 3,000 within a minute.
	StreamBehind = 4096
	// Heartbeat keeps proxies from taking a silent stream for dead.
	Heartbeat = 15 * time.Second
	// Streams is how many readers one replica has at once.
	Streams = 200
)
