package strict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

// span is a leaf that decodes text.
type span time.Duration

func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}

// either is a leaf that decodes JSON strictly itself.
type either struct{ Text, CEL string }

func (e *either) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &e.Text)
	}
	var object struct {
		CEL string `json:"cel"`
	}
	err := strict.JSON(data, &object)
	e.CEL = object.CEL
	return err
}

type resources struct {
	CPU    *resource.Quantity `json:"cpu,omitempty"`
	Memory *resource.Quantity `json:"memory,omitempty"`
}

type task struct {
	ID        string            `json:"id"`
	Command   []string          `json:"command,omitempty"`
	Env       map[string]either `json:"env,omitempty"`
	Resources resources         `json:"resources,omitzero"`
	Split     *struct {
		Workers int `json:"workers"`
	} `json:"split,omitempty"`
}

type base struct {
	Name   string `json:"name"`
	Hidden string `json:"small,omitempty"`
}

type document struct {
	base     `json:",inline"`
	Tasks    []task          `json:"tasks,omitempty"`
	Deadline span            `json:"deadline,omitempty"`
	Small    int8            `json:"small,omitempty"`
	Count    uint            `json:"count,omitempty"`
	Ratio    float64         `json:"ratio,omitempty"`
	Reserved bool            `json:"reserved,omitempty"`
	Any      any             `json:"any,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
	Volumes  []corev1.Volume `json:"volumes,omitempty"`
	Number   json.Number     `json:"number,omitempty"`
	Quoted   int             `json:"quoted,string,omitempty"`
	Plain    int
	Out      string `json:"-"`
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, json string
		kind       fault.Kind
		want       []string
	}{
		{"unknown key", `{"tasks":[{},{},{"resources":{"memroy":"1Gi"}}]}`, fault.Invalid,
			[]string{"tasks[2].resources.memroy: unknown key; known are cpu, memory"}},
		{"all at once", `{"name":1,"tasks":[{"id":true,"nmae":"x","command":"sh"}],"count":-1}`, fault.Invalid, []string{
			"count: -1 is out of range",
			"name: text is asked for, not a number; put it in quotes",
			"tasks[0].command: a list is asked for, not text",
			"tasks[0].id: text is asked for, not true or false; put it in quotes",
			"tasks[0].nmae: unknown key; known are id, command, env, resources, split",
		}},
		{"elements that are short but large", `{"volumes":[` + strings.Repeat("{},", limits.Values/200) + `{}]}`, fault.Malformed,
			[]string{fmt.Sprintf("volumes[%d]: more elements than are read", limits.Values/int(reflect.TypeFor[corev1.Volume]().Size()))}},
		{"a map of very many keys", `{"tasks":[{"env":{` + manyKeys(limits.Values/112) + `}}]}`, fault.Malformed,
			[]string{fmt.Sprintf("tasks[0].env.k%d: more elements than are read", (limits.Values-int(reflect.TypeFor[task]().Size()))/(112+int(reflect.TypeFor[either]().Size())))}},
		{"keys have their case", `{"tasks":[{"ID":"a"}]}`, fault.Invalid,
			[]string{"tasks[0].ID: unknown key; known are id, command, env, resources, split"}},
		{"tag of minus", `{"tasks":[{"split":{"workers":2,"Out":"x"}}]}`, fault.Invalid,
			[]string{"tasks[0].split.Out: unknown key; known are workers"}},
		{"key given twice", `{"name":"a","name":"b"}`, fault.Malformed, []string{"name: the key is given twice"}},
		{"key given twice by escapes", `{"name":"a","n\u0061me":"b"}`, fault.Malformed, []string{"name: the key is given twice"}},
		{"key given twice in any", `{"any":{"x":[{"y":1,"y":2}]}}`, fault.Malformed, []string{"any.x[0].y: the key is given twice"}},
		{"key given twice in raw", `{"raw":{"y":1,"y":2}}`, fault.Malformed, []string{"raw.y: the key is given twice"}},
		{"null for text", `{"name":null}`, fault.Invalid, []string{"name: text is asked for, not null"}},
		{"null for an object", `{"tasks":[null]}`, fault.Invalid, []string{"tasks[0]: an object is asked for, not null"}},
		{"fraction", `{"small":1.5}`, fault.Invalid, []string{"small: a whole number is asked for"}},
		{"range of an inner type", `{"small":128}`, fault.Invalid, []string{"small: 128 is out of range"}},
		{"float range", `{"ratio":1e999}`, fault.Invalid, []string{"ratio: 1e999 is out of range"}},
		{"quantity", `{"tasks":[{"resources":{"memory":"8GB"}}]}`, fault.Invalid,
			[]string{`tasks[0].resources.memory: "8GB" is no quantity such as 500m or 8Gi`}},
		{"endless quantity", `{"tasks":[{"resources":{"memory":"1.2345678901234567890123456789e999999999","cpu":1e-999999999}}]}`, fault.Invalid, []string{
			"tasks[0].resources.cpu: 1e-999999999 is no quantity such as 500m or 8Gi",
			`tasks[0].resources.memory: "1.2345678901234567890123456789e999999999" is no quantity such as 500m or 8Gi`,
		}},
		{"endless quantity of a volume", `{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"123456789012345678901234567890e9999999"}}]}`, fault.Invalid,
			[]string{`volumes[0].emptyDir.sizeLimit: "123456789012345678901234567890e9999999" is no quantity such as 500m or 8Gi`}},
		{"duration", `{"deadline":"1y"}`, fault.Invalid, []string{`deadline: time: unknown unit "y" in duration "1y"`}},
		{"duration of a number", `{"deadline":5}`, fault.Invalid, []string{"deadline: text is asked for, not a number; put it in quotes"}},
		{"strict leaf", `{"tasks":[{"env":{"A":{"sel":"x"}}}]}`, fault.Invalid, []string{"tasks[0].env.A.sel: unknown key; known are cel"}},
		{"leaf of a wrong type", `{"tasks":[{"env":{"A":[1]}}]}`, fault.Invalid, []string{"tasks[0].env.A: an object is asked for, not a list"}},
		{"keys with dots", `{"tasks":[{"env":{"a.b/c":{"sel":"x"}}}]}`, fault.Invalid, []string{`tasks[0].env["a.b/c"].sel: unknown key; known are cel`}},
		{"inline types of Kubernetes", `{"volumes":[{"name":"a","emptyDir":{"sizeLimits":"1Gi"}}]}`, fault.Invalid,
			[]string{"volumes[0].emptyDir.sizeLimits: unknown key; known are medium, sizeLimit"}},
		{"option string", `{"quoted":"x"}`, fault.Invalid, nil},
		{"whole is a list", `[]`, fault.Invalid, []string{"an object is asked for, not a list"}},
		{"half a surrogate pair", `{"name":"\ud800x"}`, fault.Malformed, []string{"name: half of a surrogate pair is no text"}},
		{"two low halves", `{"name":"\udc00\udc00"}`, fault.Malformed, []string{"name: half of a surrogate pair is no text"}},
		{"two high halves", `{"name":"\ud800\ud800"}`, fault.Malformed, []string{"name: half of a surrogate pair is no text"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var into document
			err := strict.JSON([]byte(test.json), &into)
			if fault.KindOf(err) != test.kind {
				t.Fatalf("kind %q of %v, want %q", fault.KindOf(err), err, test.kind)
			}
			if diff := cmp.Diff(test.want, told(err)); test.want != nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func told(err error) []string {
	var list []string
	for _, p := range fault.From(err).Problems {
		list = append(list, p.String())
	}
	return list
}

func TestMalformed(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := map[string]string{
		"empty": "", "blank": " \n", "yaml": "name: a", "trailing": `{} {}`, "trailing bracket": `{}]`,
		"nan": `{"ratio": NaN}`, "infinity": `{"ratio": Infinity}`, "comment": `{} // x`,
		"comma": `{"name":"a",}`, "single quotes": `{'name':'a'}`, "no utf-8": "{\"name\":\"\xff\"}",
		"cut": `{"name":"a`, "bom": "\ufeff{}", "leading zero": `{"small":01}`,
		"deep": `{"any":` + deep(limits.JSONDepth) + `}`, "very deep": deep(1 << 20), "open": strings.Repeat("[", 1<<20),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var into document
			if err := strict.JSON([]byte(text), &into); fault.KindOf(err) != fault.Malformed {
				t.Errorf("%v", err)
			}
		})
	}
	var into document
	if err := strict.JSON([]byte(`{"any":`+deep(limits.JSONDepth-1)+`}`), &into); err != nil {
		t.Errorf("exactly the depth: %v", err)
	}
}

