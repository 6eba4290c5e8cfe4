package scale

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
)

// Places are the paths of the field with the number of replicas, for the objects of one kind. The keys are the
// apiVersions of the kind. The path is empty for a version without a scale. Nil Places are for the kinds of Kubernetes
// that have a scale: the path is spec.replicas in every version.
//
// A server applies the scale of a custom resource only if two conditions hold: the number doesn't change, and
// managedFields of the object has an owner of the number. Such an apply makes the applier an owner, too, and the next
// apply is a no-op. Plans with these places show this. Servers of 1.33 and 1.36 reject all other applies of the scale:
// see [Places.Refused].
type Places map[string][]string

// Defined returns the places of a kind that a definition defines. Source: customresource_handler.go of
// k8s.io/apiextensions-apiserver.
func Defined(definition *unstructured.Unstructured) Places {
	d, out := kinds.DefinitionOf(definition.Object), Places{}
	for _, version := range d.Versions {
		out[d.Group+"/"+version.Name] = version.Replicas
	}
	return out
}

// Refused returns why an apply of the scale of an object was refused, with what works instead. Source: custom resources
// have no converter for autoscaling/v1. A server needs a converter if the apply changes a field, or if the number has
// no owner.
func (p Places) Refused(apiVersion string, err error) error {
	if !slices.ContainsFunc(answer.Statuses(err), answer.CannotConvertScale) {
		return err
	}
	field := "spec.replicas"
	if at := p[apiVersion]; len(at) > 0 {
		field = strings.Join(at, ".")
	}
	return fmt.Errorf("a server can't apply the scale of a custom resource, unless its number stays and has an owner: "+
		"apply %s in the object itself: %w", field, err)
}

// replicas returns the number that an object has, 0 if it has none.
func (p Places) replicas(obj *unstructured.Unstructured) any {
	at, known := p[obj.GetAPIVersion()]
	if !known {
		return replicas(obj)
	}
	if number, _, _ := unstructured.NestedFieldNoCopy(obj.Object, at...); number != nil && len(at) > 0 {
		return number
	}
	return int64(0)
}

// moved returns the managedFields entries of an object as the Scale has them: the replicas are at spec.replicas. A
// server drops the entries of versions that the definition lacks.
func (p Places) moved(entries []map[string]any) (out []map[string]any) {
	if p == nil {
		return entries
	}
	for _, entry := range entries {
		if at, known := p[string(ownerOf(entry).APIVersion)]; known {
			out = append(out, moved(entry, at))
		}
	}
	return out
}

// moved returns a managedFields entry in which spec.replicas replaces the field at the given path. If the entry owns a
// field spec.replicas that isn't the number, this field gets the key f:spec.replicas, so that it doesn't count as the
// replicas.
func moved(entry map[string]any, at []string) map[string]any {
	if strings.Join(at, ".") == "spec.replicas" {
		return entry
	}
	fields, isMap := copied(entry["fieldsV1"]).(map[string]any)
	if !isMap {
		return entry
	}
	entry = maps.Clone(entry)
	entry["fieldsV1"] = fields
	owns := len(at) > 0 && cut(fields, at)
	if cut(fields, []string{"spec", "replicas"}) {
		fields["f:spec.replicas"] = map[string]any{}
	}
	if owns {
		spec, _ := fields["f:spec"].(map[string]any)
		if spec == nil {
			spec = map[string]any{}
		}
		spec["f:replicas"] = map[string]any{}
		fields["f:spec"] = spec
	}
	return entry
}

// cut removes a field from a set of fields, and the parents of the field that are empty then. It reports whether the
// set had the field.
func cut(fields map[string]any, at []string) bool {
	name := "f:" + at[0]
	below, isMap := fields[name].(map[string]any)
	switch {
	case !isMap:
		return false
	case len(at) == 1:
		delete(fields, name)
		return true
	}
	found := cut(below, at[1:])
	if found && len(below) == 0 {
		delete(fields, name)
	}
	return found
}

// copied returns a copy of a set of fields.
func copied(fields any) any {
	set, isMap := fields.(map[string]any)
	if !isMap {
		return fields
	}
	out := make(map[string]any, len(set))
	for name, below := range set {
		out[name] = copied(below)
	}
	return out
}
