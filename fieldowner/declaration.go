package fieldowner

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// Declaration is what a field manager declared when it applied a manifest to an object. Plans, remembered states,
// refreshes and imports all use it, so that they agree.
type Declaration struct {
	// Fields are the fields that managedFields has for the applier, except those in Assigned. If the manifest has null
	// in a key field of a list item, the item is named by the key that the server gave it.
	Fields projection.FieldSet
	// Filled are the Fields that were declared as empty maps and have content in the object, such as defaults or the
	// fields of other managers. The map is declared, and its content isn't.
	Filled projection.FieldSet
	// Assigned are the fields that the manifest leaves empty for the server to pick a value: a cluster IP, a node port.
	Assigned []projection.Path
	// Ineffective are the fields of the manifest that the server doesn't keep or overrides. A value that the server
	// only writes differently, such as 1 for 1000m, isn't among them.
	Ineffective []projection.Ineffective
}

// Declared returns what the applier declared by applying manifest. o is the ownership of obj: the server's answer to
// the apply or to its dry run, or the object as it was read later.
//
// If manifest is nil, a map counts as declared as empty only if other managers own fields in it, or if servers are
// known to fill this map of a built-in kind. In other cases managedFields look the same for an empty map that the
// server filled and for an atomic map that was declared with its content. If there is a manifest, a map that has
// content in the manifest never counts as declared as empty.
func (o Ownership) Declared(manifest, obj map[string]any, applier Applier) Declaration {
	recorded := o.Fields(applier.Is)
	if manifest != nil { // a later write leaves the items to those who name them by their default
		recorded = recorded.WithDefaultKeys(obj, o.all)
	}
	d := Declaration{Fields: recorded, Filled: o.filled(recorded, obj, manifest)}
	if manifest == nil {
		return d
	}
	picked := AssignedFields(obj)
	var filled []projection.Path
	for _, i := range projection.FindIneffective(manifest, obj, recorded) {
		switch {
		case i.Reason == projection.ReasonFilled:
			filled = append(filled, i.Path)
		case i.Reason == projection.ReasonOverridden && sameMeaning(manifest, obj, recorded, i.Path):
		case i.Reason != projection.ReasonDefaulted:
			d.Ineffective = append(d.Ineffective, i)
		case picked.Match(i.Path):
			d.Assigned = append(d.Assigned, i.Path)
		}
	}
	d.Filled = d.Filled.Difference(withContent(d.Filled, manifest, recorded))
	if filled != nil {
		d.Filled = d.Filled.Union(projection.NewFieldSet(filled...))
	}
	if d.Assigned != nil {
		d.Fields = recorded.Difference(projection.NewFieldSet(d.Assigned...))
	}
	return d
}

// sameMeaning reports whether a manifest and the stored object have the same quantity, duration, time or bytes at p.
func sameMeaning(manifest, stored map[string]any, recorded projection.FieldSet, p projection.Path) bool {
	v, _ := projection.NewManifest(manifest, recorded).Get(p)
	w, _ := projection.NewObject(stored, recorded).Get(p)
	a, b := fmt.Sprint(v), fmt.Sprint(w)
	if x, err := resource.ParseQuantity(a); err == nil {
		y, err := resource.ParseQuantity(b)
		return err == nil && x.Cmp(y) == 0
	}
	if x, err := time.ParseDuration(a); err == nil {
		y, err := time.ParseDuration(b)
		return err == nil && x == y
	}
	if x, err := time.Parse(time.RFC3339Nano, a); err == nil {
		y, err := time.Parse(time.RFC3339Nano, b)
		return err == nil && x.Sub(y).Abs() < time.Second // servers drop fractions of a second where the type has none
	}
	x, err := base64.StdEncoding.DecodeString(a)
	y, errStored := base64.StdEncoding.DecodeString(b)
	return err == nil && errStored == nil && bytes.Equal(x, y)
}

// withContent returns those of the maps in which the manifest has something: none of these was declared as empty. A
// server that records one as a whole all the same has a map with one owner that this library doesn't know of.
func withContent(maps projection.FieldSet, manifest map[string]any, recorded projection.FieldSet) projection.FieldSet {
	if maps.Empty() {
		return maps
	}
	sent := projection.NewManifest(manifest, recorded)
	var found []projection.Path
	for p := range maps.All() {
		if v, _ := sent.Get(p); p[len(p)-1].Kind() == projection.FieldKind && !IsHollow(v) {
			found = append(found, p)
		}
	}
	return projection.NewFieldSet(found...)
}

// filled returns those of the fields that were declared as empty maps and have something in them: others own fields
// there, it is a map of which every entry can have an owner, or one that a server fills in a built-in kind. A manifest,
// if there is one, tells which fields to look at.
func (o Ownership) filled(fields projection.FieldSet, obj, manifest map[string]any) projection.FieldSet {
	filled := fields.Above(o.all).Intersection(o.all)
	empty := slices.Clone(granularMetadata)
	if kinds.IsBuiltin(obj) {
		empty = append(empty, filledMaps(fields, obj, manifest)...)
	}
	for _, p := range empty {
		if fields.Has(p) && fields.Under(p).Len() == 1 {
			filled = filled.Union(projection.NewFieldSet(p))
		}
	}
	return filled.Difference(atomicInVersion(obj))
}

