package hook

import (
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/limits"
)

func TestPayloadValues(t *testing.T) {
	for name, tc := range map[string]struct {
		list  string
		taken bool
	}{
		"as many as are taken": {strings.Repeat("0,", limits.PayloadValues-1) + "0", true},
		"one more":             {strings.Repeat("0,", limits.PayloadValues) + "0", false},
		"commas of a text":     {`"` + strings.Repeat(`\",`, limits.PayloadValues+1) + `"`, true},
	} {
		if _, err := parseObject([]byte(`{"x":[` + tc.list + `]}`)); (err == nil) != tc.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
