package cause_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runhook/runhook/pkg/cause"
	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

func pod(uid string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(at(0)),
			Annotations: map[string]string{cause.NodeAnnotation: "wf-1"},
		},
		Spec: corev1.PodSpec{NodeName: "n1"},
	}
	if change != nil {
		change(p)
	}
	return p
}

func ended(code int32, second int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "wait"},
			{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", FinishedAt: metav1.NewTime(at(second))}}},
		}
	}
}

func deleted(second int, then func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(at(second+30))), new(int64(30))
		if then != nil {
			then(p)
		}
	}
}

func condition(kind corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: kind, Status: status, Reason: "R", LastTransitionTime: metav1.NewTime(at(5))}}
	}
}

func TestObserveKeepsWhatArgoMayNotTell(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		worth  bool
	}{
		"healthy":              {nil, false},
		"succeeded":            {ended(0, 9), false},
		"failed":               {ended(1, 9), true},
		"deleted while it ran": {deleted(7, nil), true},
		"killed by deletion":   {deleted(7, ended(143, 7)), true},
		"cleaned up":           {deleted(10, ended(0, 9)), false},
		"TerminationTarget":    {condition("TerminationTarget", corev1.ConditionTrue), true},
		"DisruptionTarget":     {condition(corev1.DisruptionTarget, corev1.ConditionTrue), true},
		"condition undone":     {condition(corev1.DisruptionTarget, corev1.ConditionFalse), false},
		"another condition":    {condition(corev1.PodReady, corev1.ConditionTrue), false},
		"a reason":             {func(p *corev1.Pod) { p.Status.Reason = "Evicted" }, true},
		"not Argo's":           {func(p *corev1.Pod) { p.Annotations, p.Status.Reason = nil, "Evicted" }, false},
	} {
		if _, worth := cause.Observe(pod("u", c.change)); worth != c.worth {
			t.Errorf("%s: worth keeping %v, want %v", name, worth, c.worth)
		}
	}
}

