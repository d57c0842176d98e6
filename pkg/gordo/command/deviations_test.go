package command

import "github.com/runhook/runhook/pkg/gordo"

// outcome is how a case ends otherwise than with gordo.
type outcome int

const (
	accepted  outcome = iota // gordo refuses it
	refused                  // gordo accepts it
	different                // both accept it
)

// deviation is one case that ends otherwise, by RULES sections 1 and 9.
type deviation struct {
	outcome outcome
	code    gordo.Code
	reason  string
}

// normalized are the deviations of `normalize`.
var normalized = map[string]deviation{
	"builder-env-configmap-value-accepted": {different, gordo.ConfigMapValue, "1.4: configMapKeyRef takes name, and value with a warning"},
	"builder-env-field-ref-dropped":        {different, gordo.ValueFromKept, "1.4: fieldRef is kept"},
	"volumes-emptydir-lost":                {different, gordo.VolumesKept, "1.4: every volume kind of Kubernetes is kept"},
	"name-duplicate":                       {refused, gordo.DuplicateName, "1.4: duplicate names are refused"},
	"yaml-python-tag":                      {refused, gordo.PythonRefused, "1.4: tags of Python are refused"},
}
