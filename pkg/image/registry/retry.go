package registry

import (
	"net/http"
	"strconv"
	"time"
)

// patient asks a second time when it is told when to, and that is still in time.
type patient struct{ next http.RoundTripper }

func (p patient) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := p.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusTooManyRequests {
		return response, err
	}
	wait, ok := retryAfter(response, time.Now())
	if deadline, bounded := request.Context().Deadline(); !ok || bounded && time.Until(deadline) <= wait {
		return response, nil
	}
	response.Body.Close()
	select {
	case <-time.After(wait):
		return p.next.RoundTrip(request)
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// retryAfter is how long the answer asks to wait: in seconds, or until a time.
func retryAfter(response *http.Response, now time.Time) (time.Duration, bool) {
	text := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
