package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
	listing := "installed containerd\nconfig-files nats-server\ninstalled runc-extra\n"
	got := missing([]string{"containerd", "nats-server", "runc"}, listing)
	if want := []string{"nats-server", "runc"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseStat(t *testing.T) {
	line := "12 (a) b (c) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 777 1 2"
	got, err := parseStat(line)
	if want := (stat{state: 'S', threads: 9, started: 777}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "12 (a", "12 (a) S 1", "12 (a) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 x"} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestEnded(t *testing.T) {
	for s, want := range map[stat]bool{
		{state: 'S', threads: 1}: false, {state: 'Z', threads: 3}: false,
		{state: 'Z', threads: 1}: true, {state: 'X'}: true,
	} {
		if s.ended() != want {
			t.Errorf("%+v: ended %v", s, !want)
		}
	}
}

func TestRecordKnowsItsProcessFromAStranger(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	record, err := NewRecord(cmd.Process.Pid, "spec")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pid", "x.json")
	if err := record.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadRecord(path)
	if err != nil || loaded != record || !loaded.Alive() {
		t.Fatalf("loaded %+v (alive %v), %v; saved %+v", loaded, loaded.Alive(), err, record)
	}
	stranger := record
	stranger.Started++ // the same id, given to another process
	if stranger.Alive() {
		t.Error("a stranger was taken for the process")
	}
	if err := stranger.Stop(); err != nil || !record.Alive() {
		t.Errorf("a stranger was ended: %v", err)
	}
	if err := record.Stop(); err != nil || record.Alive() {
		t.Errorf("the process lives on: %v", err)
	}
	<-gone
}

func TestRecordsThatTellNothing(t *testing.T) {
	dir := t.TempDir()
	half := filepath.Join(dir, "half.json")
	if err := os.WriteFile(half, []byte(`{"pid": 1`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{half, filepath.Join(dir, "none.json")} {
		if r, err := LoadRecord(path); err != nil || r.Alive() {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
}

func TestLockIsExclusiveAndFreed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); err == nil || !strings.Contains(err.Error(), "another localcluster") {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

const mounts = `proc /proc proc rw 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
overlay /home/run/a overlay rw 0 0
tmpfs /home/run/a/b\040c tmpfs rw 0 0
tmpfs /home/running tmpfs rw 0 0
`

func TestParseHierarchies(t *testing.T) {
	want := []hierarchy{{"/sys/fs/cgroup/cpu", false}, {"/sys/fs/cgroup/unified", true}}
	if got := parseHierarchies(mounts); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMountsBelow(t *testing.T) {
	want := []string{"/home/run/a", "/home/run/a/b c"}
	if got := mountsBelow(mounts, "/home/run"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRemoveTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "group")
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if left := removeTree(dir); left != 0 {
		t.Errorf("%d left", left)
	}
	if left := removeTree(dir); left != 0 {
		t.Errorf("nothing is there, yet %d left", left)
	}
}
