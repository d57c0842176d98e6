package argotest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/runhook/runhook/pkg/run"
)

// hostile is text that Argo, Kubernetes or JSON would change if they met it live.
var hostile = []string{
	"",
	"{{workflow.name}}",
	"{{inputs.parameters.x}}", // Argo refuses the whole Workflow for it
	"{{ inputs.parameters.worker }}",
	"{{=1+1}}", "{{='{{'}}workflow.name}}", "{{=sprig.env('HOME')}}",
	"{", "{{", "{{{", "{{{{{", "}}", "{{}}", "{ {", "{{workflow.{{workflow.name}}}}", "{\\u007b{",
	"$(id)", "$$", "$", "$$$", "$(", "$()", "$$(id)", "$(RUNHOOK_BRACE)", "$(RUNHOOK_BRACE){", "$(RUNHOOK_RUN)", "${HOME}", "{${$({$$(",
	"${{ github.sha }}", "{$(RUNHOOK_BRACE)workflow.name}}",
	"emoji 🚀, accents é, \u202e right to left, \u2028", "control \x01\x07\x0b\x1b\x7f", "\U000e0001",
	"trailing blanks  \t ", " leading", "first\nsecond\r\nthird\n",
	`"double" 'single' ` + "`back`", `back\slash \n \u0041`, "<a href='x'>&amp;</a>",
	"__argo__internal__placeholder-1",
}

func TestTextArrivesByteForByte(t *testing.T) {
	for _, text := range hostile {
		arrives(t, text)
	}
	arrives(t, strings.Join(hostile, "|"))
}

// Random mixtures of what has a meaning to somebody.
func TestAnyTextArrivesByteForByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"{", "}", "$", "(", ")", "=", "\\", "\"", "workflow.name", "RUNHOOK_BRACE", "a", " ", "\n", "é", "'"}
	for range 300 {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		arrives(t, b.String())
	}
}

func FuzzTextArrives(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 4<<10 && utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			arrives(t, text)
		}
	})
}

// arrives sends a text wherever free text may stand, past Argo and Kubernetes.
func arrives(t *testing.T, text string) {
	t.Helper()
	variable := map[string]run.EnvValue{"A": {Text: text}, "Z": {Text: "last"}}
	program := run.Program{Command: []string{"say", text}, Args: []string{text, "end"}, Env: variable, MaxMemory: "1Gi"}
	merge := run.Program{Args: []string{text, "end"}, Command: []string{"say", text}}
	workflow := render(t, &run.Run{
		ID: "text", Image: "registry/say", Params: map[string]string{"message": text}, Env: map[string]run.EnvValue{"B": {Text: text}},
		Tasks: []run.Task{{ID: "one", Program: program}, {ID: "many", Program: program, Split: &run.Split{Workers: 1, Merge: &merge}}},
	})
	if err := accepted(workflow); err != nil {
		t.Errorf("Argo refuses the Workflow with %q: %v", text, err)
	}
	for i := range workflow.Spec.Templates {
		template := &workflow.Spec.Templates[i]
		if template.Container == nil {
			continue
		}
		arguments := wfv1.Arguments{Parameters: []wfv1.Parameter{{Name: "worker", Value: wfv1.AnyStringPtr(0)}}}
		container := pod(t, template, arguments, "3", "").Container
		env, words := kubelet(container)
		for _, name := range []string{"RUNHOOK_PARAM_MESSAGE", "A", "B"} {
			if env[name] != text {
				t.Errorf("%s: %s arrived as %q, not %q", template.Name, name, env[name], text)
			}
		}
		if want := []string{"say", text, text, "end"}; !slices.Equal(words, want) {
			t.Errorf("%s: the words arrived as %q, not %q", template.Name, words, want)
		}
		if env["RUNHOOK_ATTEMPT"] != "3" || env["RUNHOOK_RUN"] != "text" || env["Z"] != "last" {
			t.Errorf("%s: other variables arrived as %q", template.Name, env)
		}
	}
}