func TestDecodes(t *testing.T) {
	into := document{Count: 7, Reserved: true}
	err := strict.JSON([]byte(` {"name":"\u0061\n\ud83d\ude00","tasks":[{"id":"a","command":["x","}"],"split":null,
		"env":{"A":"1","B":{"cel":"event.sha"}},"resources":{"cpu":4,"memory":"8Gi"}}],"deadline":"24h",
		"small":-128,"ratio":1e3,"any":{"x":[null,1,"2"]},"raw":{"y": 1},"number":12345678901234567890,
		"quoted":"5","Plain":3,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]} `), &into)
	if err != nil {
		t.Fatal(err)
	}
	cpu, memory := resource.MustParse("4"), resource.MustParse("8Gi")
	want := document{
		base: base{Name: "a\n😀"}, Count: 7, Reserved: true,
		Tasks: []task{{
			ID: "a", Command: []string{"x", "}"}, Env: map[string]either{"A": {Text: "1"}, "B": {CEL: "event.sha"}},
			Resources: resources{&cpu, &memory},
		}},
		Deadline: span(24 * time.Hour), Small: math.MinInt8, Ratio: 1000, Raw: json.RawMessage(`{"y": 1}`),
		Any: map[string]any{"x": []any{nil, 1.0, "2"}}, Number: "12345678901234567890", Quoted: 5, Plain: 3,
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"},
		}}},
	}
	if diff := cmp.Diff(want, into, cmp.AllowUnexported(document{})); diff != "" {
		t.Error(diff)
	}
}

