package commitstatus

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/runhook/runhook/pkg/event/sink"
	"github.com/runhook/runhook/pkg/limits"
)

// transport shows every answer to the gate, and bounds it.
type transport struct {
	gate *gate
	to   http.RoundTripper
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.to.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	t.gate.note(response)
	response.Body = bounded{io.LimitReader(response.Body, limits.StatusAnswer), response.Body}
	return response, nil
}

type bounded struct {
	io.Reader
	io.Closer
}

// hints say what to do about a refusal. What the host writes is not repeated: it
// could hold what it was sent.
var hints = map[int]string{
	http.StatusUnauthorized:        "the token is not valid there",
	http.StatusForbidden:           "the token may not set statuses of this repository",
	http.StatusNotFound:            "it has no such repository or commit, or none that the token may see",
	http.StatusUnprocessableEntity: "it has no such commit, or takes no more statuses of it",
}

// judge says what an answer means. Errors of the clients are not repeated
// either, for the same reason; only those of the network are.
func judge(response *http.Response, err error) error {
	if response == nil {
		return sink.Reason(err)
	}
	code := response.StatusCode
	switch {
	case code < 300:
		if err != nil {
			return errors.New("the answer cannot be read")
		}
		return nil
	case code == http.StatusForbidden && (spent(response.Header) || response.Header.Get("Retry-After") != ""):
		return fmt.Errorf("answered %d: the host's rate is used up", code)
	case code < 400:
		return fmt.Errorf("%w with %d: it has moved, and a redirect is not followed", sink.ErrRefused, code)
	}
	refusal := sink.Judge(response)
	if hint := hints[code]; hint != "" {
		return fmt.Errorf("%w: %s", refusal, hint)
	}
	return refusal
}
