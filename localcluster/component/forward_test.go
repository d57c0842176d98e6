package component

import (
	"context"
	"io"
	"net"
	"os"
	"testing"

	"github.com/runhook/runhook/localcluster/layout"
)

// echo answers every connection with what it got until the sender closes its half.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				all, _ := io.ReadAll(conn)
				_, _ = conn.Write(append([]byte("got "), all...))
			}()
		}
	}()
	return listener.Addr().String()
}

func TestForwardCarriesBothWaysAndHalfClosed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	target := echo(t)
	go func() { ended <- Forward(ctx, []*os.File{file}, []string{target}) }()

	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "got hello" {
		t.Errorf("got %q, %v", got, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("told to end, it says %v", err)
	}
}

func TestForwardWantsATargetForEachListener(t *testing.T) {
	if err := Forward(context.Background(), nil, []string{"a:1"}); err == nil {
		t.Error("a target without a listener was taken")
	}
}

func TestForwardsDoNotCollide(t *testing.T) {
	ports, variables := map[int]bool{}, map[string]bool{}
	for _, f := range layout.Forwards {
		if ports[f.Port] || variables[f.Variable] {
			t.Errorf("%+v is there twice", f)
		}
		ports[f.Port], variables[f.Variable] = true, true
	}
}
