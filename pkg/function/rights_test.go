package function

import "testing"

func TestRights(t *testing.T) {
	caller := Caller{
		Functions: []string{"submit"}, Hooks: []string{"acme"}, Queues: []string{"research"}, Priorities: []string{"normal"},
		Repositories: []string{"reg/acme", "reg:5000/team/x"}, Secrets: []string{"wandb"}, Claims: []string{"data"},
	}
	tests := []struct {
		name string
		may  func(Caller, string) bool
		yes  []string
		no   []string
	}{
		{"function", Caller.MayCall, []string{"submit"}, []string{"", "status", "Submit", "submit "}},
		{"hook", Caller.MayUseHook, []string{"acme"}, []string{"", "acm", "acme/train"}},
		{"queue", Caller.MayQueue, []string{"research"}, []string{"", "Research", "other"}},
		{"priority", Caller.MayPrioritise, []string{"normal", ""}, []string{"high"}},
		{"repository", Caller.MayPush,
			[]string{"reg/acme", "reg/acme/pump", "reg/acme/pump/fit", "reg:5000/team/x/y"},
			[]string{"", "reg", "reg/", "reg/acme-secret", "reg/acm", "REG/acme", "reg/team/acme", "reg:5000/team", "reg:5000/team/xy"}},
		{"secret", Caller.MaySecret, []string{"wandb"}, []string{"", "wand"}},
		{"claim", Caller.MayClaim, []string{"data"}, []string{"", "dat"}},
		{"scheduling", func(c Caller, _ string) bool { return c.MaySchedule() }, nil, []string{""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, value := range test.yes {
				if !test.may(caller, value) {
					t.Errorf("may not %q", value)
				}
			}
			for _, value := range test.no {
				if test.may(caller, value) {
					t.Errorf("may %q", value)
				}
				if !test.may(Caller{Everything: true}, value) {
					t.Errorf("a hook's call may not %q", value)
				}
			}
			for _, value := range test.yes {
				if value != "" && test.may(Caller{}, value) {
					t.Errorf("one with no rights may %q", value)
				}
			}
		})
	}
	if !(Caller{Queues: []string{""}}).MayQueue("") {
		t.Error("the right to a run without a queue")
	}
	if (Caller{Repositories: []string{""}}).MayPush("/x") {
		t.Error("an empty repository covers nothing")
	}
	if !(Caller{Scheduling: true}).MaySchedule() {
		t.Error("the right to schedule")
	}
}
