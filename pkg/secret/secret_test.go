package secret

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runhook/runhook/pkg/limits"
)

func TestLoad(t *testing.T) {
	file := func(text string) Ref {
		name := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Ref{File: name}
	}
	env := map[string]string{"SET": "blue", "EMPTY": "", "BLANK": " \n"}
	for name, tc := range map[string]struct {
		ref  Ref
		want string // empty: refused
	}{
		"too large":             {file(strings.Repeat("x", limits.Secret+1)), ""},
		"endless":               {Ref{File: "/dev/zero"}, ""},
		"file":                  {file("blue"), "blue"},
		"one newline is cut":    {file("blue\n"), "blue"},
		"only one newline":      {file("blue\n\n"), "blue\n"},
		"a Windows line end":    {file("blue\r\n"), "blue"},
		"inner blanks stay":     {file(" blue "), " blue "},
		"empty file":            {file(""), ""},
		"nothing but a newline": {file("\n"), ""},
		"missing file":          {Ref{File: filepath.Join(t.TempDir(), "none")}, ""},
		"environment":           {Ref{Env: "SET"}, "blue"},
		"empty variable":        {Ref{Env: "EMPTY"}, ""},
		"unset variable":        {Ref{Env: "UNSET"}, ""},
		"a variable of blanks":  {Ref{Env: "BLANK"}, ""},
		"neither":               {Ref{}, ""},
		"both":                  {Ref{File: "a", Env: "SET"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.ref.Load(func(k string) string { return env[k] })
			if (err != nil) != (tc.want == "") || string(got.Bytes()) != tc.want {
				t.Errorf("got %q, %v; want %q", got.Bytes(), err, tc.want)
			}
		})
	}
}

// Who forgot to export a variable is told so.
func TestAVariableThatIsNotSet(t *testing.T) {
	_, err := Ref{Env: "LAMP"}.Load(func(string) string { return "" })
	if want := "the secret's variable LAMP is not set, or empty"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = Ref{Env: "LAMP"}.Load(func(string) string { return "\n" })
	if want := "the secret in LAMP is empty"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestEqual(t *testing.T) {
	if v := Of("blue"); !v.Equal("blue") || v.Equal("blu") || v.Equal("") || v.Equal("blue ") {
		t.Error("Equal is wrong")
	}
	if (Value{}).Equal("") {
		t.Error("an empty secret must equal nothing, not even an empty header")
	}
}

func TestNeverShown(t *testing.T) {
	v := Of("hunter2")
	encoded, _ := json.Marshal(map[string]any{"v": v})
	for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v %#v %s %q", v, v, v, v), string(encoded)} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("shown in %s", text)
		}
	}
}
