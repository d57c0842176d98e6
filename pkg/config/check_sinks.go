package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/runhook/runhook/pkg/strict"
)

var eventType = regexp.MustCompile(`^runhook\.((run|task)\.(pending|preempted|retrying|running|succeeded|failed|stopped|skipped)|attempt\.(started|ended)|build\.(pending|building|succeeded|failed|timedout))\.v1$`)

func isEventType(value string) []string {
	if eventType.MatchString(value) {
		return nil
	}
	return []string{fmt.Sprintf("%q is not a type of event, as in runhook.run.failed.v1", value)}
}

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_.~-]+(/[A-Za-z0-9_.~-]+)+$`)

// dots is a part of a name that a client of the host would take for another folder.
var dots = regexp.MustCompile(`(^|/)\.\.?(/|$)`)

func isRepositoryName(value string) []string {
	if repositoryName.MatchString(value) && !dots.MatchString(value) {
		return nil
	}
	return []string{fmt.Sprintf("%q is not owner/name", value)}
}

func (k *check) sinks(c *Config) {
	names := map[string]bool{}
	for i := range c.Sinks {
		sink, path := &c.Sinks[i], strict.Index("sinks", i)
		k.required(path+".name", sink.Name, label)
		k.unique(names, path+".name", sink.Name)
		k.oneOf(path+".type", sink.Type, SinkHTTP, SinkArgoEvents, SinkCommitStatus)
		switch sink.Type {
		case SinkHTTP, SinkArgoEvents:
			k.eventSink(path, sink)
		case SinkCommitStatus:
			k.statusSink(path, sink, c.PublicURL)
		}
	}
}

func (k *check) eventSink(path string, sink *Sink) {
	k.url(path+".url", sink.URL)
	k.each(path+".types", sink.Types, isEventType)
	if sink.Secret != nil {
		sink.Key = k.secret(path+".secret", *sink.Secret)
	}
	for key, given := range map[string]bool{
		"provider": sink.Provider != "", "baseURL": sink.BaseURL != "", "token": sink.Token != nil, "repositories": sink.Repositories != nil,
	} {
		k.foreign(path+"."+key, given, sink.Type)
	}
}

func (k *check) statusSink(path string, sink *Sink, publicURL string) {
	k.oneOf(path+".provider", sink.Provider, "github", "gitlab", "gitea", "forgejo", "bitbucket", "bitbucket-server")
	if publicURL == "" && strings.HasPrefix(sink.Provider, "bitbucket") {
		k.mistakes.Add(path+".provider", "needs publicURL: Bitbucket takes no status without a link")
	}
	k.url(path+".baseURL", sink.BaseURL)
	if sink.Token == nil {
		k.mistakes.Add(path+".token", "is missing")
	} else {
		sink.Key = k.secret(path+".token", *sink.Token)
	}
	if len(sink.Repositories) == 0 {
		k.mistakes.Add(path+".repositories", "is missing; only commits of listed repositories get a status")
	}
	k.each(path+".repositories", sink.Repositories, isRepositoryName)
	for i, name := range sink.Repositories {
		if sink.Provider != "gitlab" && strings.Count(name, "/") > 1 {
			k.mistakes.Add(strict.Index(path+".repositories", i), "%q has more than two parts, which only GitLab has", name)
		}
	}
	for key, given := range map[string]bool{"url": sink.URL != "", "types": sink.Types != nil, "secret": sink.Secret != nil} {
		k.foreign(path+"."+key, given, sink.Type)
	}
}

// foreign refuses a key that belongs to another type of sink: it would do nothing.
func (k *check) foreign(path string, given bool, kind string) {
	if given {
		k.mistakes.Add(path, "does not belong to a sink of type %s", kind)
	}
}
