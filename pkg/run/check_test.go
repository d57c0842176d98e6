package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/runhook/runhook/pkg/limits"
)

// refused are the paths of a run's mistakes.
func refused(t *testing.T, text string) []string {
	t.Helper()
	var paths []string
	for _, problem := range problems(t, parse(t, text).Check(policy)) {
		path, _, _ := strings.Cut(problem, ": ")
		paths = append(paths, path)
	}
	return paths
}

func TestCheck(t *testing.T) {
	task := func(text string) string { return `{image: x, tasks: [{id: a, ` + text + `}]}` }
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"the least":                         {`{image: x, tasks: [{id: a}]}`, nil},
		"no id":                             {`{image: x, tasks: [{}]}`, []string{"tasks[0].id"}},
		"no tasks":                          {`{image: x}`, []string{"tasks"}},
		"no image":                          {`{tasks: [{id: a}, {id: b, image: x}]}`, []string{"tasks[0].image"}},
		"the image of the build":            {`{build: {ref: "registry/x:1", git: {url: "https://git.lab/x.git", sha: a123456789012345678901234567890123456789}}, tasks: [{id: a, needs: [build]}]}`, nil},
		"needs a build that is not":         {`{image: x, tasks: [{id: a, needs: [build]}]}`, []string{"tasks[0].needs[0]"}},
		"build is free":                     {`{image: x, tasks: [{id: build}, {id: a, needs: [build]}]}`, nil},
		"a digest to build":                 {`{build: {ref: "registry/x@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", git: {url: "https://git.lab/x.git", sha: a123456789012345678901234567890123456789}}, tasks: [{id: a}]}`, []string{"build.ref"}},
		"1,000 workers":                     {task(`split: {workers: 1000}`), nil},
		"1,001 workers":                     {task(`split: {workers: 1001}`), []string{"tasks[0].split.workers"}},
		"no workers":                        {task(`split: {workers: 0}`), []string{"tasks[0].split.workers"}},
		"1,001 workers together":            {`{image: x, tasks: [{id: a, split: {workers: 1000}}, {id: b, split: {workers: 1}}]}`, []string{"tasks"}},
		"4 MiB":                             {task(`resources: {memory: 4Mi}`), nil},
		"a byte less":                       {task(`resources: {memory: 4194303}`), []string{"tasks[0].resources.memory"}},
		"an endless number":                 {task(`resources: {cpu: "1e999999999"}`), []string{"tasks[0].resources.cpu"}},
		"cpu below a thousandth":            {task(`resources: {cpu: 1u}`), nil},
		"maxMemory of the defaults":         {task(`maxMemory: 1Gi`), nil},
		"maxMemory below the defaults":      {task(`maxMemory: 64Mi`), []string{"tasks[0].maxMemory"}},
		"maxMemory equal":                   {task(`resources: {memory: 1Gi}, maxMemory: 1024Mi`), nil},
		"a fraction of a GPU":               {task(`resources: {nvidia.com/gpu: 1.5}`), []string{`tasks[0].resources["nvidia.com/gpu"]`}},
		"names between":                     {`{image: x, tasks: [{id: a, split: {workers: 2}}, {id: a-2}, {id: a-01}, {id: a-extra-0}, {id: a-merge}, {id: a--1}]}`, nil},
		"a worker's name":                   {`{image: x, tasks: [{id: a-1}, {id: a, split: {workers: 2}}]}`, []string{"tasks[0].id"}},
		"a merge's name":                    {`{image: x, tasks: [{id: a-merge}, {id: a, split: {workers: 2, merge: {}}}]}`, []string{"tasks[0].id"}},
		"a helper's name":                   {`{image: x, tasks: [{id: a-extra-0}, {id: a-extra-1}, {id: a, split: {workers: 2, extra: 1}}]}`, []string{"tasks[0].id"}},
		"workers called as helpers":         {`{image: x, tasks: [{id: a-extra, split: {workers: 1}}, {id: a, split: {workers: 2, extra: 1}}]}`, []string{"tasks[0].id"}},
		"pins":                              {task(`nodes: [n1]`), nil},
		"two pins":                          {task(`nodes: [n1, n2]`), []string{"tasks[0].nodes"}},
		"pins of a split task":              {task(`nodes: [n1, n2], split: {workers: 5}`), nil},
		"a pin with braces":                 {task(`nodes: ["{{workflow.name}}"]`), []string{"tasks[0].nodes[0]"}},
		"braces in an image":                {task(`image: "x:{{workflow.name}}"`), []string{"tasks[0].image"}},
		"braces in free text":               {task(`command: ["{{x}}", "$(x)"], args: ["{{"], env: {A: "{{="}`), nil},
		"half a megabyte of id":             {task(`needs: ["` + strings.Repeat("x", 512<<10) + `"]`), []string{"tasks[0].needs[0]"}},
		"backoff of none":                   {task(`retry: {failures: 1, backoff: 0s}`), []string{"tasks[0].retry.backoff"}},
		"negative deadline":                 {`{image: x, deadline: -1h, tasks: [{id: a}]}`, []string{"deadline"}},
		"too long a deadline":               {`{image: x, deadline: 700000h, tasks: [{id: a}]}`, []string{"deadline"}},
		"case tells variables apart":        {`{image: x, env: {a: "1", A: "2", runhook_x: "3"}, tasks: [{id: a}]}`, nil},
		"case does not tell params apart":   {`{image: x, params: {a: "1", A: "2"}, tasks: [{id: a}]}`, []string{"params.a"}},
		"NUL in a command":                  {task(`command: [x, "a\0"]`), []string{"tasks[0].command[1]"}},
		"a claim":                           {`{image: x, volumes: [{name: v, persistentVolumeClaim: {claimName: runs}}], tasks: [{id: a, mounts: [{name: v, path: /v}]}]}`, nil},
		"more failures than any config has": {task(`retry: {failures: 1001}`), []string{"tasks[0].retry.failures"}},
		"a path above the registry":         {`{image: ../../x, tasks: [{id: a}]}`, []string{"image"}},
		"over the root":                     {`{image: x, volumes: [{name: v, emptyDir: {}}], tasks: [{id: a, mounts: [{name: v, path: //}]}]}`, []string{"tasks[0].mounts[0].path"}},
		"a size below nothing":              {`{image: x, volumes: [{name: v, emptyDir: {sizeLimit: -1}}], tasks: [{id: a}]}`, []string{"volumes[0].emptyDir.sizeLimit"}},
		"a Secret without a name":           {`{image: x, volumes: [{name: v, projected: {sources: [{secret: {}}]}}], tasks: [{id: a}]}`, []string{"volumes[0].projected.sources[0].secret.name"}},
		"a key that Argo would expand":      {`{image: x, volumes: [{name: v, csi: {driver: d, volumeAttributes: {"{{x}}": z}}}], tasks: [{id: a}]}`, []string{`volumes[0].csi.volumeAttributes["{{x}}"]`}},
		"a Secret of a driver, no name":     {`{image: x, volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {}}}], tasks: [{id: a}]}`, []string{"volumes[0].csi.nodePublishSecretRef.name"}},
		"the data of another claim":         {`{image: x, volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, dataSource: {kind: PersistentVolumeClaim, name: other}}}}}], tasks: [{id: a}]}`, []string{"volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource"}},
		"a volume by its name":              {`{image: x, volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {volumeName: pv}}}}], tasks: [{id: a}]}`, []string{"volumes[0].ephemeral.volumeClaimTemplate.spec.volumeName"}},
		"1,001 params":                      {`{image: x, params: {` + manyKeys(1001) + `}, tasks: [{id: a}]}`, []string{"params"}},
		"1,001 variables":                   {`{image: x, env: {` + manyKeys(1001) + `}, tasks: [{id: a}, {id: b, env: {` + manyKeys(1001) + `}}]}`, []string{"env", "tasks[1].env"}},
		"1,000 params":                      {`{image: x, params: {` + manyKeys(1000) + `}, tasks: [{id: a}]}`, nil},
		"more tasks than fit":               {`{image: x, tasks: [` + manyTasks(3000) + `]}`, []string{"tasks"}},
		"many tasks":                        {`{image: x, tasks: [` + manyTasks(1000) + `]}`, nil},
		"params of many tasks":              {`{image: x, params: {a: ` + strings.Repeat("a", 2000) + `}, tasks: [` + manyTasks(1000) + `]}`, []string{"tasks"}},
		"two sources":                       {`{image: x, volumes: [{name: v, emptyDir: {}, persistentVolumeClaim: {claimName: runs}}], tasks: [{id: a}]}`, []string{"volumes[0]"}},
		"dots lead out of a mount":          {`{image: x, volumes: [{name: v, emptyDir: {}}], tasks: [{id: a, mounts: [{name: v, path: /a/../var/run/argo}]}]}`, []string{"tasks[0].mounts[0].path"}},
		"a cycle of two, and what needs it": {`{image: x, tasks: [{id: a, needs: [b]}, {id: b, needs: [a]}, {id: c, needs: [a]}]}`, []string{"tasks[0].needs"}},
		"a diamond":                         {`{image: x, tasks: [{id: d, needs: [b, c]}, {id: b, needs: [a]}, {id: c, needs: [a]}, {id: a}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refused(t, tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("refused at %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLongTexts(t *testing.T) {
	r := func(message, arg string) *Run {
		return &Run{Image: "x", Params: map[string]string{"message": message}, Tasks: []Task{{ID: "a", Program: Program{Args: []string{arg}}}}}
	}
	x := func(kib int) string { return strings.Repeat("x", kib<<10) }
	if err := r(x(100), x(100)).Check(policy); err != nil {
		t.Errorf("100 KiB: %v", err)
	}
	got := problems(t, r(x(130), x(130)).Check(policy))
	if len(got) != 2 || !strings.HasPrefix(got[0], "params.message: ") || !strings.HasPrefix(got[1], "tasks[0].args: ") {
		t.Errorf("130 KiB: %q", got)
	}
	// What counts is what Argo gets: a brace after a brace becomes 16 bytes, `<` six.
	for _, text := range []string{strings.Repeat("{", 10<<10), strings.Repeat("<", 25<<10), strings.Repeat("$", 70<<10)} {
		if len(problems(t, r(text, "").Check(policy))) != 1 {
			t.Errorf("%d times %q is taken", len(text), text[:1])
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	r := &Run{Image: "x", Params: map[string]string{"a": "\xff"}, Tasks: []Task{{ID: "a"}}}
	if got := problems(t, r.Check(policy)); len(got) != 1 || got[0] != "params.a: is not UTF-8" {
		t.Errorf("got %q", got)
	}
	if _, err := Decode([]byte("{\"id\": \"\xff\"}")); err == nil {
		t.Error("decoded")
	}
}

func TestHostileRunsAreToldBriefly(t *testing.T) {
	r := &Run{}
	for i := range 5000 {
		r.Tasks = append(r.Tasks, Task{ID: fmt.Sprintf("T%d", i), Needs: []string{strings.Repeat("x", 1000)}})
	}
	got := problems(t, r.Check(policy))
	if len(got) != limits.Problems || len(strings.Join(got, "")) > 100<<10 {
		t.Errorf("%d problems of %d bytes", len(got), len(strings.Join(got, "")))
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":         "",
		"plain":    "plain",
		"{":        "{",
		"{{":       "{$(RUNHOOK_BRACE)",
		"{{{":      "{$(RUNHOOK_BRACE)$(RUNHOOK_BRACE)",
		"a{{b}}":   "a{$(RUNHOOK_BRACE)b}}",
		"$(x)":     "$$(x)",
		"$${{":     "$$$${$(RUNHOOK_BRACE)",
		"{{x $ {{": "{$(RUNHOOK_BRACE)x $$ {$(RUNHOOK_BRACE)",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add([]byte(`{"id":"a","image":"x","tasks":[{"id":"a","needs":["a"],"resources":{"cpu":1,"memory":"1Gi"},"split":{"workers":3,"extra":1,"merge":{}}}]}`))
	f.Add([]byte(`{"tasks":[{"id":"a","env":{"A":{"secret":"s","key":"k"}},"maxMemory":"1e99","retry":{"backoff":"1ns"}}]}`))
	f.Add([]byte(`{"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s"}}]}}],"build":{"ref":"","git":{}},"tasks":null}`))
	f.Add([]byte(`{"tasks":[{"id":"-"},{"id":"-0"},{"id":"-extra-","split":{"workers":-1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		if r.Check(policy) == nil {
			if err := r.Fill(policy).Check(policy); err != nil {
				t.Errorf("good, but not when filled: %v", err)
			}
		}
		first, err := Key(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(encoded(t, r))
		if err != nil {
			t.Fatalf("what it writes it does not read: %v", err)
		}
		if second, err := Key(again); err != nil || second != first {
			t.Errorf("written and read again it has another key: %v", err)
		}
	})
}

func encoded(t *testing.T, r *Run) []byte {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func FuzzEscape(f *testing.F) {
	f.Add("{{workflow.name}}")
	f.Add("$(x)$${{{")
	f.Fuzz(func(t *testing.T, text string) {
		escaped := Escape(text)
		if strings.Contains(escaped, "{{") {
			t.Errorf("%q holds what Argo expands", escaped)
		}
		if utf8.ValidString(text) != utf8.ValidString(escaped) {
			t.Errorf("%q is other text", escaped)
		}
	})
}

func BenchmarkEscape(b *testing.B) {
	plain := strings.Repeat("a commit message of some length\n", 3200)
	hostile := strings.Repeat("a {{commit}} message that costs $5\n", 2900)
	for name, text := range map[string]string{"plain 100 KiB": plain, "hostile 100 KiB": hostile} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Escape(text)
			}
		})
	}
}

// manyTasks are tasks as YAML.
func manyTasks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{id: t%d}, ", i)
	}
	return b.String()
}

// manyKeys are keys with a short text each, as YAML.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: z, ", i)
	}
	return b.String()
}
