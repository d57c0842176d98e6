//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"mvdan.cc/sh/v3/interp"

	"github.com/runhook/runhook/docs"
)

// documented is the run that the pages submit.
const documented = "docs-example"

// pageShell runs the blocks of a page against the deployed runhook.
type pageShell struct {
	*docs.Shell
	out bytes.Buffer
}

// curlTimedOut is curl's exit code after --max-time.
const curlTimedOut = 28

// pageShell makes a shell that gives curl some flags more.
func (s *site) pageShell(flags ...string) *pageShell {
	s.Helper()
	really := interp.DefaultExecHandler(2 * time.Second)
	skip := func(context.Context, []string) error { return nil }
	shell := &pageShell{}
	var err error
	shell.Shell, err = docs.NewShell(root, os.Environ(), &shell.out, map[string]interp.ExecHandlerFunc{
		"cat":         really,
		"bin/runhook": really, // as `make deploy` has built it
		"curl": func(ctx context.Context, args []string) error {
			err := really(ctx, append(args, flags...))
			if errors.Is(err, interp.ExitStatus(curlTimedOut)) && slices.Contains(args, "--max-time") {
				return nil // it follows what has no end
			}
			return err
		},
		// The cluster is up, and no page is to change it.
		"bin/localcluster": skip, "make": skip, "kubectl": skip,
	})
	if err != nil {
		s.Fatal(err)
	}
	return shell
}

// code makes curl print the status below the answer.
var code = []string{"-sS", "-w", "\n%{http_code}"}

// curl runs a block whose last command is curl, and gives what came back.
func (p *pageShell) curl(ctx context.Context, block docs.Block) (answer, error) {
	p.out.Reset()
	if err := p.Run(ctx, block); err != nil {
		return answer{}, fmt.Errorf("%w: %s", err, &p.out)
	}
	end := bytes.LastIndexByte(p.out.Bytes(), '\n')
	code, err := strconv.Atoi(p.out.String()[end+1:])
	return answer{code: code, body: bytes.Clone(p.out.Bytes()[:max(end, 0)])}, err
}

func TestCurlLinesOfThePages(t *testing.T) {
	s := newSite(t)
	s.delete(documented)
	s.deleteAtEnd(documented)
	described := s.described()
	var blocks []docs.Block
	for _, page := range []string{"docs/functions.md", "docs/events.md"} {
		of, err := docs.Blocks(root, page)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, of...)
	}
	shell := s.pageShell(code...)
	for i, block := range blocks {
		if block.Language() != "sh" {
			continue
		}
		if !strings.Contains(block.Text, "curl") {
			if err := shell.Run(t.Context(), block); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if i+1 == len(blocks) || len(strings.Fields(blocks[i+1].Info)) != 2 {
			t.Errorf("%s: no answer stands below it", block)
			continue
		}
		// What is still under way answers otherwise until it is done.
		s.eventually(block.String()+" is answered as the page says", func() error {
			got, err := shell.curl(t.Context(), block)
			if err != nil {
				return err
			}
			return errors.Join(asDocumented(blocks[i+1], got), described.fits(block, got))
		})
	}
}

func TestCommandsOfTheReadme(t *testing.T) {
	s := newSite(t)
	s.delete(documented)
	s.deleteAtEnd(documented)
	blocks, err := docs.Blocks(root, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	shell := s.pageShell("-sS", "--fail-with-body")
	for _, block := range blocks {
		if block.Language() != "sh" {
			continue
		}
		if err := shell.Run(t.Context(), block); err != nil {
			t.Errorf("%v: %s", err, &shell.out)
		}
	}
	s.waitPhase(documented, "Succeeded")
}

// asDocumented compares an answer with the block that shows it: the code, and
// of JSON every field that is shown, with a value of the same type.
func asDocumented(shown docs.Block, got answer) error {
	if code := strings.Fields(shown.Info)[1]; code != strconv.Itoa(got.code) {
		return fmt.Errorf("%s: %d %s, want %s", shown, got.code, got.body, code)
	}
	if shown.Language() != "json" {
		if text := strings.TrimSpace(shown.Text); !strings.Contains(string(got.body), text) {
			return fmt.Errorf("%s: %q lacks %q", shown, got.body, text)
		}
		return nil
	}
	var want, have any
	if err := errors.Join(json.Unmarshal([]byte(shown.Text), &want), json.Unmarshal(got.body, &have)); err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	if wrong := difference("answer", want, have); wrong != "" {
		return fmt.Errorf("%s: %s in %s", shown, wrong, got.body)
	}
	return nil
}

// difference says what of a shown value is not in another; null stands for
// any value.
func difference(path string, want, have any) string {
	switch want := want.(type) {
	case nil:
		return ""
	case map[string]any:
		object, ok := have.(map[string]any)
		if !ok {
			return path + " is no object"
		}
		for key, value := range want {
			inside, ok := object[key]
			if !ok {
				return path + "." + key + " is missing"
			}
			if wrong := difference(path+"."+key, value, inside); wrong != "" {
				return wrong
			}
		}
		return ""
	case []any:
		list, ok := have.([]any)
		if !ok || len(list) < len(want) {
			return fmt.Sprintf("%s is no list of %d", path, len(want))
		}
		for i := range want {
			if wrong := difference(fmt.Sprintf("%s[%d]", path, i), want[i], list[i]); wrong != "" {
				return wrong
			}
		}
		return ""
	default:
		if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", have) {
			return fmt.Sprintf("%s is %v", path, have)
		}
		return ""
	}
}

// description is the document that the deployed runhook serves.
type description struct{ *openapi3.T }

func (s *site) described() description {
	s.Helper()
	got, err := s.pageShell(code...).curl(s.Context(), docs.Block{Page: "openapi.json", Text: "curl $RUNHOOK_URL/openapi.json"})
	if err != nil || got.code != 200 {
		s.Fatalf("%d %s %v", got.code, got.body, err)
	}
	document, err := openapi3.NewLoader().LoadFromData(got.body)
	if err != nil {
		s.Fatal(err)
	}
	return description{document}
}

var calledFunction = regexp.MustCompile(`/functions/([a-z-]+)`)

// fits holds an answer against its schema.
func (d description) fits(block docs.Block, got answer) error {
	name := calledFunction.FindStringSubmatch(block.Text)
	if name == nil {
		return nil // no function
	}
	path := d.Paths.Value("/functions/" + name[1])
	if path == nil {
		return fmt.Errorf("the deployed runhook has no function %s: deploy this checkout", name[1])
	}
	responses := path.Post.Responses
	media := responses.Value("2XX").Value.Content.Get("application/json")
	if got.code/100 != 2 {
		media = responses.Default().Value.Content.Get("application/problem+json")
	}
	if !json.Valid(got.body) {
		return nil // a log as text
	}
	var value any
	if err := json.Unmarshal(got.body, &value); err != nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
}
