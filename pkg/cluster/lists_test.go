package cluster

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
)

// pages serves a list in pages of one object each, and notes what was asked.
type pages struct {
	t       *testing.T
	kind    string
	objects []string
	failAt  string // the page that fails
	asked   []string
	accepts []string
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query, err := url.QueryUnescape(r.URL.RawQuery)
	if err != nil {
		p.t.Error(err)
	}
	p.asked = append(p.asked, r.URL.Path+"?"+query)
	p.accepts = append(p.accepts, r.Header.Get("Accept"))
	at := 0
	token := r.URL.Query().Get("continue")
	if token != "" {
		if _, err := fmt.Sscanf(token, "page%d", &at); err != nil {
			p.t.Error(err)
		}
	}
	if p.failAt != "" && token == p.failAt {
		refuse(w, http.StatusGone, "Expired", "the provided continue parameter is too old")
		return
	}
	next := ""
	if at+1 < len(p.objects) {
		next = fmt.Sprintf("page%d", at+1)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":"v1","metadata":{"resourceVersion":"5","continue":%q},"items":[%s]}`, p.kind, next, p.objects[at])
}

func TestListsArePagedAndAskForLittle(t *testing.T) {
	var names []string
	for name, tc := range map[string]struct {
		kind   string
		list   func(*Cluster) error
		asked  string
		accept string
	}{
		"nodes": {"NodeList",
			func(c *Cluster) error {
				return c.EachNode(t.Context(), "simrun/worker=true", func(n *corev1.Node) { names = append(names, n.Name) })
			},
			"/api/v1/nodes?labelSelector=simrun/worker=true&limit=500",
			"application/vnd.kubernetes.protobuf,application/json"},
		"bound pods": {"PodList",
			func(c *Cluster) error {
				return c.EachBoundPod(t.Context(), func(p *corev1.Pod) { names = append(names, p.Name) })
			},
			"/api/v1/pods?fieldSelector=status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!=&limit=500",
			"application/vnd.kubernetes.protobuf,application/json"},
		"pods of runs": {"PodList",
			func(c *Cluster) error {
				return c.EachPodWithLabel(t.Context(), "runhook/run", func(p *corev1.Pod) { names = append(names, p.Name) })
			},
			"/api/v1/pods?fieldSelector=status.phase!=Succeeded,status.phase!=Failed&labelSelector=runhook/run&limit=500",
			"application/vnd.kubernetes.protobuf,application/json"},
		"runs": {"PartialObjectMetadataList",
			func(c *Cluster) error {
				return c.EachWorkflow(t.Context(), "a=b", func(m *metav1.PartialObjectMetadata) { names = append(names, m.Name) })
			},
			"/apis/argoproj.io/v1alpha1/namespaces/runs/workflows?labelSelector=a=b&limit=500",
			"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
	} {
		t.Run(name, func(t *testing.T) {
			names = nil
			server := &pages{t: t, kind: tc.kind, objects: []string{`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"c"}}`}}
			if err := tc.list(connected(t, server.ServeHTTP)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
				t.Errorf("names, want -, got +:\n%s", diff)
			}
			if len(server.asked) != 3 || !strings.HasPrefix(server.asked[0], tc.asked) || !strings.Contains(server.asked[1], "continue=page1") || !strings.Contains(server.asked[2], "continue=page2") {
				t.Errorf("asked %q, want three pages that begin with %q", server.asked, tc.asked)
			}
			if server.accepts[0] != tc.accept {
				t.Errorf("Accept: %s, want %s", server.accepts[0], tc.accept)
			}
		})
	}
}

func TestAListThatBreaksInTheMiddleFails(t *testing.T) {
	server := &pages{t: t, kind: "NodeList", objects: []string{`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`}, failAt: "page1"}
	err := connected(t, server.ServeHTTP).EachNode(t.Context(), "", func(*corev1.Node) {})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v, want Unavailable: half a list is no answer, and the next may be whole", err)
	}
}
