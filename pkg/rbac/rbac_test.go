package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/runhook/runhook/pkg/function"
)

func TestRulesJoinWhatFunctionsNeed(t *testing.T) {
	got := rules([]function.Access{
		{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"get", "create"}},
		{Group: "argoproj.io", Resource: "workflows", Verbs: []string{"patch", "get"}},
		{Resource: "secrets", Verbs: []string{"get"}, Names: []string{"b", "a"}},
		{Resource: "secrets", Verbs: []string{"create"}},
	})
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}, ResourceNames: []string{"a", "b"}},
		{APIGroups: []string{"argoproj.io"}, Resources: []string{"workflows"}, Verbs: []string{"create", "get", "patch"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNamesStayApartFromAll(t *testing.T) {
	got := rules([]function.Access{
		{Resource: "secrets", Verbs: []string{"get"}, Names: []string{"one"}},
		{Resource: "secrets", Verbs: []string{"list"}},
	})
	for _, rule := range got {
		if len(rule.ResourceNames) == 0 && len(rule.Verbs) == 1 && rule.Verbs[0] == "get" {
			t.Error("a right to one Secret became a right to all")
		}
	}
}
