package limits

import "time"

// Builds of images.
const (
	// BuildFiles is how many files a build takes in the request: each becomes
	// a mount of the build's pod.
	BuildFiles = 100
	// BuildFileBytes is what they may hold together: the cluster takes no
	// larger ConfigMap.
	BuildFileBytes = 1 << 20
	// GitText is a repository's URL or a folder in it: hosts take less.
	GitText = 1024
	// BuildKeep is how long an ended build can be asked for. After it the same
	// request builds anew.
	BuildKeep = time.Hour
	// BuildLogLines and BuildLogBytes are how much of a failed build's log is
	// given: the failed step and what it printed last.
	BuildLogLines = 50
	BuildLogBytes = 32 << 10
	// BuildSecret is the shortest build argument that is blackened in a log:
	// a shorter one is no secret, and would take half of the log with it.
	BuildSecret = 4
)

// Questions to a registry.
const (
	// RegistryTime is how long one question may take with all that belongs to
	// it, so that a function that has 5 s can still say what it got.
	RegistryTime = 4 * time.Second
	// RegistryToken is a token server's reply; tokens are about 2 KiB.
	RegistryToken = 64 << 10
	// RegistryHead is a registry's reply without its body.
	RegistryHead = 64 << 10
	// Manifest is an image's manifest: registries take up to 4 MiB, as the
	// distribution spec asks.
	Manifest = 4 << 20
)
