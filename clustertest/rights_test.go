//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/runhook/runhook/functions"
	"github.com/runhook/runhook/pkg/config"
	"github.com/runhook/runhook/pkg/function"
	"github.com/runhook/runhook/pkg/watch"
)

const account = "system:serviceaccount:runhook-system:runhook"

// rulesOf asks the cluster what an account may do in a namespace, as
// `kubectl auth can-i --list --as` does: one line per resource and verb.
func (s *site) rulesOf(account, namespace string) []string {
	s.Helper()
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: account, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.Fatal(err)
	}
	review, err := kube.AuthorizationV1().SelfSubjectRulesReviews().Create(context.Background(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	if review.Status.Incomplete {
		s.Fatalf("the cluster gives no whole list: %s", review.Status.EvaluationError)
	}
	var lines []string
	for _, rule := range review.Status.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					// What every account may ask about itself.
					if strings.HasPrefix(resource, "selfsubject") {
						continue
					}
					lines = append(lines, fmt.Sprintf("%s %s.%s %s", verb, resource, group, strings.Join(rule.ResourceNames, ",")))
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func TestServiceAccountMayDoExactlyWhatFunctionsNeed(t *testing.T) {
	s := newSite(t)
	c, err := config.Load(filepath.Join(root, "manifests/overlays/local/config.yaml"), nil)
	must(s, err)
	c.Hooks = nil // they need their secrets, and no rights
	table, err := functions.New(c, nil)
	must(s, err)
	s.wantRights(account, table.Access())
}

func TestTheWatchMayDoExactlyWhatItNeeds(t *testing.T) {
	newSite(t).wantRights(account+"-watch", watch.Access())
}

// wantRights compares what an account may do with what is listed.
func (s *site) wantRights(account string, listed []function.Access) {
	s.Helper()
	inRuns, elsewhere := []string{}, []string{}
	for _, access := range listed {
		for _, verb := range access.Verbs {
			line := fmt.Sprintf("%s %s.%s %s", verb, access.Resource, access.Group, strings.Join(access.Names, ","))
			inRuns = append(inRuns, line)
			if access.Cluster {
				elsewhere = append(elsewhere, line)
			}
		}
	}
	for namespace, want := range map[string][]string{"runs": inRuns, "kube-system": elsewhere, "runhook-system": elsewhere} {
		want = slices.Compact(slices.Sorted(slices.Values(want)))
		if diff := cmp.Diff(want, s.rulesOf(account, namespace)); diff != "" {
			s.Errorf("%s in namespace %s (-listed +granted):\n%s", account, namespace, diff)
		}
	}
}

func TestTasksHoldNoToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	run := s.submit(map[string]any{"id": unique(t), "queue": "research", "tasks": []any{
		task("look", `ls /var/run/secrets/kubernetes.io/serviceaccount 2>/dev/null || printf none; echo '<end>'`),
	}})
	s.waitPhase(run, "Succeeded")
	if got := s.log(run, "look"); got != "none" {
		t.Errorf("the task finds %q", got)
	}
}
