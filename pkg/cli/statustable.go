package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/runhook/runhook/pkg/status"
)

// statusTable shows where a run and each of its tasks stand, and below them
// the attempts that failed or were interrupted.
func statusTable(w io.Writer, answer json.RawMessage) error {
	var s status.Status
	if err := decodeAnswer(answer, &s); err != nil {
		return err
	}
	out := columned(w)
	out.row("TASK", "PHASE", "DETAIL")
	out.row(oneLine(s.Run), string(s.Phase), oneLine(s.Message))
	crowds := crowded(s.Tasks)
	for _, name := range slices.SortedFunc(maps.Keys(s.Tasks), compareNames) {
		task := s.Tasks[name]
		if crowds[within(name)] > rowsOfOne && !troubled(task) {
			continue
		}
		indent := strings.Repeat("  ", strings.Count(name, ".")+1)
		out.row(indent+oneLine(name), string(task.Phase), detail(task))
	}
	if len(s.Attempts) > 0 {
		out.row()
		out.row("ATTEMPT", "PHASE", "CAUSE", "DETAIL")
	}
	for _, name := range slices.SortedFunc(maps.Keys(s.Attempts), compareNames) {
		for _, a := range s.Attempts[name] {
			out.row(fmt.Sprintf("%s %d", oneLine(name), a.Attempt), string(a.Phase), cmp.Or(string(a.Cause), "-"), oneLine(a.Message))
		}
	}
	return out.Flush()
}

// rowsOfOne is how many parts a task may have that are all shown: a thousand
// workers would hide everything else, and most of them do what they should.
const rowsOfOne = 20

// crowded counts the parts of each task.
func crowded(tasks map[string]status.Task) map[string]int {
	parts := map[string]int{}
	for name := range tasks {
		parts[within(name)]++
	}
	delete(parts, "") // the tasks themselves
	return parts
}

// within is the task that a name is part of.
func within(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// troubled reports whether a part does something else than wait, run or succeed.
func troubled(task status.Task) bool {
	return task.Phase == status.Failed || task.Phase == status.Retrying || task.Phase == status.Preempted || task.Message != ""
}

func detail(task status.Task) string {
	var parts []string
	if task.Of != nil && task.Done != nil {
		parts = append(parts, fmt.Sprintf("%d of %d done", *task.Done, *task.Of))
	}
	if task.Waiting != nil {
		waiting := string(task.Waiting.Reason)
		if task.Waiting.Detail != "" {
			waiting += ": " + task.Waiting.Detail
		}
		parts = append(parts, waiting)
	}
	if task.Message != "" && !repeats(task) {
		parts = append(parts, task.Message)
	}
	return oneLine(strings.Join(parts, "; "))
}

// repeats reports whether Argo's message is what the pod waits for, perhaps with
// a word before it, or what it waited for a moment ago.
func repeats(task status.Task) bool {
	w := task.Waiting
	return w != nil && w.Detail != "" && (w.Reason == status.Starting || strings.HasSuffix(task.Message, w.Detail))
}

// compareNames orders names as people count: fit-2 stands before fit-10.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		x, restOfA := piece(a)
		y, restOfB := piece(b)
		m, errM := strconv.Atoi(x)
		n, errN := strconv.Atoi(y)
		if errM == nil && errN == nil && m != n {
			return m - n
		}
		if x != y {
			return strings.Compare(x, y)
		}
		a, b = restOfA, restOfB
	}
	return len(a) - len(b)
}

// piece cuts off what a name begins with: a number, or one other character.
func piece(name string) (first, rest string) {
	digits := len(name) - len(strings.TrimLeft(name, "0123456789"))
	n := max(1, min(digits, 9))
	return name[:n], name[n:]
}
