package limits

import "time"

// How attempts follow each other.
const (
	// Backoff is the wait before the second attempt; it doubles.
	Backoff = 10 * time.Second
	// BackoffCap is the longest wait: a run that is preempted again and again
	// should start soon after there is room.
	BackoffCap = 5 * time.Minute
	// Failures is the most that `retry.failures` may say: no config allows more
	// retries, and Argo's expression adds to it.
	Failures = 1000
)
