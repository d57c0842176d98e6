package gordo

import (
	"errors"
	"fmt"
	"regexp"
)

// nameLength is the longest DNS label.
const nameLength = 63

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// checkName says what is wrong with the name of a machine, a project or a host.
func checkName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%.100q is no name: use lower-case letters, digits and dashes, in parts with dots between, each beginning and ending with a letter or digit", name)
	}
	if len(name) > nameLength {
		return fmt.Errorf("%.100q has %d characters, and a name has at most %d", name, len(name), nameLength)
	}
	return nil
}

// checkProject says what is wrong with the name of a project.
func checkProject(name string) error {
	if name == "" {
		return errors.New("is empty: name the project")
	}
	return checkName(name)
}
