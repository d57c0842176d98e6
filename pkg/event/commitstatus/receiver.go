package commitstatus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/event"
	"github.com/runhook/runhook/pkg/event/sink"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/function"
)

// host is the API of one provider. Each call gives the answer where there was
// one; an error beside a good answer says that it could not be read.
type host interface {
	// set gives a commit a status, or errShown.
	set(ctx context.Context, c Commit, s Status) (*http.Response, error)
	// longest is how many characters a description may have.
	longest() int
}

// lister is a host that lists every status that it was given, an equal one
// again. It is asked for the last one first. At the others an equal one changes
// nothing.
type lister interface {
	// last gives the last status of a context; nil: none.
	last(ctx context.Context, c Commit, name string) (*Status, *http.Response, error)
}

// errShown says that the host shows a state already.
var errShown = errors.New("is shown already")

// Receiver sets the statuses of one sink of the config.
type Receiver struct {
	host         host
	gate         *gate
	name         string // of the host, as clone addresses have it
	repositories map[string]string
	link         func(run string) string
}

// New makes the receiver of a sink. The link to a run is empty where the config
// has no public address. Nobody is called.
func New(c config.Sink, link func(run string) string) (*Receiver, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "sink %s: baseURL is no address", c.Name)
	}
	r := &Receiver{gate: newGate(), name: hostName(base), repositories: map[string]string{}, link: link}
	for _, name := range c.Repositories {
		r.repositories[strings.ToLower(name)] = name
	}
	if r.host, err = dial(c, base, sink.Client(transport{r.gate, http.DefaultTransport})); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "sink %s: %v", c.Name, err)
	}
	return r, nil
}

// hostName is a host with its port, unless that is the scheme's own.
func hostName(u *url.URL) string {
	name := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		name = strings.TrimSuffix(name, port)
	}
	return name
}

// Order is by commit and context, of the events about the phases of runs that a
// commit started.
func (r *Receiver) Order(e event.Event) (string, error) {
	if e.Run == nil || e.Run.Source == nil || e.Run.Source.Repo == "" || e.Run.Source.SHA == "" {
		return "", sink.ErrUnwanted
	}
	commit, ok := r.commit(e.Run.Source)
	if !ok {
		return "", sink.ErrSkipped
	}
	return strings.Join([]string{commit.Repository, commit.SHA, e.Run.Source.Route}, " "), nil
}

// Ready waits while the host wants to be left alone.
func (r *Receiver) Ready(ctx context.Context) error { return r.gate.wait(ctx, r.gate.calls) }

// Post sets the status that an event says, unless the host shows it already: a
// new leader sends again what the last one may have sent.
func (r *Receiver) Post(ctx context.Context, e event.Event) error {
	commit, ok := r.commit(e.Run.Source)
	if !ok {
		return sink.ErrSkipped
	}
	want := Of(*e.Run, r.link(e.Run.Run))
	want.Description = cut(want.Description, r.host.longest())
	if lists, ok := r.host.(lister); ok {
		shown, response, err := lists.last(ctx, commit, want.Context)
		if err := judge(response, err); err != nil {
			return fmt.Errorf("ask for the last status: %w", err)
		}
		if shown != nil && shown.State == want.State && shown.Description == want.Description && shown.TargetURL == want.TargetURL {
			return sink.ErrSkipped
		}
	}
	if err := r.gate.wait(ctx, r.gate.writes); err != nil {
		return err
	}
	response, err := r.host.set(ctx, commit, want)
	if errors.Is(err, errShown) {
		return sink.ErrSkipped
	}
	return judge(response, err)
}

var (
	hexSHA    = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	routeName = regexp.MustCompile(`^[a-z0-9-]{1,63}/[a-z0-9-]{1,63}$`)
)

// commit is the commit of a delivery, if the config allows it to get a status.
// What the delivery says chooses among what is allowed, and adds nothing to it.
func (r *Receiver) commit(source *function.Origin) (Commit, bool) {
	repository, listed := r.repositories[strings.ToLower(source.Repo)]
	if !listed || !strings.EqualFold(source.Host, r.name) || !hexSHA.MatchString(source.SHA) || !routeName.MatchString(source.Route) {
		return Commit{}, false
	}
	return Commit{repository, source.SHA, source.Ref}, true
}