func TestObserveReadsThePod(t *testing.T) {
	entry, _ := cause.Observe(pod("u", deleted(7, func(p *corev1.Pod) {
		ended(143, 8)(p)
		condition("TerminationTarget", corev1.ConditionTrue)(p)
		p.Status.Reason = "Evicted"
	})))
	want := cause.Entry{
		UID: "u", Node: "wf-1", Pod: "p", Host: "n1", Created: at(0), Deleted: at(7), Reason: "Evicted",
		Conditions: []cause.Condition{{Type: "TerminationTarget", Reason: "R", At: at(5)}},
		Main:       &cause.Exit{Code: 143, Reason: "Error", Finished: at(8)},
	}
	if diff := cmp.Diff(want, entry); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestObserveFindsTheProgram(t *testing.T) {
	end := func(name string, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	for name, c := range map[string]struct {
		statuses []corev1.ContainerStatus
		want     *int
	}{
		"main":                     {[]corev1.ContainerStatus{end("sidecar", 137), end("main", 3), end("wait", 1)}, code(3)},
		"a sidecar ends first":     {[]corev1.ContainerStatus{end("sidecar", 137), {Name: "main"}}, nil},
		"executor alone":           {[]corev1.ContainerStatus{end("wait", 1)}, nil},
		"a container set":          {[]corev1.ContainerStatus{end("a", 0), end("b", 4), end("c", 5)}, code(4)},
		"a container set, all did": {[]corev1.ContainerStatus{end("a", 0), end("b", 0)}, code(0)},
	} {
		entry, _ := cause.Observe(pod("u", func(p *corev1.Pod) { p.Status.ContainerStatuses = c.statuses }))
		if (entry.Main == nil) != (c.want == nil) || (c.want != nil && entry.Main.Code != *c.want) {
			t.Errorf("%s: %+v, want %v", name, entry.Main, c.want)
		}
	}
}

// The pod that replaces a known one shows a silent restart; a healthy pod of a
// node that nothing happened to is nobody's business.
func TestEvidenceKeepsTheSuccessorOfAKnownPod(t *testing.T) {
	var e cause.Evidence
	if e.Observe(pod("healthy", nil)) {
		t.Error("a healthy pod is kept")
	}
	if !e.Observe(pod("old", deleted(5, nil))) || !e.Observe(pod("new", nil)) || e.Observe(pod("new", nil)) {
		t.Error("want the deleted pod and its successor, once each")
	}
	if got := len(e.Entries()); got != 2 {
		t.Errorf("%d entries, want 2", got)
	}
}

// randomEvidence is made of a few UIDs, so that two of them overlap.
func randomEvidence(r *rand.Rand) *cause.Evidence {
	e := &cause.Evidence{}
	for range r.IntN(6) {
		e.Add(randomEntry(r))
	}
	return e
}

func randomEntry(r *rand.Rand) cause.Entry {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	moment := func() time.Time {
		if r.IntN(3) == 0 {
			return time.Time{}
		}
		return at(r.IntN(3))
	}
	entry := cause.Entry{
		UID: pick("a", "b", "c"), Node: pick("n", "m", ""), Pod: pick("p", ""), Host: pick("h", "i", ""), Created: moment(), Deleted: moment(),
		Reason: pick("", "Evicted", "Terminated"), Message: pick("", "x", "y"), Source: pick("", cause.FromRecord),
	}
	for _, kind := range []string{"DisruptionTarget", "TerminationTarget"} {
		if r.IntN(2) == 0 {
			entry.Conditions = append(entry.Conditions, cause.Condition{Type: kind, Reason: pick("R", "S"), At: at(r.IntN(3))})
		}
	}
	if r.IntN(2) == 0 {
		entry.Main = &cause.Exit{Code: r.IntN(2), Reason: pick("Error", "OOMKilled"), Finished: at(r.IntN(3))}
	}
	return entry
}

func merged(all ...*cause.Evidence) string {
	e := &cause.Evidence{}
	for _, other := range all {
		e.Merge(other)
	}
	return text(e)
}

func text(e *cause.Evidence) string {
	s, err := e.Encode()
	if err != nil {
		panic(err)
	}
	return s
}

func TestMergeIsIndependentOfOrderAndNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b, c := randomEvidence(r), randomEvidence(r), randomEvidence(r)
		abc := merged(a, b, c)
		if abc != merged(c, b, a) || abc != merged(b, c, a, b, c) {
			t.Fatalf("order matters for\n%+v\n%+v\n%+v", a.Entries(), b.Entries(), c.Entries())
		}
		both := &cause.Evidence{}
		both.Merge(b)
		both.Merge(c)
		if abc != merged(a, both) {
			t.Fatalf("grouping matters for\n%+v\n%+v\n%+v", a.Entries(), b.Entries(), c.Entries())
		}
		if before := text(both); both.Merge(c) || text(both) != before {
			t.Fatalf("what is known is news: %+v", c.Entries())
		}
	}
}

