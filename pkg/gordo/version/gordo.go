package version

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/runhook/runhook/pkg/fault"
)

// Gordo is the version whose rules runhook follows.
const Gordo = "6.0.4"

// Image is a version of gordo's images, as `--gordo-version` names it.
type Image struct {
	Tag        string
	PullPolicy corev1.PullPolicy // Always for what may move: branches, 1.2, latest
}

// \d in Python takes the digits of every script.
var (
	releaseForm = regexp.MustCompile(`^(\p{Nd}{1,5})(?:\.(\p{Nd}+)(?:\.(\p{Nd}+))?([^\n]+)?)?\n?$`)
	shaForm     = regexp.MustCompile(`^[0-9a-z]{8,40}\n?$`)
	prNumber    = regexp.MustCompile(`^\s*[-+]?\p{Nd}+(?:_\p{Nd}+)*\s*$`)
)

// ParseImage reads a version of gordo: a release, `latest` or `stable`, `pr-5`
// of a pull request, or a commit.
func ParseImage(text string) (Image, error) {
	if text == "latest" || text == "stable" {
		return Image{text, corev1.PullAlways}, nil
	}
	if number, ok := strings.CutPrefix(text, "pr-"); ok {
		if !prNumber.MatchString(number) {
			return Image{}, fault.New(fault.Invalid, "the gordo version %.100q is not pr- with a number", text)
		}
		return Image{"pr-" + decimal(strings.ReplaceAll(strings.TrimSpace(number), "_", "")), corev1.PullAlways}, nil
	}
	if part := releaseForm.FindStringSubmatch(text); part != nil {
		return release(part), nil
	}
	if shaForm.MatchString(text) {
		return Image{strings.TrimSuffix(text, "\n"), corev1.PullIfNotPresent}, nil
	}
	return Image{}, fault.New(fault.Invalid, "%.100q is no gordo version: use a release as 6.0.4, latest, stable, pr-5, or a commit of 8 to 40 letters", text)
}

func release(part []string) Image {
	tag, policy := decimal(part[1]), corev1.PullAlways
	for _, number := range part[2:4] {
		if number != "" {
			tag += "." + decimal(number)
		}
	}
	if part[3] != "" || part[4] != "" {
		policy = corev1.PullIfNotPresent
	}
	return Image{tag + part[4], policy}
}

// decimal brings a number to ASCII digits without leading zeros.
func decimal(text string) string {
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	digits := strings.Map(func(r rune) rune {
		for zero := r; unicode.IsDigit(r); zero-- {
			// The digits of a script stand in a row of ten.
			if !unicode.IsDigit(zero-1) || (r-zero)%10 == 9 {
				return '0' + (r-zero)%10
			}
		}
		return -1
	}, text)
	if n, err := strconv.Atoi(digits); err == nil {
		return sign + strconv.Itoa(n)
	}
	return sign + plainNumber(digits)
}
