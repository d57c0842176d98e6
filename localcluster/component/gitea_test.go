package component

import "testing"

func TestATokenIsFoundBesideTheLog(t *testing.T) {
	const token, log = "f4399c2b0ad2bb691218b280a5ee7dd2d4e121de", "2026/12/01 01:16:08 setting.go:181 [E] You are running Gitea using the root user\n"
	for _, out := range []string{token + "\n", log + token + "\n", token + "\n" + log} {
		if got := giteaToken.FindString(out); got != token {
			t.Errorf("in %q: %q", out, got)
		}
	}
	if got := giteaToken.FindString(log + "no " + token); got != "" {
		t.Errorf("found %q", got)
	}
}