func TestMergeKeepsTheFirstCondition(t *testing.T) {
	e := &cause.Evidence{}
	for _, second := range []int{9, 4, 7} {
		e.Add(cause.Entry{UID: "u", Conditions: []cause.Condition{{Type: "T", Reason: "R", At: at(second)}}})
	}
	want := []cause.Condition{{Type: "T", Reason: "R", At: at(4)}}
	if diff := cmp.Diff(want, e.Entries()[0].Conditions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func many(from, to int) *cause.Evidence {
	e := &cause.Evidence{}
	for i := from; i < to; i++ {
		e.Add(cause.Entry{UID: fmt.Sprintf("u%06d", i), Node: "n", Created: at(i)})
	}
	return e
}

func TestEvidenceIsBoundedAndCountsWhatItDrops(t *testing.T) {
	e := many(0, limits.EvidenceEntries+5)
	entries := e.Entries()
	if len(entries) != limits.EvidenceEntries || e.Dropped() != 5 || entries[0].UID != "u000005" {
		t.Errorf("%d entries from %s, %d dropped", len(entries), entries[0].UID, e.Dropped())
	}
	if e.Add(cause.Entry{UID: "u000002", Created: at(2)}) || e.Dropped() != 5 {
		t.Errorf("what was dropped is counted again: %d", e.Dropped())
	}
	old := many(0, 12)
	if text(old) == text(e) || merged(old, e) != merged(e, old) {
		t.Error("evidence that has dropped entries does not merge with that which has not")
	}
	back, err := cause.Decode(text(e))
	if err != nil || text(back) != text(e) || back.Dropped() != e.Dropped() {
		t.Errorf("read back: %v, %d dropped", err, back.Dropped())
	}
}

func TestEncodedEvidenceFitsItsAnnotation(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e := &cause.Evidence{}
	for i := range limits.EvidenceEntries {
		e.Add(cause.Entry{
			UID: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), Node: fmt.Sprintf("run-%d", r.Uint32()), Pod: fmt.Sprintf("run-%d", r.Uint32()),
			Message: fmt.Sprintf("%x%x%x", r.Uint64(), r.Uint64(), r.Uint64()), Created: at(i),
		})
	}
	encoded := text(e)
	if len(encoded) > limits.EvidenceBytes || e.Dropped() == 0 || len(e.Entries())+e.Dropped() != limits.EvidenceEntries {
		t.Errorf("%d bytes, %d entries, %d dropped", len(encoded), len(e.Entries()), e.Dropped())
	}
}

func TestDecodeRefusesWhatIsNoEvidence(t *testing.T) {
	pack := func(plain []byte) string {
		var out bytes.Buffer
		zip := gzip.NewWriter(&out)
		_, _ = zip.Write(plain)
		_ = zip.Close()
		return base64.StdEncoding.EncodeToString(out.Bytes())
	}
	for name, c := range map[string]struct {
		text string
		want fault.Kind
	}{
		"not base64":  {"%%%", fault.Malformed},
		"not gzip":    {"aGVsbG8=", fault.Malformed},
		"not JSON":    {pack([]byte("{")), fault.Malformed},
		"cut":         {pack([]byte(`{"entries":[]}`))[:20], fault.Malformed},
		"a bomb":      {pack(make([]byte, limits.EvidencePlain+1)), fault.TooLarge},
		"a long text": {string(make([]byte, 2*limits.EvidenceBytes+1)), fault.TooLarge},
	} {
		if _, err := cause.Decode(c.text); fault.KindOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if e, err := cause.Decode(""); err != nil || len(e.Entries()) != 0 {
		t.Errorf("no annotation: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("")
	f.Add(text(many(0, 3)))
	f.Add("H4sIAAAAAAAAA6tWKi5JLElVslIqS8wpTVWqBQBWm1hxEQAAAA==")
	f.Fuzz(func(t *testing.T, s string) {
		e, err := cause.Decode(s)
		if err != nil {
			return
		}
		back, err := cause.Decode(text(e))
		if err != nil || text(back) != text(e) {
			t.Fatalf("does not read back: %v", err)
		}
	})
}

func FuzzOf(f *testing.F) {
	f.Add("main: Error (exit code 143)", "Evicted", "low on resource", 143)
	f.Add("Pod failed before main container starts due to ErrImagePull: x", "", "", -1)
	f.Fuzz(func(t *testing.T, message, reason, podMessage string, exit int) {
		v := cause.Of(cause.End{Message: message, ExitCode: &exit}, cause.Entry{Reason: reason, Message: podMessage})
		if v.Cause == cause.None {
			t.Fatalf("a failure without a cause: %q", message)
		}
		if v.Cause == cause.Preempted || v.Interrupted {
			t.Fatalf("%s without proof", v.Cause)
		}
	})
}
