package py

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// isoReader walks over an ISO 8601 text.
type isoReader struct {
	text string
	pos  int
}

// ParseISO reads an ISO 8601 date or datetime as dateutil's isoparse does: the
// extended and the basic form, weeks and days of the year, parts left out at
// the end, 24:00 for the next midnight, fractions cut to microseconds.
func ParseISO(text string) (Time, error) {
	r := &isoReader{text: text}
	date, err := r.date()
	if err != nil {
		return Time{}, err
	}
	if r.pos == len(text) {
		return date.At(Clock{})
	}
	r.pos++ // any one character stands between date and time
	clock, err := r.clock()
	if err != nil {
		return Time{}, err
	}
	if clock.Hour == 24 {
		if clock.Minute != 0 || clock.Second != 0 || clock.Micro != 0 {
			return Time{}, errors.New("hour 24 is midnight only, as 24:00:00")
		}
		clock.Hour = 0
		t, err := date.At(clock)
		t.Time = t.AddDate(0, 0, 1)
		if t.Year() > 9999 {
			return Time{}, errors.New("year 10000 is out of range")
		}
		return t, err
	}
	return date.At(clock)
}

func (r *isoReader) digits(n int, what string) (int, error) {
	if len(r.text)-r.pos < n {
		return 0, fmt.Errorf("the %s needs %d digits", what, n)
	}
	part := r.text[r.pos : r.pos+n]
	for _, c := range []byte(part) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("the %s needs %d digits, not %q", what, n, part)
		}
	}
	r.pos += n
	return strconv.Atoi(part)
}

func (r *isoReader) at(c byte) bool { return r.pos < len(r.text) && r.text[r.pos] == c }

func (r *isoReader) date() (Date, error) {
	year, err := r.digits(4, "year")
	if err != nil {
		return Date{}, err
	}
	start := r.pos
	month, day, err := r.monthAndDay()
	if err == nil {
		return NewDate(year, month, day)
	}
	r.pos = start
	if d, other := r.weekOrOrdinal(year); other == nil {
		return d, nil
	}
	return Date{}, err
}

func (r *isoReader) monthAndDay() (month, day int, err error) {
	if r.pos == len(r.text) {
		return 1, 1, nil
	}
	extended := r.at('-')
	if extended {
		r.pos++
	}
	if month, err = r.digits(2, "month"); err != nil {
		return 0, 0, err
	}
	if r.pos == len(r.text) {
		if !extended {
			return 0, 0, errors.New("a month without a day is written 2020-01")
		}
		return month, 1, nil
	}
	if extended {
		if !r.at('-') {
			return 0, 0, errors.New("the date mixes forms with and without dashes")
		}
		r.pos++
	}
	day, err = r.digits(2, "day")
	return month, day, err
}

// weekOrOrdinal reads `2020-W01-1` and `2020-032`.
func (r *isoReader) weekOrOrdinal(year int) (Date, error) {
	extended := r.at('-')
	if extended {
		r.pos++
	}
	if !r.at('W') {
		n, err := r.digits(3, "day of the year")
		if err != nil {
			return Date{}, err
		}
		t := time.Date(year, 1, n, 0, 0, 0, 0, time.UTC)
		if n < 1 || t.Year() != year {
			return Date{}, fmt.Errorf("year %d has no day %d", year, n)
		}
		return NewDate(t.Year(), int(t.Month()), t.Day())
	}
	r.pos++
	week, err := r.digits(2, "week")
	if err != nil {
		return Date{}, err
	}
	day := 1
	if r.pos < len(r.text) {
		if r.at('-') != extended {
			return Date{}, errors.New("the date mixes forms with and without dashes")
		}
		if extended {
			r.pos++
		}
		if day, err = r.digits(1, "day of the week"); err != nil {
			return Date{}, err
		}
	}
	if week < 1 || week > 53 || day < 1 || day > 7 {
		return Date{}, fmt.Errorf("there is no week %d, day %d", week, day)
	}
	// 4 January is always in week 1.
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := 4 - (int(fourth.Weekday())+6)%7
	t := time.Date(year, 1, monday+(week-1)*7+day-1, 0, 0, 0, 0, time.UTC)
	return NewDate(t.Year(), int(t.Month()), t.Day())
}

func (r *isoReader) clock() (Clock, error) {
	var c Clock
	parts := []*int{&c.Hour, &c.Minute, &c.Second}
	names := []string{"hour", "minute", "second"}
	colons := false
	if len(r.text)-r.pos < 2 {
		return c, errors.New("the time is too short")
	}
	for i := 0; r.pos < len(r.text); i++ {
		if c := r.text[r.pos]; c == '-' || c == '+' || c == 'Z' || c == 'z' {
			break
		}
		if i == 1 && r.at(':') {
			colons = true
			r.pos++
		} else if i == 2 && colons {
			if !r.at(':') {
				return c, errors.New("the time mixes forms with and without colons")
			}
			r.pos++
		}
		if i < len(parts) {
			n, err := r.digits(2, names[i])
			if err != nil {
				return c, err
			}
			*parts[i] = n
			continue
		}
		if i > len(parts) || !r.fraction(&c.Micro) {
			return c, fmt.Errorf("%q is left over behind the time: no space before a zone, no point without digits", r.text[r.pos:])
		}
	}
	if r.pos == len(r.text) {
		return c, nil
	}
	zone, err := parseZone(r.text[r.pos:])
	c.Zone = zone
	return c, err
}

// fraction reads `.25` or `,25`, and no more than microseconds.
func (r *isoReader) fraction(micro *int) bool {
	if !r.at('.') && !r.at(',') {
		return false
	}
	end := r.pos + 1
	for end < len(r.text) && r.text[end] >= '0' && r.text[end] <= '9' {
		end++
	}
	digits := r.text[r.pos+1 : end]
	if digits == "" {
		return false
	}
	*micro, _ = strconv.Atoi((digits + "000000")[:6])
	r.pos = end
	return true
}

func parseZone(text string) (*time.Location, error) {
	if text == "Z" || text == "z" {
		return time.UTC, nil
	}
	bad := fmt.Errorf("the zone %q is not Z, +02, +0200 or +02:00", text)
	if text[0] != '+' && text[0] != '-' {
		return nil, bad
	}
	r := &isoReader{text: text, pos: 1}
	hours, err := r.digits(2, "hour of the zone")
	if err != nil {
		return nil, bad
	}
	minutes := 0
	if r.pos < len(text) {
		if r.at(':') {
			r.pos++
		}
		if minutes, err = r.digits(2, "minute of the zone"); err != nil || r.pos < len(text) {
			return nil, bad
		}
	}
	if hours > 23 || minutes > 59 {
		return nil, bad
	}
	offset := hours*3600 + minutes*60
	if text[0] == '-' {
		offset = -offset
	}
	return time.FixedZone("", offset), nil
}