func TestManyKeysGivenTwice(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"any":{`)
	for i := range 1000 {
		fmt.Fprintf(&b, `"k%d":1,`, i%500)
	}
	b.WriteString(`"z":1}}`)
	var into document
	err := strict.JSON([]byte(b.String()), &into)
	if got := len(told(err)); got != limits.Problems {
		t.Errorf("%d mistakes are told, want %d", got, limits.Problems)
	}
	if !strings.Contains(err.Error(), "the first 100 mistakes") {
		t.Errorf("nothing says that there are more: %.200v", err)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	var into document
	err := strict.JSON([]byte(`{"`+strings.Repeat("é", 1<<20)+`":1}`), &into)
	if n := len(err.Error()); n > 1000 || fault.KindOf(err) != fault.Invalid {
		t.Errorf("%d bytes of %q", n, fault.KindOf(err))
	}
}

// TestCostIsLinear counts allocations instead of time: a body of names that
// nobody knows must not cost more than a few for each.
func TestCostIsLinear(t *testing.T) {
	body := []byte(`{"any":[` + strings.Repeat(`{"key":"value","other":[1,2,3]},`, 20_000) + `{}]}`)
	var raw struct {
		Any json.RawMessage `json:"any"`
	}
	if n := testing.AllocsPerRun(1, func() { _ = strict.JSON(body, &raw) }); n > 1000 {
		t.Errorf("%.0f allocations to step over 40,000 values", n)
	}
}

func BenchmarkJSON(b *testing.B) {
	body := large()
	b.Run("strict", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var into document
			if err := strict.JSON(body, &into); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var into document
			if err := json.Unmarshal(body, &into); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func large() []byte {
	var run document
	for range 10_000 {
		run.Tasks = append(run.Tasks, task{ID: "fit", Command: []string{"python", "fit.py", strings.Repeat("x", 100)}})
	}
	body, _ := json.Marshal(run)
	return body
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"\ud800"}`, `{"tasks":[{"env":{"A":{"cel":1}}}]}`, `[[[`, `{"a":1,"a":2}`, "\xff", `{"raw":[1e9,"\\"]}`,
		`{"volumes":[{"emptyDir":{}}]}`, `{"quoted":"1"}`, `{"number":"x"}`, `{"deadline":"1h","small":1e1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into, again document
		err := strict.JSON(data, &into)
		kind := fault.KindOf(err)
		if kind != "" && kind != fault.Malformed && kind != fault.Invalid {
			t.Fatalf("%s: %v", kind, err)
		}
		if err == nil {
			if err := json.Unmarshal(data, &again); err != nil {
				t.Fatalf("encoding/json refuses what strict takes: %v", err)
			}
		}
		if !json.Valid(data) && kind != fault.Malformed {
			t.Fatalf("no JSON, and %v", err)
		}
	})
}

func TestALargeFileIsNotRead(t *testing.T) {
	var into any
	err := strict.YAML("f.yaml", []byte(strings.Repeat("#\n", limits.YAMLBytes/2+1)), &into)
	if fault.KindOf(err) != fault.Malformed || !strings.Contains(err.Error(), "f.yaml: larger than") {
		t.Error(err)
	}
}

// manyKeys are keys with a short text each, as JSON.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":"",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}
