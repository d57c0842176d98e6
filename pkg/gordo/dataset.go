package gordo

import (
	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// The classes of datasets that there are.
const (
	timeSeries    = "gordo_core.time_series.TimeSeriesDataset"
	randomDataset = "gordo_core.time_series.RandomDataset"
)

// renamed are the old names of a dataset's keys; an old name wins.
var renamed = map[string]string{"from_ts": "train_start_date", "to_ts": "train_end_date", "tags": "tag_list"}

// datasetDefaults are the arguments of a dataset that may be left out.
var datasetDefaults = py.MapOf(
	"target_tag_list", nil, "additional_tags", nil, "default_tag", nil, "data_provider", nil,
	"resolution", "10T", "row_filter", "", "known_filter_periods", nil, "aggregation_methods", "mean",
	"row_filter_buffer_size", int64(0), "asset", nil, "n_samples_threshold", int64(0),
	"interpolation_method", "linear_interpolation", "interpolation_limit", "48H", "filter_periods", nil,
	"train_start_date", nil, "train_end_date", nil, "tag_list", nil, "type", nil,
)

var filterMethods = map[any]bool{"median": true, "quantile": true, "iforest": true, "all": true}

// dataset checks a machine's dataset and fills in its defaults. The start of
// the training is given back as an instant.
func (r *report) dataset(path string, m *py.Map, defaultProvider string) (*py.Map, py.Time) {
	class := r.datasetClass(path, m.At("type"))
	written := newNames(m)
	for _, e := range written.Entries() {
		if _, known := datasetDefaults.Get(e.Key); !known {
			r.warn(DatasetArgument, strict.Key(path, py.Text(e.Key)), "is no argument of a dataset; it is kept, and gordo may refuse it later: remove it")
		}
	}
	start := r.period(path, m, written)
	r.datasetTags(path, m, written)
	r.filterPeriods(path, written)
	built := r.datasetProvider(path, class, written, defaultProvider)
	result := py.NewMap(datasetDefaults.Len())
	for _, e := range datasetDefaults.Entries() {
		result.Set(e.Key, e.Value)
	}
	for _, e := range written.Entries() {
		result.Set(e.Key, e.Value)
	}
	for _, key := range []string{"train_start_date", "train_end_date"} {
		if t, ok := result.At(key).(py.Time); ok {
			result.Set(key, t.ISO())
		}
	}
	result.Set("data_provider", built)
	result.Set("type", class)
	return result, start
}

// newNames is a dataset under the names of today, without its type.
func newNames(m *py.Map) *py.Map {
	written := py.NewMap(m.Len())
	for _, e := range m.Entries() {
		if _, old := renamed[py.Text(e.Key)]; !old && e.Key != "type" {
			written.Set(e.Key, e.Value)
		}
	}
	for _, e := range m.Entries() {
		if name, old := renamed[py.Text(e.Key)]; old {
			written.Set(name, e.Value)
		}
	}
	return written
}

// spelled is the path of a key as the file spells it.
func spelled(path string, m *py.Map, key string) string {
	for old, name := range renamed {
		if _, there := m.Get(old); there && name == key {
			return path + "." + old
		}
	}
	return path + "." + key
}

func (r *report) datasetClass(path string, v any) string {
	if !py.Truthy(v) {
		return timeSeries
	}
	name, ok := v.(string)
	if !ok {
		r.fail(path+".type", "must be text, not %s", kindOf(v))
		return ""
	}
	module, class := located(name)
	full := module + "." + class
	if full != timeSeries && full != randomDataset {
		r.fail(path+".type", "%.100q is no dataset: use TimeSeriesDataset or RandomDataset", name)
	}
	return full
}

// period checks that the training ends after it starts.
func (r *report) period(path string, m, written *py.Map) py.Time {
	start, ok := r.instant(spelled(path, m, "train_start_date"), written, "train_start_date")
	at := spelled(path, m, "train_end_date")
	end, both := r.instant(at, written, "train_end_date")
	if ok && both && !end.After(start.Time) {
		r.fail(at, "%s must be after train_start_date, %s", end.Text(), start.Text())
	}
	return start
}

func (r *report) instant(path string, m *py.Map, key string) (py.Time, bool) {
	v, there := m.Get(key)
	switch x := v.(type) {
	case py.Time:
		if x.Aware {
			return x, true
		}
		r.fail(path, "%s has no zone: write %sZ, or the offset", x.ISO(), x.ISO())
	case string:
		t, err := py.ParseISO(x)
		switch {
		case err != nil:
			r.fail(path, "%.100q is no time by ISO 8601: %v", x, err)
		case !t.Aware:
			r.fail(path, "%.100q has no zone: write a time with Z or an offset", x)
		default:
			return t, true
		}
	default:
		if !there {
			r.fail(path, "is missing")
		} else {
			r.fail(path, "must be a time with a zone, not %s", kindOf(v))
		}
	}
	return py.Time{}, false
}

func (r *report) datasetTags(path string, file, m *py.Map) {
	set := &tagSet{fallback: r.defaultTag(path, m), fields: make(map[string]*py.Map, 8)}
	if list, there := m.Get("tag_list"); there {
		r.tags(set, spelled(path, file, "tag_list"), list, true)
	} else {
		r.fail(path+".tag_list", "is missing: name at least one tag")
	}
	r.tags(set, path+".target_tag_list", m.At("target_tag_list"), false)
	r.tags(set, path+".additional_tags", m.At("additional_tags"), false)
}

func (r *report) filterPeriods(path string, m *py.Map) {
	periods := m.At("filter_periods")
	if !py.Truthy(periods) {
		return
	}
	if resolution, there := m.Get("resolution"); there && !py.Truthy(resolution) {
		r.fail(path+".filter_periods", "needs a resolution")
	}
	f, ok := periods.(*py.Map)
	if !ok {
		r.fail(path+".filter_periods", "must be a mapping, not %s", kindOf(periods))
		return
	}
	method, there := f.Get("filter_method")
	if text, isText := method.(string); there && (!isText || !filterMethods[text]) {
		r.fail(path+".filter_periods.filter_method", "must be median, quantile, iforest or all, not %s", describe(method))
	}
}

// datasetProvider checks the provider that is written. A random dataset uses
// its own all the same.
func (r *report) datasetProvider(path, class string, m *py.Map, defaultType string) any {
	path += ".data_provider"
	v := m.At("data_provider")
	var built *py.Map
	switch {
	case v != nil:
		built = r.provider(path, v, defaultType)
	case class == randomDataset:
	case defaultType == "":
		r.fail(path, "is empty: write data_provider with its type, or give --default-data-provider")
		return nil
	default:
		built = r.provider(path, py.NewMap(0), defaultType)
	}
	if class == randomDataset {
		return ownProvider
	}
	return built
}

// ownProvider is what a random dataset draws from.
var ownProvider = providers[randomProvider].defaults.With("type", randomProvider)
