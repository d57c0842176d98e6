package submit

import (
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/run"
)

// keyOf guards a run's name: the caller's own key, else the hash of what is
// asked for. It is the caller's alone, so that nobody can answer for another.
func keyOf(call function.Call, asked *run.Run) (string, error) {
	key := call.Key
	if key == "" {
		var err error
		if key, err = run.Key(asked); err != nil {
			return "", err
		}
	}
	return run.ScopedKey(call.Caller.Name, key), nil
}

// nameFor names a run that names itself not: a push by its repository and
// commit, anything else by its key.
func nameFor(call function.Call, key string) string {
	if call.Origin != nil && call.Origin.Name != "" {
		return call.Origin.Name
	}
	return run.NameOfKey(key)
}
