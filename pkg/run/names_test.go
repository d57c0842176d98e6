package run

import (
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestPushName(t *testing.T) {
	for _, tc := range []struct{ repo, sha, want string }{
		{"acme/pump-models", "1f3c9a2b77", `^acme-pump-models-1f3c9a2b-[0-9a-f]{10}$`},
		{"Acme/Pump.Models", "1F3C9A2B77", `^acme-pump-models-1f3c9a2b-[0-9a-f]{10}$`},
		{"group/sub/a-very-long-name-of-a-repository", "1f3c9a2b77", `^group-sub-a-very-long-name-of-a-1f3c9a2b-[0-9a-f]{10}$`},
		{"42/answers", "1f3c9a2b77", `^r-42-answers-1f3c9a2b-[0-9a-f]{10}$`},
		{"acme/pump", "", `^acme-pump-[0-9a-f]{10}$`},
		{"日本/語", "1f3c9a2b77", `^r-1f3c9a2b-[0-9a-f]{10}$`},
		{"", "", `^r-[0-9a-f]{10}$|^[a-f][0-9a-f]{9}$`},
	} {
		got := PushName(tc.repo, tc.sha, "key")
		if !regexp.MustCompile(tc.want).MatchString(got) {
			t.Errorf("%s at %s is %s, not as %s", tc.repo, tc.sha, got, tc.want)
		}
	}
	if PushName("acme/pump", "1f", "a") == PushName("acme/pump", "1f", "b") {
		t.Error("two keys have one name")
	}
	if first, second := PushName("acme/pump", "1f", "a"), PushName("acme/pump", "1f", "a"); first != second {
		t.Error("one key has two names")
	}
	if PushName("acme/a-b", "1f", "a") == PushName("acme/a.b", "1f", "a") {
		t.Error("two repositories of one slug have one name")
	}
}

func TestHelperName(t *testing.T) {
	if got := HelperName("pump", "fit", 3); got != "pump-extra-fit-3" {
		t.Errorf("got %s", got)
	}
	long := strings.Repeat("a", 62) + "b"
	seen := map[string]bool{}
	for n := range 12 {
		name := HelperName(long, "fit", n)
		if wrong := validation.IsDNS1035Label(name); len(wrong) > 0 || seen[name] {
			t.Errorf("helper %d is %s: %v, taken %v", n, name, wrong, seen[name])
		}
		seen[name] = true
	}
}

func TestKeysAndLabels(t *testing.T) {
	if ScopedKey("ci", "a") == ScopedKey("cd", "a") || ScopedKey("ci", "a") == ScopedKey("c", "ia") {
		t.Error("a key is not the caller's own")
	}
	if wrong := validation.IsDNS1035Label(NameOfKey(ScopedKey("ci", "a"))); len(wrong) > 0 {
		t.Error(wrong)
	}
	label := RefLabel("acme/train", "git.lab", "acme/pump", "refs/heads/"+strings.Repeat("é", 500))
	if wrong := validation.IsValidLabelValue(label); len(wrong) > 0 {
		t.Error(wrong)
	}
	if RefLabel("a", "b", "c", "d") == RefLabel("a", "b", "c", "e") || RefLabel("a", "bc", "", "d") == RefLabel("a", "b", "c", "d") {
		t.Error("two refs have one label")
	}
}

func TestKeyIsOfWhatIsAskedFor(t *testing.T) {
	key := func(text string) string {
		t.Helper()
		k, err := Key(parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key(`{id: a, deadline: 1h, params: {x: "1", z: "2"}, tasks: [{id: t, resources: {cpu: 4, memory: 1Gi}}]}`)
	for name, text := range map[string]string{
		"other order":    `{tasks: [{resources: {memory: 1Gi, cpu: 4}, id: t}], params: {z: "2", x: "1"}, deadline: 1h, id: a}`,
		"other spelling": `{id: a, deadline: 60m, params: {x: "1", z: "2"}, tasks: [{id: t, resources: {cpu: "4000m", memory: 1024Mi}, needs: []}]}`,
		"another number": `{"id": "a", "deadline": "3600s", "params": {"x": "1", "z": "2"}, "tasks": [{"id": "t", "resources": {"cpu": 4.0, "memory": 1073741824}}]}`,
	} {
		if key(text) != first {
			t.Errorf("%s: another key", name)
		}
	}
	for name, text := range map[string]string{
		"another param": `{id: a, deadline: 1h, params: {x: "1", z: "3"}, tasks: [{id: t, resources: {cpu: 4, memory: 1Gi}}]}`,
		"another size":  `{id: a, deadline: 1h, params: {x: "1", z: "2"}, tasks: [{id: t, resources: {cpu: 5, memory: 1Gi}}]}`,
		"no id":         `{deadline: 1h, params: {x: "1", z: "2"}, tasks: [{id: t, resources: {cpu: 4, memory: 1Gi}}]}`,
	} {
		if key(text) == first {
			t.Errorf("%s: the same key", name)
		}
	}
}

func FuzzPushName(f *testing.F) {
	f.Add("acme/pump", "1f3c9a2b", "key")
	f.Add("", "", "")
	f.Add("---", "-", "\x00")
	f.Add("日本", "\xff", "k")
	f.Fuzz(func(t *testing.T, repo, sha, key string) {
		name := PushName(repo, sha, key)
		if wrong := validation.IsDNS1035Label(name); len(wrong) > 0 {
			t.Errorf("%q %q %q is %q: %v", repo, sha, key, name, wrong)
		}
		if helper := HelperName(name, "fit", 3); len(validation.IsDNS1035Label(helper)) > 0 {
			t.Errorf("its helper is %q", helper)
		}
	})
}
