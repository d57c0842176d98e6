// Package rbac makes the Roles of runhook's account from what its functions
// say that they need, so that the account can do nothing else.
package rbac

import (
	"bytes"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/runhook/runhook/pkg/function"
)

// Account is the ServiceAccount that gets the rights.
type Account struct{ Name, Namespace string }

// YAML gives a Role in the namespace of the runs and a ClusterRole for what is
// not bound to a namespace, each with its binding.
func YAML(access []function.Access, account Account, runs string) ([]byte, error) {
	var inRuns, cluster []function.Access
	for _, a := range access {
		if a.Cluster {
			cluster = append(cluster, a)
		} else {
			inRuns = append(inRuns, a)
		}
	}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}}
	kind := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	named := func(namespace string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: account.Name, Namespace: namespace}
	}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: account.Name}
	}
	objects := []any{
		rbacv1.Role{TypeMeta: kind("Role"), ObjectMeta: named(runs), Rules: rules(inRuns)},
		rbacv1.RoleBinding{TypeMeta: kind("RoleBinding"), ObjectMeta: named(runs), RoleRef: ref("Role"), Subjects: subjects},
		rbacv1.ClusterRole{TypeMeta: kind("ClusterRole"), ObjectMeta: named(""), Rules: rules(cluster)},
		rbacv1.ClusterRoleBinding{TypeMeta: kind("ClusterRoleBinding"), ObjectMeta: named(""), RoleRef: ref("ClusterRole"), Subjects: subjects},
	}
	var out bytes.Buffer
	out.WriteString("# Made by `runhook rbac` from what the functions need: do not edit.\n")
	for i, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// rules joins what several functions need of one resource to one rule.
func rules(access []function.Access) []rbacv1.PolicyRule {
	type thing struct{ group, resource, names string }
	verbs := map[thing][]string{}
	for _, a := range access {
		names := slices.Sorted(slices.Values(a.Names))
		t := thing{a.Group, a.Resource, strings.Join(names, ",")}
		verbs[t] = append(verbs[t], a.Verbs...)
	}
	merged := make([]rbacv1.PolicyRule, 0, len(verbs))
	for t, v := range verbs {
		slices.Sort(v)
		rule := rbacv1.PolicyRule{APIGroups: []string{t.group}, Resources: []string{t.resource}, Verbs: slices.Compact(v)}
		if t.names != "" {
			rule.ResourceNames = strings.Split(t.names, ",")
		}
		merged = append(merged, rule)
	}
	slices.SortFunc(merged, func(a, b rbacv1.PolicyRule) int {
		return strings.Compare(order(a), order(b))
	})
	return merged
}

func order(r rbacv1.PolicyRule) string {
	return strings.Join([]string{r.APIGroups[0], r.Resources[0], strings.Join(r.ResourceNames, ",")}, "/")
}
