package run

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runhook/runhook/pkg/strict"
)

// taskID is how long an id may be, so that `<task>-extra-<n>` and the names of
// pods still fit a label.
const taskID = 40

func (c *checker) ids() {
	for i := range c.run.Tasks {
		id, at := c.run.Tasks[i].ID, strict.Index("tasks", i)+".id"
		// A letter first, since Argo takes no digit there of what needs others.
		if c.grammar(at, id, validation.IsDNS1035Label) && len(id) > taskID {
			c.add(at, "%s is longer than %d", quote(id), taskID)
		}
		if other, taken := c.tasks[id]; taken {
			c.add(at, "%s is the id of %s", quote(id), strict.Index("tasks", other))
			continue
		}
		c.tasks[id] = i
		if id == BuildTask && c.run.Build != nil {
			c.add(at, "%s is the task that builds the image", id)
		}
	}
	for i := range c.run.Tasks {
		id, at := c.run.Tasks[i].ID, strict.Index("tasks", i)+".id"
		if of := c.partOf(id); of != "" {
			c.add(at, "%s is the name of a part of the split task %s", quote(id), quote(of))
		}
		// Workers of `fit-extra` are named as helpers of `fit` are.
		if of, ok := strings.CutSuffix(id, "-extra"); ok && c.splitOf(of).Extra > 0 && c.splitOf(id).Workers > 0 {
			c.add(at, "its workers have the names of the helpers of the split task %s", quote(of))
		}
	}
}

// partOf is the split task of which an id names a worker, the merge or a helper.
func (c *checker) partOf(id string) string {
	cut := strings.LastIndexByte(id, '-')
	if cut < 0 {
		return ""
	}
	of, last := id[:cut], id[cut+1:]
	if last == "merge" && c.splitOf(of).Merge != nil {
		return of
	}
	n, err := strconv.Atoi(last)
	if err != nil || strconv.Itoa(n) != last {
		return ""
	}
	if n < c.splitOf(of).Workers {
		return of
	}
	if of, ok := strings.CutSuffix(of, "-extra"); ok && n < c.splitOf(of).Extra {
		return of
	}
	return ""
}

// splitOf is the split of a task, empty when there is none.
func (c *checker) splitOf(id string) Split {
	if i, ok := c.tasks[id]; ok && c.run.Tasks[i].Split != nil {
		return *c.run.Tasks[i].Split
	}
	return Split{}
}

func (c *checker) needs(at string, t *Task) {
	seen := map[string]bool{}
	for i, need := range t.Needs {
		path := strict.Index(at+".needs", i)
		_, known := c.tasks[need]
		switch {
		case !known && !(need == BuildTask && c.run.Build != nil):
			c.add(path, "%s is no task of the run", quote(need))
		case seen[need]:
			c.add(path, "%s is named twice", quote(need))
		}
		seen[need] = true
	}
}

// graph finds cycles: what is left after taking away, again and again, every
// task whose needs are taken away.
func (c *checker) graph() {
	tasks := c.run.Tasks
	waits, neededBy := make([]int, len(tasks)), make([][]int, len(tasks))
	for i := range tasks {
		for _, need := range tasks[i].Needs {
			if j, ok := c.tasks[need]; ok {
				waits[i]++
				neededBy[j] = append(neededBy[j], i)
			}
		}
	}
	var free []int
	for i := range tasks {
		if waits[i] == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		last := free[len(free)-1]
		free = free[:len(free)-1]
		for _, i := range neededBy[last] {
			if waits[i]--; waits[i] == 0 {
				free = append(free, i)
			}
		}
	}
	c.cycles(waits)
}

// cycles follows needs among the tasks that are left, from each that no walk
// has met, until a walk meets itself.
func (c *checker) cycles(waits []int) {
	walkOf := make([]int, len(waits))
	for start := range waits {
		walk := start + 1
		for i := start; waits[i] > 0; i = c.leftNeed(i, waits) {
			if walkOf[i] == walk {
				c.add(strict.Index("tasks", i)+".needs", "a cycle: %s", c.cycle(i, waits))
			}
			if walkOf[i] != 0 {
				break
			}
			walkOf[i] = walk
		}
	}
}

// leftNeed is the first need of a task that is left itself; there is one.
func (c *checker) leftNeed(i int, waits []int) int {
	for _, need := range c.run.Tasks[i].Needs {
		if j, ok := c.tasks[need]; ok && waits[j] > 0 {
			return j
		}
	}
	return i
}

func (c *checker) cycle(start int, waits []int) string {
	const shown = 8
	text := c.run.Tasks[start].ID
	i := c.leftNeed(start, waits)
	for n := 1; i != start && n < shown; n++ {
		text += " needs " + c.run.Tasks[i].ID
		i = c.leftNeed(i, waits)
	}
	if i != start {
		return quote(text + " needs …")
	}
	return quote(text + " needs " + c.run.Tasks[start].ID)
}
