package main

import (
	_ "embed"
	"strings"
	"time"

	"github.com/runhook/runhook/pkg/hook/hooktest"
)

// example is a push as GitHub sends it; SHA and TIME stand for the commit.
//
//go:embed push.json
var example string

// freshPush makes the example a push of a new commit, so that every demo is a new run.
func freshPush() (sha string, body []byte) {
	sha = hooktest.RandomHex(20)
	return sha, []byte(strings.NewReplacer("SHA", sha, "TIME", time.Now().UTC().Format(time.RFC3339)).Replace(example))
}