// filledMaps returns those of the fields that are maps with something in them, which an object of a built-in kind has
// only if they were declared as empty: a map of which every entry can have an owner, and one of nothing but nulls. Only
// fields with the name of such a map are looked up: to look up all would be a tenth of what a plan takes.
func filledMaps(fields projection.FieldSet, obj, manifest map[string]any) (filled []projection.Path) {
	maps := map[string]bool{}
	if manifest != nil {
		addHollowMaps(maps, manifest)
	} else {
		addFilledMaps(maps, obj)
	}
	if len(maps) == 0 {
		return nil
	}
	object := projection.NewObject(obj, fields)
	for _, p := range fields.LeavesNamed(func(name string) bool { return maps[name] }) {
		value, _ := object.Get(p)
		name := p[len(p)-1].Name()
		m, _ := value.(map[string]any)
		if isFilled(m, name) && !isInAnyJSON(obj, p) && (holdsNulls(m) || kinds.IsGranularMap(name)) {
			filled = append(filled, p)
		}
	}
	return filled
}

// addFilledMaps adds the names of the fields of an object that may hold such maps.
func addFilledMaps(names map[string]bool, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if m, _ := value.(map[string]any); isFilled(m, name) {
				names[name] = true
			}
			if name != "managedFields" {
				addFilledMaps(names, value)
			}
		}
	case []any:
		for _, item := range v {
			addFilledMaps(names, item)
		}
	}
}

// addHollowMaps adds the names of the fields of a manifest that are maps with nothing in them that a server would
// record.
func addHollowMaps(names map[string]bool, v any) (isHollow bool) {
	switch v := v.(type) {
	case map[string]any:
		isHollow = true
		for name, value := range v {
			_, isMap := value.(map[string]any)
			switch empty := addHollowMaps(names, value); {
			case !empty:
				isHollow = false
			case isMap:
				names[name] = true
			}
		}
		return isHollow
	case []any:
		for _, item := range v {
			addHollowMaps(names, item)
		}
		return len(v) == 0
	}
	return v == nil
}

func isFilled(m map[string]any, name string) bool {
	return len(m) > 0 && (kinds.IsGranularMap(name) || holdsNulls(m))
}

// isInAnyJSON reports whether an object of a built-in kind has any JSON at p, or around it: that has one owner.
func isInAnyJSON(obj map[string]any, p projection.Path) bool {
	for i, e := range p {
		if kinds.HoldsAnyJSON(obj, e.Name(), i+1) {
			return true
		}
	}
	return false
}

// holdsNulls reports whether all fields of m are null: a server stores them for an empty map.
func holdsNulls(m map[string]any) bool {
	for _, value := range m {
		if value != nil {
			return false
		}
	}
	return true
}

// Project returns the values of obj at the declared fields. Maps that were declared as empty are empty in the result,
// whatever content they have in obj.
func (d Declaration) Project(obj map[string]any) projection.Projection {
	return d.project(obj, d.Fields)
}

// ProjectWith does what Project does, and includes more fields. A map that was declared as empty only has the values at
// those fields.
func (d Declaration) ProjectWith(obj map[string]any, more projection.FieldSet) projection.Projection {
	return d.project(obj, d.Fields.Union(more))
}

func (d Declaration) project(obj map[string]any, fields projection.FieldSet) projection.Projection {
	p := projection.Project(obj, fields)
	if d.Filled.Empty() {
		return p
	}
	return p.Replace(d.Filled.Intersection(fields.Leaves()), emptied)
}

// emptied returns a map or list at p without its content, but for the key fields of a list item.
func emptied(p projection.Path, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		if len(p) == 0 {
			return out
		}
		for name := range p[len(p)-1].KeyFields() {
			if key, exists := v[name]; exists {
				out[name] = key
			}
		}
		return out
	case []any:
		return []any{}
	}
	return v
}

// Content returns the given fields without the maps that were declared as empty. A leaf of a set means everything below
// it, and the manager didn't declare the content of these maps. If a path has nothing but such maps below it, it is
// left out, too: otherwise it would become a leaf.
func (d Declaration) Content(fields projection.FieldSet) projection.FieldSet {
	if d.Filled.Empty() {
		return fields
	}
	leaves := fields.Leaves()
	content := fields.Difference(d.Filled.Intersection(leaves))
	return content.Difference(content.Leaves().Difference(leaves))
}

// assigned are the fields for which a server picks a free value when the manifest doesn't name one, by kind.
var assigned = func() map[string]projection.Patterns {
	out := map[string]projection.Patterns{}
	kinds.EachValues(func(kind string, v kinds.Values) {
		patterns, err := projection.ParsePatterns(v.Assigned...)
		if err != nil {
			panic(err) // the texts are constants
		}
		out[kind] = patterns
	})
	return out
}()

// AssignedFields returns the fields of an object's kind for which a server picks a free value when the manifest doesn't
// name one: a cluster IP, a node port.
func AssignedFields(obj map[string]any) projection.Patterns {
	return assigned[fmt.Sprintf("%v/%v", obj["apiVersion"], obj["kind"])]
}
