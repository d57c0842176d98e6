package image

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
	"github.com/runhook/runhook/pkg/strict"
)

func parse(t testing.TB, text string) Reference {
	t.Helper()
	ref, err := lab.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestFilesAreTextOrBase64(t *testing.T) {
	var got Files
	if err := strict.JSON([]byte(`{"Dockerfile": "FROM a\n", "b.bin": {"base64": "/wAB"}, "c": {"base64": "dGV4dA=="}, "empty": ""}`), &got); err != nil {
		t.Fatal(err)
	}
	want := Files{"Dockerfile": File("FROM a\n"), "b.bin": {0xff, 0, 1}, "c": File("text"), "empty": File("")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again Files
	if err := strict.JSON(encoded, &again); err != nil || !cmp.Equal(want, again) {
		t.Errorf("%s reads as %v: %v", encoded, again, err)
	}
	for body, path := range map[string]string{
		`{"a": 1}`:                           "a",
		`{"a": null}`:                        "a",
		`{"a": ["x"]}`:                       "a",
		`{"a": {}}`:                          "a",
		`{"a": {"base64": null}}`:            "a",
		`{"a": {"base64": "x"}}`:             "a.base64",
		`{"a": {"base64": "_w=="}}`:          "a.base64",
		`{"a": {"base64": "/w", "mode": 1}}`: "a.mode",
	} {
		var files Files
		err := strict.JSON([]byte(body), &files)
		if fault.KindOf(err) != fault.Invalid || fault.From(err).Problems[0].Path != path {
			t.Errorf("%s: %v, want a mistake at %s", body, err, path)
		}
	}
}

func FuzzFiles(f *testing.F) {
	for _, seed := range []string{`{"Dockerfile": "FROM a\n"}`, `{"a": {"base64": "/wAB"}}`, `{"a": {"base64": null}}`, `{"a": 1}`, `{"../a": "\u0000"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var files Files
		if err := strict.JSON(body, &files); err != nil {
			if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.Malformed {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		encoded, err := json.Marshal(files)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		var again Files
		if err := strict.JSON(encoded, &again); err != nil || len(again) != len(files) {
			t.Fatalf("%q became %s: %v", body, encoded, err)
		}
		for name := range files {
			if string(again[name]) != string(files[name]) {
				t.Errorf("%q: %q became %q", body, files[name], again[name])
			}
		}
		if mistakes(func(l *fault.List) { files.Check("files", l) }) == nil {
			for name := range files {
				if strings.ContainsAny(name, "/\\ ") || name == "." || strings.HasPrefix(name, "..") {
					t.Errorf("the name %q is taken", name)
				}
			}
		}
	})
}

func TestFilesRefused(t *testing.T) {
	many := Files{Dockerfile: nil}
	for i := range limits.BuildFiles {
		many[fmt.Sprint("f", i)] = nil
	}
	for name, tc := range map[string]struct {
		files Files
		want  []string
	}{
		"good":          {Files{Dockerfile: nil, "a-b_c.d": nil, ".dockerignore": nil}, nil},
		"no Dockerfile": {Files{"dockerfile": nil}, []string{"files.Dockerfile"}},
		"a folder":      {Files{Dockerfile: nil, "src/main.py": nil}, []string{`files["src/main.py"]`}},
		"upwards":       {Files{Dockerfile: nil, "..": nil, "../x": nil}, []string{`files[".."]`, `files["../x"]`}},
		"hidden twice":  {Files{Dockerfile: nil, "..data": nil}, []string{`files["..data"]`}},
		"no name":       {Files{Dockerfile: nil, "": nil}, []string{`files[""]`}},
		"spaces":        {Files{Dockerfile: nil, "a b": nil}, []string{`files["a b"]`}},
		"a long name":   {Files{Dockerfile: nil, strings.Repeat("a", 254): nil}, []string{"files." + strings.Repeat("a", 200) + "…"}},
		"too large":     {Files{Dockerfile: make(File, limits.BuildFileBytes)}, []string{"files"}},
		"too many":      {many, []string{"files"}},
	} {
		got := mistakes(func(l *fault.List) { tc.files.Check("files", l) })
		slices.Sort(got)
		if name == "a long name" {
			if len(got) != 1 {
				t.Errorf("%s: %v", name, got)
			}
			continue
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: mistakes at %v, want %v", name, got, tc.want)
		}
	}
}

func TestArgs(t *testing.T) {
	good := Args{"VERSION": "1", "_x9": "a b $(c) {{d}} ,\n\"", "EMPTY": ""}
	if got := mistakes(func(l *fault.List) { good.Check("buildArgs", l) }); got != nil {
		t.Errorf("refused: %v", got)
	}
	for name, path := range map[string]string{
		"":                        `buildArgs[""]`,
		"9x":                      "buildArgs.9x",
		"a b":                     `buildArgs["a b"]`,
		"a=b":                     `buildArgs["a=b"]`,
		"a-b":                     "buildArgs.a-b",
		"BUILDKIT_SYNTAX":         "buildArgs.BUILDKIT_SYNTAX",
		"buildkit_inline_cache":   "buildArgs.buildkit_inline_cache",
		"BUILDKIT_MULTI_PLATFORM": "buildArgs.BUILDKIT_MULTI_PLATFORM",
	} {
		if got := mistakes(func(l *fault.List) { Args{name: "v"}.Check("buildArgs", l) }); !slices.Equal(got, []string{path}) {
			t.Errorf("%q: mistakes at %v", name, got)
		}
	}
	if got := mistakes(func(l *fault.List) { Args{"A": "x\x00y"}.Check("buildArgs", l) }); !slices.Equal(got, []string{"buildArgs.A"}) {
		t.Errorf("NUL: mistakes at %v", got)
	}
	if got := mistakes(func(l *fault.List) { Args{"A": strings.Repeat("x", limits.ContainerArgs)}.Check("buildArgs", l) }); !slices.Equal(got, []string{"buildArgs"}) {
		t.Errorf("too large: mistakes at %v", got)
	}
	var list fault.List
	Args{"9": "hunter2"}.Check("buildArgs", &list)
	if err := list.Err(fault.Invalid, ""); strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error says the value: %v", err)
	}
}

func TestBlackenTakesValuesOut(t *testing.T) {
	args := Args{"TOKEN": "hunter2", "LONGER": "hunter2-and-more", "N": "7", "KEY": "first line\nsecond line\n"}
	got := args.Blacken("#7 0.1 hunter2-and-more hunter2 7\n#7 0.2 first line\n#7 0.3 second line\n")
	if want := "#7 0.1 *** *** 7\n#7 0.2 ***\n#7 0.3 ***\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBuildNeedsOneContext(t *testing.T) {
	git := &Git{URL: "https://git.lab/x.git", SHA: sha}
	files := Files{Dockerfile: File("FROM scratch")}
	for name, tc := range map[string]struct {
		build Build
		want  []string
	}{
		"git":        {Build{Git: git}, nil},
		"files":      {Build{Files: files}, nil},
		"none":       {Build{}, []string{""}},
		"both":       {Build{Git: git, Files: files}, []string{"files"}},
		"no files":   {Build{Files: Files{}}, []string{"files.Dockerfile"}},
		"a digest":   {Build{Git: git, Ref: parse(t, "reg.lab:5000/x@sha256:"+strings.Repeat("0", 64))}, []string{"ref"}},
		"everything": {Build{Git: &Git{}, Args: Args{"9": ""}}, []string{"buildArgs.9", "git.sha", "git.url"}},
	} {
		if got := mistakes(func(l *fault.List) { tc.build.Check(hosts, l) }); !slices.Equal(got, tc.want) {
			t.Errorf("%s: mistakes at %q, want %q", name, got, tc.want)
		}
	}
}

func TestEqualBuildsHaveOneName(t *testing.T) {
	base := func() Build {
		return Build{Ref: parse(t, "reg.lab:5000/acme/pump:v2"), Files: Files{Dockerfile: File("FROM a"), "x": {0xff}}}
	}
	same := base()
	same.Args = Args{}
	if base().Name() != same.Name() {
		t.Error("no arguments and an empty object of them are two builds")
	}
	names := map[string]string{base().Name(): "base"}
	for what, change := range map[string]func(*Build){
		"another tag":      func(b *Build) { b.Ref = parse(t, "reg.lab:5000/acme/pump:v3") },
		"another file":     func(b *Build) { b.Files["x"] = File("y") },
		"one file more":    func(b *Build) { b.Files["y"] = nil },
		"an argument":      func(b *Build) { b.Args = Args{"A": "1"} },
		"another argument": func(b *Build) { b.Args = Args{"A": "2"} },
		"git":              func(b *Build) { b.Files, b.Git = nil, &Git{URL: "https://git.lab/x.git", SHA: sha} },
		"another folder":   func(b *Build) { b.Files, b.Git = nil, &Git{URL: "https://git.lab/x.git", SHA: sha, Path: "a"} },
	} {
		b := base()
		change(&b)
		if other, taken := names[b.Name()]; taken {
			t.Errorf("%s and %s are one build", what, other)
		}
		names[b.Name()] = what
	}
}
