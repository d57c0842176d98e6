package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/interp"

	"github.com/runhook/runhook/pkg/cli"
)

// offline are the subcommands of runhook that need no cluster: they are run as
// they stand on the page. Those of withFile are so when they read a file.
var (
	offline  = []string{"check", "render", "replay", "cause", "rbac", "openapi", "normalize", "generate"}
	withFile = []string{"status", "nodes"}
)

// onCluster are the subcommands that serve or call a cluster.
var onCluster = []string{"serve", "watch", "call", "submit", "status", "nodes", "cancel", "stop", "extra", "logs", "placements", "reserve", "unreserve", "build-image", "has-image"}

// shown are the commands that a page may show. Those that need a cluster or
// another machine are not run; what they name must be there.
var shown = map[string]interp.ExecHandlerFunc{
	"bin/runhook":      runhook,
	"make":             makeTarget,
	"go":               goTool,
	"kubectl":          namedFiles,
	"curl":             namedFiles, // clustertest runs those of docs/functions.md and README.md
	"cat":              notHere,
	"bin/localcluster": notHere,
}

func notHere(context.Context, []string) error { return nil }

// runhook runs the command line in this process.
func runhook(ctx context.Context, args []string) error {
	shell := interp.HandlerCtx(ctx)
	if len(args) < 2 {
		return errors.New("runhook without a subcommand")
	}
	here := slices.Contains(offline, args[1]) || slices.Contains(withFile, args[1]) && slices.Contains(args, "-f")
	switch {
	case !here && !slices.Contains(onCluster, args[1]):
		return fmt.Errorf("no test knows `runhook %s`", args[1])
	case !here:
		return namedFiles(ctx, args)
	}
	var complaint bytes.Buffer
	code := cli.Run(ctx, args[1:], cli.System{
		Version: "docs", Getenv: func(name string) string { return shell.Env.Get(name).String() },
		In: shell.Stdin, Out: shell.Stdout, Err: &complaint,
	})
	if code != 0 {
		return fmt.Errorf("`%s` ends with %d: %s", strings.Join(args, " "), code, &complaint)
	}
	return nil
}

// makeTarget looks for the targets in the Makefile.
func makeTarget(_ context.Context, args []string) error {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		return err
	}
	for _, arg := range args[1:] {
		if strings.Contains(arg, "=") {
			continue
		}
		if !bytes.Contains(makefile, []byte("\n"+arg+":")) {
			return fmt.Errorf("the Makefile has no target %s", arg)
		}
	}
	return nil
}

// goTool looks for the packages and the tests that `go test` and `go run` name.
func goTool(_ context.Context, args []string) error {
	packages := []string{}
	for _, arg := range args {
		if folder, ok := strings.CutPrefix(arg, "./"); ok {
			packages = append(packages, folder)
		}
	}
	if len(packages) != 1 {
		return fmt.Errorf("`%s` names %d packages", strings.Join(args, " "), len(packages))
	}
	sources, err := filepath.Glob(filepath.Join(strings.TrimSuffix(packages[0], "/..."), "*.go"))
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("there is no package %s", packages[0])
	}
	for i, arg := range args[:len(args)-1] {
		if arg == "-run" || arg == "-fuzz" || arg == "-bench" {
			if err := hasTest(sources, args[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasTest(sources []string, name string) error {
	if name == "^$" {
		return nil
	}
	function := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if function.Match(text) {
			return nil
		}
	}
	return fmt.Errorf("there is no %s in %s", name, filepath.Dir(sources[0]))
}

// namedFiles looks for the files and folders of the repository that arguments
// name, as in `kubectl apply -k DIR` and `curl -d @FILE`.
func namedFiles(_ context.Context, args []string) error {
	for i, arg := range args[1:] {
		name, data := strings.CutPrefix(arg, "@")
		if !data && args[i] != "-k" && args[i] != "-f" {
			continue
		}
		if _, err := os.Stat(name); err != nil {
			return fmt.Errorf("`%s`: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

func TestEveryCommandOfThePages(t *testing.T) {
	t.Chdir(root)
	pages, err := Pages(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			blocks, err := Blocks(".", page)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			shell, err := NewShell(".", nil, &out, shown)
			if err != nil {
				t.Fatal(err)
			}
			for _, block := range blocks {
				if block.Language() != "sh" {
					continue
				}
				if err := shell.Run(t.Context(), block); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestAnUnknownCommandFails(t *testing.T) {
	t.Chdir(root)
	for text, want := range map[string]string{
		"runhok check":                          "no test knows",
		"make everything":                       "no target everything",
		"go test -run TestOfNothing ./pkg/argo": "no TestOfNothing",
		"bin/runhook check -c nowhere.yaml":     "nowhere.yaml",
		"bin/runhook frobnicate":                "frobnicate",
		"kubectl apply -k nowhere":              "nowhere",
		"curl -d @nowhere http://x":             "nowhere",
		"true; echo $(rm -rf x)":                "no test knows",
		"make 'unfinished":                      "quote",
	} {
		shell, err := NewShell(".", nil, &bytes.Buffer{}, shown)
		if err != nil {
			t.Fatal(err)
		}
		if err := shell.Run(t.Context(), Block{Page: "page", Text: text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", text, err, want)
		}
	}
}

func TestEveryFunctionHasASectionWithACall(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/functions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table := load(t, exampleConfig)
	for _, name := range table.Names() {
		_, section, found := strings.Cut(string(text), "\n## "+name+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found || !strings.Contains(section, "/functions/"+name) {
			t.Errorf("docs/functions.md has no section about %s with a curl line", name)
		}
	}
}
