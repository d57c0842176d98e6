package capacity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReserve(t *testing.T) {
	const reserved = `{metadata: {labels: {simrun/worker: "true", simrun/reserved: mine}}, spec: {taints: [{key: simrun/reserved, value: mine, effect: NoExecute}]}}`
	for name, tc := range map[string]struct {
		node, want string
		changed    bool
	}{
		"a free node": {`{metadata: {labels: {simrun/worker: "true"}}}`, reserved, true},
		"already":     {reserved, reserved, false},
		"another's is replaced, in its place": {
			`{metadata: {labels: {simrun/worker: "true", simrun/reserved: other}}, spec: {taints: [{key: simrun/reserved, value: other, effect: NoExecute}]}}`,
			reserved, true},
		"the taint alone": {
			`{metadata: {labels: {simrun/worker: "true"}}, spec: {taints: [{key: simrun/reserved, value: mine, effect: NoExecute}]}}`,
			reserved, true},
		"the label alone": {
			`{metadata: {labels: {simrun/worker: "true", simrun/reserved: mine}}}`,
			reserved, true},
		"no labels at all": {
			`{}`,
			`{metadata: {labels: {simrun/reserved: mine}}, spec: {taints: [{key: simrun/reserved, value: mine, effect: NoExecute}]}}`, true},
		"others' taints stay, with the times they were set": {
			`{spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}, {key: simrun/reserved, value: other, effect: NoExecute}, {key: node.kubernetes.io/unreachable, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]}}`,
			`{metadata: {labels: {simrun/reserved: mine}}, spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}, {key: simrun/reserved, value: mine, effect: NoExecute}, {key: node.kubernetes.io/unreachable, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]}}`, true},
		"our key with another effect is another's": {
			`{spec: {taints: [{key: simrun/reserved, value: mine, effect: NoSchedule}]}}`,
			`{metadata: {labels: {simrun/reserved: mine}}, spec: {taints: [{key: simrun/reserved, value: mine, effect: NoSchedule}, {key: simrun/reserved, value: mine, effect: NoExecute}]}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, node := settings(Amount{}), nodeOf(t, tc.node)
			if changed := s.Reserve(node, "mine"); changed != tc.changed {
				t.Errorf("changed: %t", changed)
			}
			if diff := cmp.Diff(nodeOf(t, tc.want), node); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if got := s.ReservedFor(node); got != "mine" {
				t.Errorf("reserved for %q", got)
			}
			if s.Reserve(node, "mine") {
				t.Error("the second time changes something")
			}
		})
	}
}

func TestUnreserve(t *testing.T) {
	for name, tc := range map[string]struct {
		node, want string
		changed    bool
	}{
		"ours goes, others' stay": {
			`{metadata: {labels: {a: b, simrun/reserved: mine}}, spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}, {key: simrun/reserved, value: mine, effect: NoExecute}]}}`,
			`{metadata: {labels: {a: b}}, spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}]}}`, true},
		"not reserved":    {`{metadata: {labels: {a: b}}}`, `{metadata: {labels: {a: b}}}`, false},
		"the label alone": {`{metadata: {labels: {a: b, simrun/reserved: mine}}}`, `{metadata: {labels: {a: b}}}`, true},
		"another's stays": {
			`{metadata: {labels: {simrun/reserved: other}}, spec: {taints: [{key: simrun/reserved, value: other, effect: NoExecute}]}}`,
			`{metadata: {labels: {simrun/reserved: other}}, spec: {taints: [{key: simrun/reserved, value: other, effect: NoExecute}]}}`, false},
		"our key with another effect stays": {
			`{metadata: {labels: {a: b}}, spec: {taints: [{key: simrun/reserved, value: mine, effect: NoSchedule}]}}`,
			`{metadata: {labels: {a: b}}, spec: {taints: [{key: simrun/reserved, value: mine, effect: NoSchedule}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			node := nodeOf(t, tc.node)
			if changed := settings(Amount{}).Unreserve(node, "mine"); changed != tc.changed {
				t.Errorf("changed: %t", changed)
			}
			want := nodeOf(t, tc.want)
			if len(node.Spec.Taints) == 0 {
				node.Spec.Taints = nil
			}
			if diff := cmp.Diff(want, node); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}
