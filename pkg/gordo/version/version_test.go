package version

import (
	"encoding/hex"
	"testing"

	"github.com/runhook/runhook/pkg/gordo/internal/table"
)

const testdata = "../testdata"

func TestGordoVersions(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "parse_version") {
		input := row.At("input").(string)
		got, err := ParseImage(input)
		if _, bad := row.Get("error"); bad {
			if err == nil {
				t.Errorf("%q was read as %+v", input, got)
			}
			continue
		}
		want := row.MapAt("result")
		if err != nil || got.Tag != want.At("get_version") || string(got.PullPolicy) != want.At("pull_policy") {
			t.Errorf("%q: got %+v, %v, want %s", input, got, err, table.JSON(t, want))
		}
	}
}

func TestArgoVersions(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "parse_argo_version") {
		input := row.At("input").(string)
		got, err := ParsePEP440(input)
		if _, bad := row.Get("error"); bad {
			if err == nil {
				t.Errorf("%q was read as %s", input, got)
			}
			continue
		}
		want := row.MapAt("result")
		if err != nil || got.String() != want.At("str") {
			t.Errorf("%q: got %s, %v, want %s", input, got, err, table.JSON(t, want))
			continue
		}
		for i, name := range []string{"major", "minor", "micro"} {
			if n, err := got.Number(i); err != nil || int64(n) != want.At(name) {
				t.Errorf("%q: %s is %d, %v, want %v", input, name, n, err, want.At(name))
			}
		}
	}
}

// TestArgoOutput leaves the rows of a program that does not run to the test of
// what runs it.
func TestArgoOutput(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "argo_version") {
		output, ok := row.At("stdout").(string)
		if h, isHex := row.At("stdout_hex").(string); isHex {
			b, err := hex.DecodeString(h)
			if err != nil {
				t.Fatal(err)
			}
			output, ok = string(b), true
		}
		if !ok {
			continue
		}
		version, err := ArgoOutput([]byte(output))
		determined := row.MapAt("determined")
		if _, bad := determined.Get("error"); bad {
			if err == nil {
				t.Errorf("%q gave %s", output, version)
			}
			continue
		}
		if err != nil || determined.At("result") != version {
			t.Errorf("%q gave %q, %v, want %v", output, version, err, determined.At("result"))
		}
		parsed := row.MapAt("parsed")
		major, err := ArgoMajor(version)
		if _, bad := parsed.Get("error"); bad != (err != nil) {
			t.Errorf("%q: %v", output, err)
		} else if !bad && int64(major) != parsed.MapAt("result").At("major") {
			t.Errorf("%q: major %d", output, major)
		}
	}
}

func TestAtLeastFollowsPEP440(t *testing.T) {
	for text, want := range map[string]bool{
		"0.0.0": false, "1.1.9": false, "1.2.0rc1": false, "1.2.0.dev1": false, "1.2.0a1.post1": false,
		"1.2.0": true, "1.2": true, "1.2.post1": true, "1.2.post1.dev1": true, "1.2+local": true, "6.0.4": true, "1!0": true,
	} {
		v, err := ParsePEP440(text)
		if err != nil || v.AtLeast(1, 2, 0) != want {
			t.Errorf("%s: %v, %v, want %v", text, v.AtLeast(1, 2, 0), err, want)
		}
	}
}
