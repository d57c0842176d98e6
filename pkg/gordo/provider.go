package gordo

import (
	"strings"

	"github.com/runhook/runhook/pkg/gordo/py"
)

// provider is what a class of data providers takes.
type provider struct {
	required []string
	defaults *py.Map
	open     bool // takes further arguments
}

var providers = map[string]provider{
	randomProvider: {defaults: py.MapOf("min_size", int64(100), "max_size", int64(300))},
	providerPackage + ".providers.InfluxDataProvider": {
		required: []string{"measurement"},
		defaults: py.MapOf("value_name", "Value", "api_key", nil, "api_key_header", nil, "client", nil, "uri", nil),
		open:     true,
	},
	providerPackage + ".contrib.csv_provider.CSVDataProvider": {
		required: []string{"file_path", "timestamp_column"},
		defaults: py.MapOf("sep", ","),
	},
}

const randomProvider = providerPackage + ".providers.RandomDataProvider"

// provider checks a data provider and fills in its defaults.
func (r *report) provider(path string, v any, defaultType string) *py.Map {
	m, ok := v.(*py.Map)
	if !ok {
		r.fail(path, "must be a mapping with type, not %s", kindOf(v))
		return nil
	}
	kind := m.At("type")
	if !py.Truthy(kind) {
		if defaultType == "" {
			r.fail(path+".type", "is empty: name a data provider, here or by --default-data-provider")
			return nil
		}
		kind = defaultType
	}
	name, ok := kind.(string)
	if !ok {
		r.fail(path+".type", "must be text, not %s", kindOf(kind))
		return nil
	}
	class := providerClass(name)
	p, known := providers[class]
	if !known {
		return r.unknownProvider(path, class, m)
	}
	result := py.NewMap(m.Len() + 4)
	for _, e := range m.Entries() {
		if e.Key == "type" {
			continue
		}
		if _, there := p.defaults.Get(e.Key); !there && !p.takes(e.Key) {
			r.fail(path, "%s has no argument %.100q", name, py.Text(e.Key))
		}
		result.Set(e.Key, e.Value)
	}
	for _, argument := range p.required {
		if _, there := m.Get(argument); !there {
			r.fail(path+"."+argument, "is missing: %s needs it", name)
		}
	}
	for _, e := range p.defaults.Entries() {
		if _, there := m.Get(e.Key); !there {
			result.Set(e.Key, e.Value)
		}
	}
	result.Set("type", class)
	return result
}

func (p provider) takes(argument any) bool {
	for _, name := range p.required {
		if name == argument {
			return true
		}
	}
	return p.open
}

// providerClass is the full path of a provider: a short name is one of
// gordo's own.
func providerClass(name string) string {
	module, class := located(name)
	if module == "" {
		return providerPackage + "." + class
	}
	return module + "." + class
}

// unknownProvider keeps the arguments of a class that only the builder's image
// has. What is not called a provider, or left with gordo-dataset, is refused.
func (r *report) unknownProvider(path, class string, m *py.Map) *py.Map {
	if strings.HasPrefix(class, "gordo_dataset.") {
		r.fail(path+".type", "%s went away with gordo-dataset: use a provider of gordo_core or your own", class)
		return nil
	}
	if !strings.HasSuffix(class, "Provider") || strings.HasPrefix(class, "gordo_core.") {
		r.fail(path+".type", "%.100q is no data provider: use RandomDataProvider, InfluxDataProvider, or the full path of your own class, whose name ends in Provider", class)
		return nil
	}
	r.warn(ProviderUnknown, path+".type", "%.100s is not known here: its arguments are not checked, and its defaults not written out", class)
	return m.Without("type").With("type", class)
}
