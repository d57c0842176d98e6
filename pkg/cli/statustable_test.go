package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/status"
)

func TestAThousandWorkersDoNotHideTheRest(t *testing.T) {
	tasks := map[string]status.Task{"fetch": {Phase: status.Succeeded}, "fit": {Phase: status.Running, Done: new(600), Of: new(1000)}}
	for i := range 1000 {
		tasks[fmt.Sprintf("fit.fit-%d", i)] = status.Task{Phase: status.Running}
	}
	tasks["fit.fit-700"] = status.Task{Phase: status.Retrying, Message: "OOMKilled"}
	for i := range 30 {
		tasks[fmt.Sprintf("single-%d", i)] = status.Task{Phase: status.Pending}
	}
	answer, err := json.Marshal(status.Status{Run: "a", Phase: status.Running, Tasks: tasks})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := statusTable(&out, answer); err != nil {
		t.Fatal(err)
	}
	got := squeezed(out.String())
	for _, line := range []string{"fetch Succeeded", "fit Running 600 of 1000 done", "fit.fit-700 Retrying OOMKilled", "single-29 Pending"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing:\n%s", line, got)
		}
	}
	if rows := strings.Count(out.String(), "\n"); rows != 2+2+1+30 {
		t.Errorf("%d rows", rows)
	}
}

func TestNamesAreOrderedAsPeopleCount(t *testing.T) {
	names := []string{"fit-10", "fit-2", "fit", "fit-merge", "fit-2b", "a", "fit-99999999999999999999", "fit-02", "ü"}
	slices.SortFunc(names, compareNames)
	if got := strings.Join(names, " "); got != "a fit fit-02 fit-2 fit-2b fit-10 fit-99999999999999999999 fit-merge ü" {
		t.Errorf("got %s", got)
	}
}

func TestDetailSaysOnceWhatIsWaitedFor(t *testing.T) {
	for want, task := range map[string]status.Task{
		"starting: PodInitializing":       {Message: "PodInitializing", Waiting: &status.Waiting{Reason: status.Starting, Detail: "PodInitializing"}},
		"starting: ContainerCreating":     {Message: "PodInitializing", Waiting: &status.Waiting{Reason: status.Starting, Detail: "ContainerCreating"}},
		"unschedulable: 0/3 nodes":        {Message: "Unschedulable: 0/3 nodes", Waiting: &status.Waiting{Reason: status.Unschedulable, Detail: "0/3 nodes"}},
		"queued: kueue; preempted by a/b": {Message: "preempted by a/b", Waiting: &status.Waiting{Reason: status.Queued, Detail: "kueue"}},
		"starting; told by Argo":          {Message: "told by Argo", Waiting: &status.Waiting{Reason: status.Starting}},
	} {
		if got := detail(task); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
