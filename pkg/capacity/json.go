package capacity

import (
	"encoding/json"
	"fmt"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/strict"
)

// FromJSON answers from lists as `kubectl get -o json` prints them, without a
// cluster.
func FromJSON(nodes, pods []byte, settings Settings) (Nodes, error) {
	tally := NewTally(settings)
	if err := each("nodes", "Node", nodes, tally.AddNode); err != nil {
		return Nodes{}, err
	}
	if err := each("pods", "Pod", pods, tally.AddPod); err != nil {
		return Nodes{}, err
	}
	return tally.Nodes(), nil
}

// each decodes a list item by item, so that a mistake is told with its place.
// Fields that are not read may be anything: objects of newer clusters have more.
func each[Object any](what, kind string, list []byte, add func(*Object)) error {
	var envelope struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(list, &envelope); err != nil {
		return fault.Wrap(fault.Malformed, err, "%s: not a list in JSON: %v", what, err)
	}
	if envelope.Kind != "List" && envelope.Kind != kind+"List" {
		return fault.New(fault.Invalid, "%s: of kind %q, but a List or %sList is asked for, as `kubectl get -o json` prints it", what, envelope.Kind, kind)
	}
	var mistakes fault.List
	for i, item := range envelope.Items {
		path := fmt.Sprintf("items[%d]", i)
		var has struct {
			Kind string `json:"kind"`
		}
		object := new(Object)
		switch err := json.Unmarshal(item, &has); {
		case err != nil:
			mistakes.Add(path, "not a %s: %v", kind, err)
			continue
		// The items of a NodeList have no kind of their own.
		case has.Kind != "" && has.Kind != kind:
			mistakes.Add(path+".kind", "%q, but only objects of kind %s are counted", has.Kind, kind)
			continue
		}
		err := strict.Decodable(item)
		if err == nil {
			err = json.Unmarshal(item, object)
		}
		if err != nil {
			mistakes.Add(path, "not a %s: %v", kind, err)
			continue
		}
		add(object)
	}
	return mistakes.Err(fault.Invalid, what)
}
