package py

import (
	"fmt"
	"time"
)

// Time is Python's datetime: with a zone when it is aware.
type Time struct {
	time.Time
	Aware bool
}

// Date is Python's date: a day without a zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Set is Python's set, in the order it was written.
type Set []any

// ISO is Python's isoformat: microseconds only where there are any.
func (t Time) ISO() string {
	layout := "2006-01-02T15:04:05"
	if t.Nanosecond() != 0 {
		layout = "2006-01-02T15:04:05.000000"
	}
	if t.Aware {
		layout += "-07:00"
	}
	return t.Format(layout)
}

// Text is Python's str of a datetime: isoformat with a space.
func (t Time) Text() string {
	text := []byte(t.ISO())
	text[10] = ' '
	return string(text)
}

// ISO is Python's isoformat of a date.
func (d Date) ISO() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// NewDate checks that a day exists.
func NewDate(year, month, day int) (Date, error) {
	switch {
	case year < 1 || year > 9999:
		return Date{}, fmt.Errorf("year %d is out of range", year)
	case month < 1 || month > 12:
		return Date{}, fmt.Errorf("month must be in 1..12, and %d is not", month)
	case day < 1 || day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return Date{}, fmt.Errorf("day %d is out of range for month %d", day, month)
	}
	return Date{year, time.Month(month), day}, nil
}

// Clock is a time of a day with its zone, if it has one.
type Clock struct {
	Hour, Minute, Second, Micro int
	Zone                        *time.Location
}

// At joins a day and a time of it.
func (d Date) At(c Clock) (Time, error) {
	switch {
	case c.Hour < 0 || c.Hour > 23:
		return Time{}, fmt.Errorf("hour must be in 0..23, and %d is not", c.Hour)
	case c.Minute < 0 || c.Minute > 59:
		return Time{}, fmt.Errorf("minute must be in 0..59, and %d is not", c.Minute)
	case c.Second < 0 || c.Second > 59:
		return Time{}, fmt.Errorf("second must be in 0..59, and %d is not", c.Second)
	}
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	t := time.Date(d.Year, d.Month, d.Day, c.Hour, c.Minute, c.Second, c.Micro*1000, zone)
	return Time{t, c.Zone != nil}, nil
}
