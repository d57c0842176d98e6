package image

import (
	"regexp"
	"slices"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// Git is one commit of a repository, or a folder in it, as a build's context.
type Git struct {
	URL  string `json:"url"`            // https, a host of the config, ends in .git
	SHA  string `json:"sha"`            // of the commit, all digits
	Path string `json:"path,omitempty"` // of the context in the repository, without ..
}

// GitHosts are the hosts, with their ports, that contexts may come from.
type GitHosts struct {
	// TLS are asked by https.
	TLS []string
	// Plain may be asked by http, too.
	Plain []string
}

// One expression each for the whole text, rather than a parser: what it does
// not take cannot mean one thing here and another in BuildKit or in Git.
var (
	gitURL  = regexp.MustCompile(`^(https?)://([a-z0-9.-]+(?::[0-9]{1,5})?)((?:/[A-Za-z0-9._~+-]+)+)\.git$`)
	gitSHA  = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	gitPath = regexp.MustCompile(`^[A-Za-z0-9._+-]+(?:/[A-Za-z0-9._+-]+)*$`)
)

// Check notes every mistake of the context, which stands at a path.
func (g Git) Check(path string, hosts GitHosts, mistakes *fault.List) {
	if problem := hosts.problem(g.URL); problem != "" {
		mistakes.Add(path+".url", "%s", problem)
	}
	if !gitSHA.MatchString(g.SHA) {
		mistakes.Add(path+".sha", "%.*q is not a commit: give all 40 (or 64) digits in lower-case hex", limits.Quoted, g.SHA)
	}
	if g.Path != "" && (len(g.Path) > limits.GitText || !gitPath.MatchString(g.Path) || dotted(g.Path)) {
		mistakes.Add(path+".path", "%.*q is not a folder of the repository: give a relative path of letters, digits and . _ + - without a segment `.` or `..`", limits.Quoted, g.Path)
	}
}

// problem says what is wrong with a repository's URL.
func (h GitHosts) problem(url string) string {
	parts := gitURL.FindStringSubmatch(url)
	if parts == nil || len(url) > limits.GitText || dotted(parts[3]) {
		return "is not a repository as taken here: https://host/path.git, without user, query, fragment, escapes or a segment `..`"
	}
	scheme, host := parts[1], parts[2]
	plain := slices.Contains(h.Plain, host)
	switch {
	case !plain && !slices.Contains(h.TLS, host):
		return "the host " + host + " is not one of build.gitHosts of the config"
	case scheme == "http" && !plain:
		return "must be https: the host " + host + " is not one of build.plainHosts of the config"
	}
	return ""
}

// dotted reports a segment that means another folder than it says.
func dotted(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// context is what BuildKit takes for it.
func (g Git) context() string {
	context := g.URL + "#" + g.SHA
	if g.Path != "" {
		context += ":" + g.Path
	}
	return context
}
