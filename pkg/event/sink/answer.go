package sink

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cenkalti/backoff/v5"
)

// Judge says what an answer means: taken, to be tried again, or refused.
func Judge(response *http.Response) error {
	code := response.StatusCode
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		// Who says when to come again is believed up to a minute.
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 && seconds <= 60 {
			return backoff.RetryAfter(seconds)
		}
		return fmt.Errorf("answered %d", code)
	default:
		return fmt.Errorf("%w with %d", ErrRefused, code)
	}
}

// Reason leaves the URL out of an error: it may hold a token.
func Reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
