package fieldowner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// Manifest is a part of an object in the form in which it can be applied.
type Manifest struct {
	// Object is the manifest: the identity of the object and the selected fields. It shares no memory with the object
	// that it was made from.
	Object map[string]any
	// Fields are the selected fields; see [Select].
	Fields projection.FieldSet
	// Missing are those of them that the object doesn't have, so that the manifest can't either. A webhook may have
	// removed them.
	Missing []projection.Path
}

// VersionError says that an owner's fields can't be imported from the object at hand, because the owner wrote them in
// another API version, where they are in other places.
type VersionError struct {
	// Owner is who owns the fields, and in which version.
	Owner Owner
	// Have is the apiVersion of the object at hand.
	Have string
	// Path is a field that isn't there in the version at hand.
	Path projection.Path
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("fieldowner: %s wrote %s as %s, and the object at hand is %s without it; read it as %[3]s",
		e.Owner, e.Path, e.Owner.APIVersion, e.Have)
}

// NewManifest returns the selected fields of live as a manifest. List items keep the fields by which they are keyed, in
// the order of the list. Applying the manifest of what a manager applied, as that manager, changes nothing.
//
// A Secret's stringData, which servers fold into data and go on recording under the old name, is taken from data.
//
// Fields that an owner wrote in another API version are an error of type [*VersionError] if live doesn't have them;
// leaving them out would mean that applying the manifest deletes them. Otherwise the only errors are those of [Read].
func NewManifest(live map[string]any, sel Selection) (Manifest, error) {
	ownership, err := Read(live)
	if err != nil {
		return Manifest{}, err
	}
	fields := withoutStringData(live, ownership.selected(live, sel))
	part := projection.Project(live, fields)
	if err := ownership.checkVersions(live, sel, part.Missing); err != nil {
		return Manifest{}, err
	}
	obj := part.Object
	if obj == nil {
		obj = map[string]any{}
	}
	f := newFinder(obj)
	for _, p := range ownership.emptied(fields) {
		f.empty(p)
	}
	f.dropDefaultedKeys(fields)
	copyIdentity(obj, live)
	return Manifest{Object: obj, Fields: fields, Missing: part.Missing}, nil
}

func copyIdentity(obj, live map[string]any) {
	from, _ := live["metadata"].(map[string]any)
	to, _ := obj["metadata"].(map[string]any)
	if to == nil {
		to = map[string]any{}
		obj["metadata"] = to
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if v, ok := live[name].(string); ok {
			obj[name] = v
		}
	}
	for _, name := range []string{"name", "namespace"} {
		if v, ok := from[name].(string); ok {
			to[name] = v
		}
	}
}

// checkVersions returns an error if a selected owner's field is missing because it is written in another version.
func (o Ownership) checkVersions(live map[string]any, sel Selection, missing []projection.Path) error {
	have, _ := live["apiVersion"].(string)
	for _, e := range o.entries {
		if !sel.selects(e.Owner) || e.APIVersion == have {
			continue
		}
		for _, p := range missing {
			if !e.Fields.Under(p).Empty() {
				return &VersionError{e.Owner, have, p}
			}
		}
	}
	return nil
}

// withoutStringData names the fields of a Secret's stringData by where the server put them.
func withoutStringData(live map[string]any, fields projection.FieldSet) projection.FieldSet {
	if live["kind"] != "Secret" || live["apiVersion"] != "v1" {
		return fields
	}
	stringData := projection.Path{projection.Field("stringData")}
	var inData []projection.Path
	for p := range fields.Under(stringData).All() {
		if len(p) > 1 {
			inData = append(inData, append(projection.Path{projection.Field("data")}, p[1:]...))
		}
	}
	return fields.Without(projection.NewFieldSet(stringData)).Union(projection.NewFieldSet(inData...))
}

// empty takes everything out of the map or list at p, and all but the key fields out of a list item.
func (f *finder) empty(p projection.Path) {
	v, _ := f.at(p)
	switch v := v.(type) {
	case map[string]any:
		keys := keyNames(p[len(p)-1])
		maps.DeleteFunc(v, func(name string, _ any) bool { return !slices.Contains(keys, name) })
	case []any:
		parent, _ := f.at(p[:len(p)-1])
		if m, ok := parent.(map[string]any); ok {
			m[p[len(p)-1].Name()] = []any{}
		}
	}
}

// dropDefaultedKeys takes the key fields out of list items whose owner left them to the schema's default: it owns the
// item, and not this field of it.
func (f *finder) dropDefaultedKeys(fields projection.FieldSet) {
	for p := range fields.All() {
		if len(p) == 0 {
			continue
		}
		keys := keyNames(p[len(p)-1])
		sent := func(name string) bool { return fields.Has(p.Child(projection.Field(name))) }
		if !slices.ContainsFunc(keys, sent) {
			continue // no key field at all can't be told apart from the others
		}
		v, _ := f.at(p)
		item, _ := v.(map[string]any)
		maps.DeleteFunc(item, func(name string, _ any) bool { return slices.Contains(keys, name) && !sent(name) })
	}
}
