package gordo

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/runhook/runhook/pkg/gordo/py"
	"github.com/runhook/runhook/pkg/strict"
)

// influxResources are the resources of the influx database for a number of
// machines: memory in MB, cpu in thousandths.
func influxResources(machines int) *py.Map {
	memory := 3000 + 220*machines
	return resources(min(memory, 28000), min(500+10*machines, 4000), min(memory, 48000), 10000+20*machines)
}

func resources(requestMemory, requestCPU, limitMemory, limitCPU int) *py.Map {
	return py.MapOf(
		"requests", py.MapOf("memory", int64(requestMemory), "cpu", int64(requestCPU)),
		"limits", py.MapOf("memory", int64(limitMemory), "cpu", int64(limitCPU)),
	)
}

// fixRuntime raises every limit below its request, in each direct child of a
// runtime that has resources.
func (r *report) fixRuntime(path string, runtime any) any {
	m, ok := runtime.(*py.Map)
	if !ok {
		r.fail(path, "must be a mapping, not %s", py.Kind(runtime))
		return runtime
	}
	result := m
	for _, e := range m.Entries() {
		part, ok := e.Value.(*py.Map)
		if !ok || !py.Truthy(part.At("resources")) {
			continue
		}
		at := strict.Join(path, strict.Key(strict.Key("", py.Text(e.Key)), "resources"))
		fixed, raised, err := fixLimits(part.At("resources"))
		if err != nil {
			r.fail(strict.Join(at, err.path), "%s", err.detail)
			continue
		}
		for _, unit := range raised {
			r.warn(LimitRaised, strict.Key(strict.Join(at, "limits"), unit), "is below the request and was raised to it: write limits of at least the requests")
		}
		if len(raised) > 0 {
			result = result.With(e.Key, part.With("resources", fixed))
		}
	}
	return result
}

// resourceFault is a mistake at a path below the resources.
type resourceFault struct{ path, detail string }

// fixLimits checks that requests and limits are whole numbers and raises each
// limit to its request; raised names the units of those that were.
func fixLimits(resources any) (fixed any, raised []string, err *resourceFault) {
	m, ok := resources.(*py.Map)
	if !ok {
		return nil, nil, &resourceFault{"", "must be a mapping with requests and limits, not " + py.Kind(resources)}
	}
	parts := map[string]*py.Map{}
	for _, name := range []string{"requests", "limits"} {
		v, there := m.Get(name)
		part, isMap := v.(*py.Map)
		if there && !isMap {
			return nil, nil, &resourceFault{name, "must be a mapping with memory and cpu, not " + py.Kind(v)}
		}
		parts[name] = part
	}
	requests, limits := parts["requests"], parts["limits"]
	for _, unit := range []string{"memory", "cpu"} {
		request, e1 := whole(requests.At(unit))
		limit, e2 := whole(limits.At(unit))
		switch {
		case e1 != nil:
			return nil, nil, &resourceFault{"requests." + unit, e1.Error()}
		case e2 != nil:
			return nil, nil, &resourceFault{"limits." + unit, e2.Error()}
		case request != nil && limit != nil && request.Cmp(limit) > 0:
			limits = limits.With(unit, requests.At(unit))
			raised = append(raised, unit)
		}
	}
	if len(raised) > 0 {
		return m.With("limits", limits), raised, nil
	}
	return m, nil, nil
}

// whole is a whole number, nil for null. True passes as 1, as it does in Python.
func whole(v any) (*big.Int, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case bool:
		if x {
			return big.NewInt(1), nil
		}
		return new(big.Int), nil
	case int64:
		return big.NewInt(x), nil
	case *big.Int:
		return x, nil
	case string:
		return nil, fmt.Errorf("must be a whole number (MB of memory, thousandths of a cpu), and %.100q is text", x)
	}
	return nil, errors.New("must be a whole number (MB of memory, thousandths of a cpu), not " + py.Kind(v))
}
