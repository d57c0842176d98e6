// Command generate measures what `runhook generate` takes of the processor and
// of memory for projects of 100, 1,000 and 5,000 machines.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/runhook/runhook/pkg/gordo/gordotest"
)

// gordo are the seconds of user CPU that gordo 6.0.4 takes on the same machine.
var gordo = map[string]float64{
	"light/100": 1.5, "light/1000": 3.3, "light/5000": 11.3, "heavy/100": 2.2, "heavy/1000": 11.1, "heavy/5000": 51.6,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate BINARY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(binary string) error {
	dir, err := os.MkdirTemp("", "bench-generate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| project | machines | user CPU | gordo's | times less | peak memory |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, kind := range []string{"light", "heavy"} {
		for _, machines := range []int{100, 1000, 5000} {
			config := gordotest.Light
			if kind == "heavy" {
				config = gordotest.Heavy
			}
			path := filepath.Join(dir, "config.yaml")
			if err := os.WriteFile(path, []byte(config(machines)), 0o600); err != nil {
				return err
			}
			seconds, mebibytes, err := measure(binary, path)
			if err != nil {
				return fmt.Errorf("%s, %d machines: %w", kind, machines, err)
			}
			before := gordo[fmt.Sprintf("%s/%d", kind, machines)]
			fmt.Printf("| %s | %d | %.2f s | %.1f s | %.0f | %.0f MiB |\n", kind, machines, seconds, before, before/seconds, mebibytes)
		}
	}
	return nil
}

// measure gives the best of three runs: what else the machine does adds to the
// time of the others.
func measure(binary, config string) (seconds, mebibytes float64, err error) {
	for i := range 3 {
		c := exec.Command(binary, "generate", config, "--project-name", "bench", "--project-revision", "1")
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return 0, 0, err
		}
		usage := c.ProcessState.SysUsage().(*syscall.Rusage)
		user := c.ProcessState.UserTime().Seconds()
		if i == 0 || user < seconds {
			seconds = user
		}
		mebibytes = max(mebibytes, float64(usage.Maxrss)/1024)
	}
	return seconds, mebibytes, nil
}
