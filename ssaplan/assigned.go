package ssaplan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// assigned are the fields for which a server picks a free value when the manifest doesn't name one. A dry run picks a
// dummy. Source: the allocators in kubernetes/pkg/registry/core/service, 1.33 to 1.36.
var assigned = map[string]projection.Patterns{
	"v1/Service": mustParsePatterns("spec.ports[*].nodePort", "spec.healthCheckNodePort", "spec.clusterIP", "spec.clusterIPs"),
}

// generated are the fields that a server makes up for new objects of a kind, beside those that are assigned. Source: the
// strategies in kubernetes/pkg/registry and the admission plugin ServiceAccount, 1.33 to 1.36.
var generated = map[string]projection.Patterns{
	"batch/v1/Job": mustParsePatterns(
		`metadata.labels[~"*controller-uid"]`,
		`spec.selector.matchLabels[~"*controller-uid"]`,
		`spec.template.metadata.labels[~"*controller-uid"]`,
	),
	"v1/Pod": mustParsePatterns(
		`spec.volumes[name~"kube-api-access-*"]`,
		`spec.containers[*].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
		`spec.initContainers[*].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
	),
}

// generatedAlways are those of every object.
var generatedAlways = []projection.Path{
	{projection.Field("metadata"), projection.Field("creationTimestamp")},
	{projection.Field("metadata"), projection.Field("uid")},
}

// listsWith returns those of the fields that are lists of which nobody knows the keys, and that have something in them
// that the patterns match.
func listsWith(patterns projection.Patterns, obj map[string]any, fields projection.FieldSet) projection.FieldSet {
	var found []projection.Path
	for p, v := range projection.Project(obj, fields).Leaves() {
		if _, isList := v.([]any); isList {
			only := projection.Project(obj, projection.NewFieldSet(p))
			if _, removed := patterns.Remove(only.Object); len(removed) > 0 {
				found = append(found, p)
			}
		}
	}
	return projection.NewFieldSet(found...)
}

// A Service with this clusterIP has the same in clusterIPs.
const headless = "None"

var clusterIPs = projection.Path{projection.Field("spec"), projection.Field("clusterIPs")}

// generatedIn returns the fields that the server made up for obj, which a dry run was answered with, without those that
// are declared or left to it.
func generatedIn(obj map[string]any, declared projection.FieldSet, left []projection.Path) ([]projection.Path, error) {
	kind := fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"])
	patterns := slices.Concat(assigned[kind], generated[kind])
	if len(patterns) == 0 {
		return slices.Clone(generatedAlways), nil
	}
	all, err := projection.Outline(obj)
	if err != nil {
		return nil, err
	}
	rest, made := patterns.Split(all.Difference(declared))
	made = made.Union(listsWith(patterns, obj, rest)).Difference(projection.NewFieldSet(left...))
	if ip, _, _ := unstructured.NestedString(obj, "spec", "clusterIP"); ip == headless {
		made = made.Difference(projection.NewFieldSet(clusterIPs))
	}
	return slices.AppendSeq(slices.Clone(generatedAlways), made.All()), nil
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
		case c.Cause != CauseSideEffect && c.Cause != CauseDropped || c.Op == projection.OpRemove:
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
		out = append(out, Change{Difference: projection.Difference{Path: p, Op: projection.OpAdd}, Cause: CauseEdited, Assigned: true})
	}
	return out
}
