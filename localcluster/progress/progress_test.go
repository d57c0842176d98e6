package progress

import (
	"bytes"
	"errors"
	"regexp"
	"testing"
	"time"
)

func TestLinesCountFromTheStart(t *testing.T) {
	var out bytes.Buffer
	New(&out, time.Now().Add(-75*time.Second)).Line("%s is ready", "etcd")
	if !regexp.MustCompile(`^ +7\d\.\ds  etcd is ready\n$`).MatchString(out.String()) {
		t.Errorf("got %q", out.String())
	}
}

func TestDuringAnnouncesAndReturnsTheError(t *testing.T) {
	var out bytes.Buffer
	want := errors.New("no disk")
	if err := New(&out, time.Now()).During("build it", func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if !bytes.Contains(out.Bytes(), []byte("build it\n")) {
		t.Errorf("it says %q", out.String())
	}
}
