package ssaplan

import (
	"fmt"

	"github.com/ssaplan/primitives/projection"
)

// assigned are the fields for which a server picks a free value when the manifest doesn't name one. A dry run picks a
// dummy. Source: the allocators in kubernetes/pkg/registry/core/service, 1.33 to 1.36.
var assigned = map[string]projection.Patterns{
	"v1/Service": mustParsePatterns("spec.ports[*].nodePort", "spec.healthCheckNodePort", "spec.clusterIP", "spec.clusterIPs"),
}

func mustParsePatterns(texts ...string) projection.Patterns {
	patterns, err := projection.ParsePatterns(texts...)
	if err != nil {
		panic(err) // the texts stand in this package
	}
	return patterns
}

// assignedTo returns the patterns of the fields for which the server picks values in obj.
func assignedTo(obj map[string]any) projection.Patterns {
	return assigned[fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"])]
}

// markAssigned takes the dummies out of the changes: a value that isn't declared and that the server picks is only known
// once it is applied.
func (plan *Plan) markAssigned() {
	patterns := assignedTo(plan.manifest.Object)
	for i := range plan.Changes {
		c := &plan.Changes[i]
		switch {
		case c.Cause != SideEffect && c.Cause != Dropped || c.Op == projection.Removed:
		case patterns.Match(c.Path):
			c.Assigned, c.After = true, nil
		default:
			c.After = known(c.After, c.Path, patterns)
		}
	}
}

// known returns v, which stands at the path at, without the fields in it for which the server picks values.
func known(v any, at projection.Path, picked projection.Patterns) any {
	m, isMap := v.(map[string]any)
	if !isMap || len(picked) == 0 {
		return v
	}
	out := make(map[string]any, len(m))
	for name, child := range m {
		path := append(at[:len(at):len(at)], projection.Field(name))
		if !picked.Match(path) {
			out[name] = known(child, path, picked)
		}
	}
	return out
}

// assignments returns the changes of a plan to create the object at the fields for which the server picks values.
func (plan *Plan) assignments() []Change {
	var out []Change
	for _, p := range plan.Assigned {
		out = append(out, Change{Change: projection.Change{Path: p, Op: projection.Added}, Cause: Edited, Assigned: true})
	}
	return out
}
