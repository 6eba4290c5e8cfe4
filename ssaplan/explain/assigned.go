package explain

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// assigned are the fields for which a server picks a free value when the manifest doesn't name one. A dry run picks a
// dummy. Source: the allocators in kubernetes/pkg/registry/core/service, 1.33 to 1.36.
var assigned = map[string]projection.Patterns{
	"v1/Service": mustParse("spec.ports[*].nodePort", "spec.healthCheckNodePort", "spec.clusterIP", "spec.clusterIPs"),
}

// generated are the fields that a server makes up for new objects of a kind, beside those that are assigned. Source: the
// strategies in kubernetes/pkg/registry and the admission plugin ServiceAccount, 1.33 to 1.36.
var generated = map[string]projection.Patterns{
	"batch/v1/Job": mustParse(
		`metadata.labels[~"*controller-uid"]`,
		`spec.selector.matchLabels[~"*controller-uid"]`,
		`spec.template.metadata.labels[~"*controller-uid"]`,
	),
	"v1/Pod": mustParse(
		`spec.volumes[name~"kube-api-access-*"]`,
		`spec.containers[*].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
		`spec.initContainers[*].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
	),
}

func mustParse(texts ...string) projection.Patterns {
	patterns, err := projection.ParsePatterns(texts...)
	if err != nil {
		panic(err) // the texts stand in this package
	}
	return patterns
}

func kindOf(obj map[string]any) string { return fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"]) }

// generatedAlways are those of every object.
var generatedAlways = []projection.Path{
	{projection.Field("metadata"), projection.Field("creationTimestamp")},
	{projection.Field("metadata"), projection.Field("uid")},
}

// A Service with this clusterIP has the same in clusterIPs.
const headless = "None"

var clusterIPs = projection.Path{projection.Field("spec"), projection.Field("clusterIPs")}

// generatedIn returns the fields that the server made up for obj, the answer to a dry run that creates it, without those
// that are declared or left to the server.
func generatedIn(obj map[string]any, declared projection.FieldSet, left []projection.Path) ([]projection.Path, error) {
	patterns := slices.Concat(assigned[kindOf(obj)], generated[kindOf(obj)])
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

// listsWith returns those of the fields that are lists whose keys aren't known, and in which the patterns match something.
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

// markAssigned takes the dummies out of the changes: a value that isn't declared and that the server picks is only known
// once the manifest is applied.
func (c *comparison) markAssigned(changes []Change) {
	patterns := assigned[kindOf(c.Manifest)]
	for i := range changes {
		change := &changes[i]
		switch {
		case change.Cause != CauseSideEffect && change.Cause != CauseDropped || change.Op == projection.OpRemove:
		case patterns.Match(change.Path):
			change.Assigned, change.After = true, nil
		default:
			change.After = withoutAssigned(change.After, change.Path, patterns)
		}
	}
}

// withoutAssigned returns v, the value at a path, without the fields in it for which the server picks values.
func withoutAssigned(v any, at projection.Path, patterns projection.Patterns) any {
	m, isMap := v.(map[string]any)
	if !isMap || len(patterns) == 0 {
		return v
	}
	out := make(map[string]any, len(m))
	for name, child := range m {
		path := at.Child(projection.Field(name))
		if !patterns.Match(path) {
			out[name] = withoutAssigned(child, path, patterns)
		}
	}
	return out
}
