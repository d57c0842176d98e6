package yaml11

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// The forms of plain scalars that YAML 1.1 takes for a day and for a time.
var (
	dayForm  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	timeForm = regexp.MustCompile(`^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]*))?(?:[ \t]*(Z|([-+])([0-9]{1,2})(?::([0-9]{2}))?))?$`)
)

// looseTimestamp reads a timestamp as PyYAML's safe_load does: a day stays a
// day, and a time without a zone has none.
func looseTimestamp(text string) (any, error) {
	if dayForm.MatchString(text) {
		return day(text[0:4], text[5:7], text[8:10])
	}
	part := timeForm.FindStringSubmatch(text)
	if part == nil {
		return nil, fmt.Errorf("%q is not a timestamp", clip(text))
	}
	date, err := day(part[1], part[2], part[3])
	if err != nil {
		return nil, err
	}
	clock := py.Clock{Hour: number(part[4]), Minute: number(part[5]), Second: number(part[6]), Micro: number((part[7] + "000000")[:6])}
	switch {
	case part[9] != "":
		minutes := number(part[10])*60 + number(part[11])
		if minutes >= 24*60 {
			return nil, fmt.Errorf("the zone of %q is a day or more away", clip(text))
		}
		if part[9] == "-" {
			minutes = -minutes
		}
		clock.Zone = time.FixedZone("", minutes*60)
	case part[8] != "":
		clock.Zone = time.UTC
	}
	return date.At(clock)
}

func day(year, month, day string) (py.Date, error) {
	return py.NewDate(number(year), number(month), number(day))
}

// number reads digits that a form has checked; none is 0.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
