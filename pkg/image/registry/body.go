package registry

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/runhook/runhook/pkg/limits"
)

// read reads a body whole, or says that it is too large: half of one is worse
// than none.
func read(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data, nil
}

// printable cuts a text from outside for an error.
func printable(text []byte) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, string(text[:min(len(text), limits.Quoted)]))
	return strings.TrimSpace(clean)
}
