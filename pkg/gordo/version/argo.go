package version

import (
	"regexp"
	"unicode/utf8"

	"github.com/runhook/runhook/pkg/fault"
)

// argoForm is all that `argo version --short` prints. A lone `v` before the
// version is optional; what follows is checked by PEP 440.
var argoForm = regexp.MustCompile(`^argo:\s+v?(\S+)\s*$`)

// ArgoOutput finds the version in what `argo version --short` prints.
func ArgoOutput(output []byte) (string, error) {
	if !utf8.Valid(output) {
		return "", fault.New(fault.Invalid, "what the argo program printed is no UTF-8")
	}
	part := argoForm.FindSubmatch(output)
	if part == nil {
		return "", fault.New(fault.Invalid, "the argo program printed %.100q, not `argo: v3.7.12`", output)
	}
	return string(part[1]), nil
}

// ArgoMajor is the major number of a version of Argo: only 2 or not matters.
func ArgoMajor(text string) (int, error) {
	v, err := ParsePEP440(text)
	if err != nil {
		return 0, err
	}
	major, err := v.Number(0)
	if err != nil {
		return 0, fault.Wrap(fault.Invalid, err, "the version of Argo %.100q is too large", text)
	}
	return major, nil
}
