package gordo

import "github.com/runhook/runhook/pkg/gordo/py"

// reportLevel is a key of the builder that does not reach a machine's JSON.
const reportLevel = "exceptions_report_level"

// builder brings `runtime.builder` of globals to its schema.
func (r *report) builder(path string, v any) *py.Map {
	return r.object(path, v, []field{
		{"image", true, r.text},
		{"resources", false, func(p string, v any) any {
			return r.object(p, v, []field{{"requests", false, r.anyMap}, {"limits", false, r.anyMap}}, nil)
		}},
		{"metadata", false, func(p string, v any) any {
			return r.object(p, v, []field{{"labels", false, r.labelMap}}, nil)
		}},
		{"env", false, r.env},
		{"volumeMounts", false, func(p string, v any) any { return r.items(p, v, r.mount) }},
		{"remote_logging", true, r.remoteLogging},
		{reportLevel, false, r.text},
	}, nil)
}

func (r *report) remoteLogging(path string, v any) any {
	m := r.object(path, v, []field{{"enable", false, r.boolean}}, nil)
	if _, there := m.Get("enable"); !there && m != nil {
		m.Set("enable", false)
	}
	return m
}

func (r *report) labelMap(path string, v any) any {
	return r.object(path, v, nil, r.text)
}

func (r *report) mount(path string, v any) *py.Map {
	return r.object(path, v, []field{
		{"name", true, r.text}, {"mountPath", true, r.text}, {"readOnly", false, r.boolean},
	}, nil)
}

// env reads a list of environment variables.
func (r *report) env(path string, v any) any {
	return r.items(path, v, func(path string, v any) *py.Map {
		return r.object(path, v, []field{
			{"name", true, r.text},
			{"value", false, r.text},
			{"valueFrom", false, func(p string, v any) any { return r.valueFrom(p, v) }},
		}, nil)
	})
}

func (r *report) valueFrom(path string, v any) *py.Map {
	m := r.object(path, v, []field{
		{"configMapKeyRef", false, func(p string, v any) any { return r.configMapKey(p, v) }},
		{"secretKeyRef", false, func(p string, v any) any {
			return r.object(p, v, []field{{"key", true, r.text}, {"name", true, r.text}}, nil)
		}},
		{"fieldRef", false, func(p string, v any) any {
			return r.object(p, v, []field{{"fieldPath", true, r.text}, {"apiVersion", false, r.text}}, nil)
		}},
		{"resourceFieldRef", false, func(p string, v any) any {
			return r.object(p, v, []field{{"resource", true, r.text}, {"containerName", false, r.text}, {"divisor", false, r.text}}, nil)
		}},
	}, nil)
	if m != nil && m.Len() == 0 {
		r.fail(path, "names no source: use configMapKeyRef, secretKeyRef, fieldRef or resourceFieldRef")
	}
	return m
}

// configMapKey takes the name of the ConfigMap; gordo wants it under `value`.
func (r *report) configMapKey(path string, v any) *py.Map {
	m, ok := v.(*py.Map)
	if value := m.At("value"); ok && value != nil {
		r.warn(ConfigMapValue, path+".value", "is gordo's word for the ConfigMap's name: write name")
		if m = m.Without("value"); m.At("name") == nil {
			m = m.With("name", value)
		}
		v = m
	}
	return r.object(path, v, []field{{"key", true, r.text}, {"name", true, r.text}}, nil)
}

// volumes brings `runtime.volumes` of globals to its schema. Only a csi volume
// has one; every other kind is kept as it is written.
func (r *report) volumes(path string, v any) any {
	return r.items(path, v, func(path string, v any) *py.Map {
		return r.object(path, v, []field{{"name", true, r.text}, {"csi", false, func(p string, v any) any {
			csi := r.object(p, v, []field{
				{"driver", true, r.text}, {"readOnly", false, r.boolean}, {"fsType", false, r.text},
				{"volumeAttributes", false, r.labelMap}, {"nodePublishSecretRef", false, r.anyMap},
			}, nil)
			if _, there := csi.Get("readOnly"); !there && csi != nil {
				csi.Set("readOnly", false)
			}
			return csi
		}}}, r.anyValue)
	})
}
