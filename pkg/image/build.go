package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/runhook/runhook/pkg/fault"
)

// Build is an image that is asked for: a context, and the tag it is pushed to.
type Build struct {
	Ref   Reference
	Files Files // or Git
	Git   *Git
	Args  Args
}

// Check notes every mistake of the context and the arguments.
func (b Build) Check(hosts GitHosts, mistakes *fault.List) {
	if b.Ref.digest != "" {
		mistakes.Add("ref", "must be a tag: the digest is known when the image is built")
	}
	switch {
	case b.Git != nil && b.Files != nil:
		mistakes.Add("files", "stand beside git: give one context")
	case b.Git != nil:
		b.Git.Check("git", hosts, mistakes)
	case b.Files != nil:
		b.Files.Check("files", mistakes)
	default:
		mistakes.Add("", "there is no context: give files or git")
	}
	b.Args.Check("buildArgs", mistakes)
}

// Key is equal for equal builds, and for them only.
func (b Build) Key() string {
	args := b.Args
	if args == nil {
		args = Args{} // none given is the same as an empty object
	}
	// Encoding cannot fail on these types, and sorts the keys of maps.
	canonical, _ := json.Marshal([]any{b.Ref.String(), b.Files, b.Git, args})
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Name is the name of its Job, made from the key: whoever asks for the same
// build finds the same Job.
func (b Build) Name() string { return "build-" + b.Key()[:20] }
