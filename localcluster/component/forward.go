package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/runhook/runhook/localcluster/layout"
)

// forward carries connections from the machine's loopback into the namespace.
// Its listeners are opened on the machine, before this program goes inside.
func forward() Component {
	return process(forwardName, []string{"dns"}, func(c *Cluster) Process {
		p := forwardProcess(c)
		p.Inherit = c.Listeners
		return p
	}, func(context.Context, *Cluster) error { return nil })
}

const forwardName = "forward"

func forwardProcess(c *Cluster) Process {
	p := own(c, "forward")
	for _, f := range layout.Forwards {
		p.Command = append(p.Command, f.Target)
	}
	p.Env = append(p.Env, descriptors+"="+strconv.Itoa(len(layout.Forwards)))
	return p
}

// Listen opens the forwards' listeners on the machine, unless a forward runs
// that has them; one that differs from what is wanted is ended first.
func Listen(c *Cluster) ([]*os.File, error) {
	spec, err := forwardProcess(c).spec()
	if err != nil {
		return nil, err
	}
	record, err := Record(c, forwardName)
	if err != nil {
		return nil, err
	}
	if record.Alive() && record.Spec == spec {
		return nil, nil
	}
	if err := record.Stop(); err != nil {
		return nil, err
	}
	var files []*os.File
	for _, f := range layout.Forwards {
		listener, err := net.Listen("tcp", f.Address())
		if err != nil {
			return nil, fmt.Errorf("listen for the forward to %s: %w: end what listens there", f.Target, err)
		}
		file, err := listener.(*net.TCPListener).File()
		listener.Close() // the copy stays open
		if err != nil {
			return nil, fmt.Errorf("keep a listener: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

// Forward serves the listeners, each to its target, until it is told to end.
func Forward(ctx context.Context, files []*os.File, targets []string) error {
	if len(files) != len(targets) {
		return errors.New("there must be as many targets as listeners")
	}
	ended := make(chan error, len(files))
	for i, file := range files {
		listener, err := net.FileListener(file)
		if err != nil {
			return fmt.Errorf("take a listener: %w", err)
		}
		go func() { ended <- serve(listener, targets[i]) }()
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

func serve(listener net.Listener, target string) error {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accept for %s: %w", target, err)
		}
		go carry(conn.(*net.TCPConn), target)
	}
}

// dialPatience bounds one dial, the look-up of a Service's name included.
const dialPatience = 5 * time.Second

func carry(from *net.TCPConn, target string) {
	defer from.Close()
	conn, err := net.DialTimeout("tcp", strings.Replace(target, "cluster.local:", "cluster.local.:", 1), dialPatience)
	if err != nil {
		log.Printf("dial %s: %v", target, err)
		return
	}
	defer conn.Close()
	to := conn.(*net.TCPConn)
	var wg sync.WaitGroup
	wg.Go(func() { pipe(to, from) })
	wg.Go(func() { pipe(from, to) })
	wg.Wait()
}

// pipe copies one way and passes the end on, so that half-closed connections work.
func pipe(to, from *net.TCPConn) {
	_, _ = io.Copy(to, from) // a broken connection ends like a closed one
	_ = to.CloseWrite()
}
