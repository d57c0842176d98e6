// Package version knows the versions that a gordo project names: of Python
// packages by PEP 440, of gordo's images, and of Argo's program.
package version

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/fault"
)

// PEP440 is a version of a Python package.
type PEP440 struct {
	Epoch   string
	Release []string // numbers without leading zeros
	Pre     string   // as in `rc1`; empty: none
	Post    string   // as in `.post1`
	Dev     string   // as in `.dev0`
	Local   string
}

var pep440Form = regexp.MustCompile(`(?i)^v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)` +
	`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]+)?)?` +
	`(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]+)?)?` +
	`(?:[-_.]?(dev)[-_.]?([0-9]+)?)?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

var preNames = map[string]string{"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc"}

// ParsePEP440 reads a version and brings it to its normal form.
func ParsePEP440(text string) (PEP440, error) {
	part := pep440Form.FindStringSubmatch(strings.Trim(text, " \t\n\r\f\v"))
	if part == nil {
		return PEP440{}, fault.New(fault.Invalid, "%.100q is not a version by PEP 440, as in 1.2.3 or 1.2.3rc1", text)
	}
	v := PEP440{Epoch: plainNumber(part[1]), Local: normalLocal(part[10])}
	for number := range strings.SplitSeq(part[2], ".") {
		v.Release = append(v.Release, plainNumber(number))
	}
	if name := strings.ToLower(part[3]); name != "" {
		if short, ok := preNames[name]; ok {
			name = short
		}
		v.Pre = name + plainNumber(part[4])
	}
	if part[5] != "" || part[6] != "" {
		v.Post = ".post" + plainNumber(part[5]+part[7])
	}
	if part[8] != "" {
		v.Dev = ".dev" + plainNumber(part[9])
	}
	return v, nil
}

func plainNumber(digits string) string {
	if trimmed := strings.TrimLeft(digits, "0"); trimmed != "" {
		return trimmed
	}
	return "0"
}

func normalLocal(local string) string {
	parts := strings.FieldsFunc(strings.ToLower(local), func(r rune) bool { return strings.ContainsRune("-_.", r) })
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" {
			parts[i] = plainNumber(p)
		}
	}
	return strings.Join(parts, ".")
}

// String is the normal form.
func (v PEP440) String() string {
	text := strings.Join(v.Release, ".") + v.Pre + v.Post + v.Dev
	if v.Epoch != "0" {
		text = v.Epoch + "!" + text
	}
	if v.Local != "" {
		text += "+" + v.Local
	}
	return text
}

// Number is one number of the release, 0 where it is left out.
func (v PEP440) Number(i int) (int, error) {
	if i >= len(v.Release) {
		return 0, nil
	}
	n, err := strconv.Atoi(v.Release[i])
	if err != nil {
		return 0, fmt.Errorf("the version %.100q holds a number that is too large", v)
	}
	return n, nil
}

// AtLeast reports whether a version is not older than a release.
func (v PEP440) AtLeast(release ...int) bool {
	if v.Epoch != "0" {
		return true
	}
	for i, want := range release {
		got, err := v.Number(i)
		if err != nil || got > want {
			return true
		}
		if got < want {
			return false
		}
	}
	for i := len(release); i < len(v.Release); i++ {
		if v.Release[i] != "0" {
			return true
		}
	}
	// The release itself; a pre-release or a development state comes before it.
	return v.Pre == "" && (v.Dev == "" || v.Post != "")
}
