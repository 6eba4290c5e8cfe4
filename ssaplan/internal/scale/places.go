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

// Places are where the objects of a kind have their number of replicas, by apiVersion: the names of the fields, and
// none for a version without a scale. Places that are nil are those of the kinds that come with Kubernetes and have a
// scale: spec.replicas in every version.
//
// A server applies the scale of a custom resource only where the record of the object has an owner of the number, and
// the number stays: who applies it becomes an owner, too, and applying it again is a no-op. So that is what a plan
// shows with these places. Whatever else is applied there servers of 1.33 and 1.36 refuse: see [Places.Refused].
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
// have no converter for autoscaling/v1, which a server needs for an apply that changes something, or whose number had
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

// moved returns the entries of an object's record with the replicas where a Scale has them. A server drops the entries
// of versions that the definition lacks.
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

// moved returns an entry with the replicas at spec.replicas in the place of at. A field that is there already goes
// elsewhere.
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

// cut takes a field out of a set of fields, with what is around it and empty then, and reports whether it was there.
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
