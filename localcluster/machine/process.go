package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Record remembers a started process. The start time tells it from a stranger
// that was given the same id later.
type Record struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"`
	// Spec is a hash of what was started, so that a changed one is started anew.
	Spec string `json:"spec"`
}

// NewRecord looks the start time of a running process up.
func NewRecord(pid int, spec string) (Record, error) {
	p, err := inspect(pid)
	return Record{PID: pid, Started: p.started, Spec: spec}, err
}

// LoadRecord reads a record; without one it is the zero Record, which is not alive.
func LoadRecord(path string) (Record, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("read a process's record: %w", err)
	}
	var r Record
	if json.Unmarshal(content, &r) != nil {
		return Record{}, nil // half written before a crash: as good as none
	}
	return r, nil
}

// Save writes the record.
func (r Record) Save(path string) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write a process's record: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write a process's record: %w", err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write a process's record: %w", err)
	}
	return nil
}

// Alive tells whether this very process still runs.
func (r Record) Alive() bool {
	if r.PID <= 0 {
		return false
	}
	p, err := inspect(r.PID)
	return err == nil && p.started == r.Started && !p.ended()
}

// Memory is the resident memory in MiB.
func (r Record) Memory() int {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", r.PID))
	fields := strings.Fields(string(content))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() >> 20
}

// grace is how long a process may take to end by itself.
const grace = 5 * time.Second

// Stop ends the process, asking first.
func (r Record) Stop() error {
	if !r.Alive() {
		return nil
	}
	for _, s := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, grace}} {
		if err := syscall.Kill(r.PID, s.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end process %d: %w", r.PID, err)
		}
		for end := time.Now().Add(s.wait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if !r.Alive() {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d does not end", r.PID)
}

type stat struct {
	state   byte
	threads int
	started uint64
}

// ended is a zombie whose last other thread is gone: until then its files, and
// what listens among them, are open.
func (s stat) ended() bool { return s.state == 'X' || s.state == 'Z' && s.threads <= 1 }

func inspect(pid int) (stat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	return parseStat(string(content))
}

// parseStat reads the state (field 3), the threads (20) and the start time (22)
// of /proc/PID/stat; the name in field 2 may hold blanks and brackets.
func parseStat(line string) (stat, error) {
	_, rest, ok := cutLast(line, ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return stat{}, fmt.Errorf("cannot read %q as a process's state", line)
	}
	started, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("read a process's start time: %w", err)
	}
	threads, err := strconv.Atoi(fields[17])
	if err != nil {
		return stat{}, fmt.Errorf("read a process's threads: %w", err)
	}
	return stat{state: fields[0][0], threads: threads, started: started}, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
