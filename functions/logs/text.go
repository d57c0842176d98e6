package logs

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// title is what stands above a log among several, as `tail` writes it.
func title(l Log) string {
	var b strings.Builder
	fmt.Fprintf(&b, "==> %s", l.Task)
	if l.Worker != nil {
		fmt.Fprintf(&b, " worker %d", *l.Worker)
	}
	fmt.Fprintf(&b, " attempt %d (%s", l.Attempt, l.Pod)
	if l.Container != "" {
		fmt.Fprintf(&b, " %s", l.Container)
	}
	b.WriteString(") <==\n")
	return b.String()
}

// writeAll writes logs one after another. A single one needs no title.
func writeAll(w io.Writer, logs []Log) error {
	j := &joiner{w: w}
	for i, l := range logs {
		if len(logs) == 1 {
			j.quiet(i)
		}
		if err := j.write(i, l, l.Text); err != nil {
			return err
		}
		if l.Truncated {
			if err := j.note(i, l, "cut here: there is more"); err != nil {
				return err
			}
		}
		if l.Error != "" {
			if err := j.note(i, l, l.Error); err != nil {
				return err
			}
		}
	}
	return nil
}

// joiner writes the lines of several logs to one text, with a title wherever
// another log goes on.
type joiner struct {
	lock    sync.Mutex
	w       io.Writer
	current any
	inLine  bool
}

// quiet lets the text begin with a log without its title.
func (j *joiner) quiet(key any) { j.current = key }

// write adds a piece of a log: whole lines, or part of a very long one.
func (j *joiner) write(key any, l Log, text string) error {
	j.lock.Lock()
	defer j.lock.Unlock()
	piece := text
	if key != j.current {
		piece = title(l) + text
		if j.inLine {
			piece = "\n" + piece
		}
		j.current = key
	}
	if piece == "" {
		return nil
	}
	j.inLine = !strings.HasSuffix(piece, "\n")
	_, err := io.WriteString(j.w, piece)
	return err
}

// note adds a line of ours to a log.
func (j *joiner) note(key any, l Log, text string) error {
	j.lock.Lock()
	fresh := ""
	if j.inLine && key == j.current {
		fresh = "\n"
	}
	j.lock.Unlock()
	return j.write(key, l, fresh+"[runhook: "+text+"]\n")
}
