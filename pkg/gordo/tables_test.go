package gordo

import (
	"testing"

	"github.com/runhook/runhook/pkg/gordo/internal/table"
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

const testdata = "testdata"

// check compares one row with what came of it.
func check(t *testing.T, row *py.Map, input, got any, failed bool) {
	t.Helper()
	if _, bad := row.Get("error"); bad || failed {
		if bad != failed {
			t.Errorf("%s: failed %v, and gordo %v", table.JSON(t, input), failed, bad)
		}
		return
	}
	if want := row.At("result"); !table.Same(got, want) {
		t.Errorf("%s:\ngot  %s\nwant %s", table.JSON(t, input), table.JSON(t, got), table.JSON(t, want))
	}
}

func TestPatch(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "patch_dict") {
		original, patch := row.At("original"), row.At("patch")
		before := table.JSON(t, []any{original, patch})
		got, err := Patch(original, patch)
		check(t, row, []any{original, patch}, got, err != nil)
		if after := table.JSON(t, []any{original, patch}); after != before {
			t.Errorf("the patch changed its input: %s became %s", before, after)
		}
	}
}

func TestFixRuntime(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "fix_runtime") {
		r := &report{}
		got := r.fixRuntime("", row.At("input"))
		check(t, row, row.At("input"), got, r.failed(0))
	}
}

func TestFixResourceLimits(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "fix_resource_limits") {
		got, _, err := fixLimits(row.At("input"))
		check(t, row, row.At("input"), got, err != nil)
	}
}

func TestInfluxResources(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "influx_resources") {
		check(t, row, row.At("machines"), influxResources(int(row.At("machines").(int64))), false)
	}
}

// TestImageNames leaves out that gordo refuses a version that PEP 440 does not
// know: image names follow --gordo-version here, which may be a branch (G119).
func TestImageNames(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "default_globals_by_version") {
		v := row.At("version").(string)
		runtime := defaultGlobals(1, v).MapAt("runtime")
		want := row.MapAt("result")
		if _, bad := row.Get("error"); bad {
			want = defaultImages("gordo-base")
		}
		for _, e := range want.Entries() {
			if got := runtime.MapAt(e.Key.(string)).At("image"); got != e.Value {
				t.Errorf("%s: image of %s is %v, want %v", v, e.Key, got, e.Value)
			}
		}
	}
}

func defaultImages(name string) *py.Map {
	return py.MapOf("server", name, "prometheus_metrics_server", name, "builder", name, "client", name, "deployer", name)
}

func TestLoadGlobals(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "load_globals_config") {
		r := &report{}
		got := r.globals(py.MapOf("globals", row.At("input")))
		check(t, row, row.At("input"), got, r.failed(0))
	}
}

func TestLoadMachine(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "load_machine_config") {
		r := &report{}
		var got any
		if machines := r.machines(py.MapOf("machines", []any{row.At("input")})); len(machines) == 1 {
			got = machines[0]
		}
		check(t, row, row.At("input"), got, r.failed(0))
	}
}

func TestLocations(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "back_compatible_locations") {
		module, name := located(row.At("location").(string))
		got := []any{module, name}
		if module == "" {
			got[0] = nil
		}
		check(t, row, row.At("location"), got, false)
	}
}

// TestNames leaves out names with a newline at the end, which gordo takes and
// which break its YAML (G104).
func TestNames(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "valid_url_string") {
		r := &report{}
		input := row.At("input")
		if text, ok := input.(string); ok && len(text) > 1 && text[len(text)-1] == '\n' {
			row = py.MapOf("error", "G104")
		}
		var got any
		if name, ok := input.(string); ok {
			err := checkName(name)
			check(t, row, input, input, err != nil)
			continue
		}
		got = r.machineName("", input, "p")
		check(t, row, input, got, r.failed(0))
	}
}

// TestPaths leaves out a path to nothing, whose text is gordo's own slip.
func TestPaths(t *testing.T) {
	for _, row := range table.Rows(t, testdata, "join_json_paths") {
		path, _ := row.At("json_path").(string)
		if element := row.At("element").(string); element != "" {
			check(t, row, element, strict.Join(path, element), false)
		}
	}
}
