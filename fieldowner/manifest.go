package fieldowner

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Manifest is a part of an object in the form in which it can be applied.
type Manifest struct {
	// Object is the manifest: the identity of the object and the selected fields. It shares no memory with the live
	// object.
	Object map[string]any
	// Declaration is what the manifest declares: the selected fields, with the paths that they have in the object. A
	// Secret's stringData in managedFields becomes data.
	Declaration
	// Missing are the selected fields that the object doesn't have: the server stores nothing for an empty value such
	// as false or {}, or a webhook removed them. If the selected manager applied such a field, it is null in the
	// manifest, which keeps it owned without a value. In three cases it is left out: if others own it too, because the
	// server would report a conflict; in a map such as labels, where null would be stored as an empty string; and in a
	// custom resource, where null is an ordinary value.
	Missing []projection.Path
}

// Format prints the kind and the number of fields whatever the verb, so that no verb shows a secret.
func (m Manifest) Format(f fmt.State, _ rune) {
	kind, _ := m.Object["kind"].(string)
	_, _ = fmt.Fprintf(f, "%d fields of a %s", m.Fields.Leaves().Len(), foreign.Text(kind))
}

// MarshalJSON returns the text of [Manifest.Format] as a JSON string. The manifest itself is in Object.
func (m Manifest) MarshalJSON() ([]byte, error) { return plainjson.Visible(fmt.Sprint(m)) }

// VersionError says that an owner's fields can't be imported from the live object, because the owner wrote them in
// another API version, in which they have other paths.
type VersionError struct {
	// Owner is the owner of the fields, with its API version.
	Owner Owner
	// Have is the apiVersion of the live object.
	Have string
	// Path is a field that the object doesn't have in the version Have.
	Path projection.Path
}

func (e *VersionError) Error() string {
	return fmt.Sprintf(
		"fieldowner: %s wrote %s in %s, but the object was read in %s, which lacks that field; read it in %[3]s",
		e.Owner, e.Path, e.Owner.APIVersion, e.Have)
}

// NewManifest returns the selected fields of live as a manifest. List items keep their key fields, and the order of the
// list. If sel selects the fields that a manager has applied, and this manager applies the manifest, nothing changes.
// There is one exception: no manifest can have a list item twice, so if the object has two items of one key, the
// manifest has the first, and applying it removes the other.
//
// From managedFields it isn't known whether a map of a custom resource was applied as empty and filled with defaults,
// or is atomic and was applied with its content. Such a map is selected with its content, so that nothing is lost. If
// it was empty, the manager then owns the defaults.
//
// Server-owned metadata and status are not selected, nor the annotation of client-side apply, except where the selected
// manager applied them itself. A list in which no element has an owner is selected as a whole, because only owned
// elements show the keys of a list.
//
// A Secret's stringData is selected from data: a server moves the values there, but still records stringData as owned.
//
// Fields that an owner wrote in another API version are an error of type [*VersionError] if live doesn't have them;
// leaving them out would mean that applying the manifest deletes them. An invalid [Selection] is an error. Otherwise
// the only errors are those of [Read].
func NewManifest(live map[string]any, sel Selection) (Manifest, error) {
	if err := sel.Validate(); err != nil {
		return Manifest{}, fmt.Errorf("fieldowner: selection: %w", err)
	}
	ownership, err := Read(live)
	if err != nil {
		return Manifest{}, err
	}
	selected, err := ownership.selected(live, sel)
	if err != nil {
		return Manifest{}, err
	}
	fields := withoutStringData(live, selected)
	declaration := Declaration{Fields: fields, Filled: ownership.filled(fields, live, nil)}
	part := declaration.Project(live)
	if err := ownership.checkVersions(live, sel, part.Missing); err != nil {
		return Manifest{}, err
	}
	if part.Object == nil {
		part.Object = map[string]any{}
	}
	obj := projection.NewObject(part.Object, fields)
	dropDefaultedKeys(obj, fields)
	setNull(obj, filledLists(declaration.Filled.Intersection(ownership.applied(sel)), live))
	if kinds.IsBuiltin(live) {
		setNull(obj, ownership.keptByNull(fmt.Sprint(live["kind"]), part.Missing, sel))
	}
	copyIdentity(part.Object, live)
	return Manifest{Object: part.Object, Declaration: declaration, Missing: part.Missing}, nil
}

// keptByNull returns those of the missing paths that the selected manager applied and that null keeps as they are. It
// doesn't if somebody else owns them, and not in maps: no server drops what is empty there, so somebody removed it, and
// null would bring it back as "" or 0.
func (o Ownership) keptByNull(kind string, missing []projection.Path, sel Selection) []projection.Path {
	applied := o.applied(sel)
	return slices.DeleteFunc(slices.Clone(missing), func(p projection.Path) bool {
		inMap := len(p) > 1 && kinds.IsMapField(kind, p[len(p)-2].Name())
		return !applied.Has(p) || inMap || len(o.others(p, sel.applier())) > 0
	})
}

// filledLists returns those of the fields that are lists, of which the manager applied no item and others have some.
// Null declares such a one; an empty list declares nothing.
func filledLists(filled projection.FieldSet, live map[string]any) (lists []projection.Path) {
	for p := range filled.All() {
		v, _ := projection.Get(live, p)
		if _, isList := v.([]any); isList {
			lists = append(lists, p)
		}
	}
	return lists
}

// copyIdentity copies what identifies an object.
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
		if !sel.selects(e.Owner) || e.APIVersion == foreign.Text(have) || e.APIVersion == "" {
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
	from, to, moves := kinds.MovedField(live)
	if !moves {
		return fields
	}
	sent := projection.Path{projection.Field(from)}
	var stored []projection.Path
	for p := range fields.Under(sent).All() {
		if len(p) > 1 {
			stored = append(stored, append(projection.Path{projection.Field(to)}, p[1:]...))
		}
	}
	return fields.Without(projection.NewFieldSet(sent)).Union(projection.NewFieldSet(stored...))
}

// setNull puts null at the paths that have a place in obj: those in a list item that it doesn't have, and those below
// what is no map, have none.
func setNull(obj *projection.Object, paths []projection.Path) {
	for _, p := range paths {
		if _, exists := obj.Get(innermostItem(p)); exists {
			_ = obj.Set(p, nil)
		}
	}
}

// innermostItem returns the path of the innermost list item that p leads to, and that of the object if there is none.
func innermostItem(p projection.Path) projection.Path {
	for len(p) > 0 && p[len(p)-1].Kind() == projection.FieldKind {
		p = p[:len(p)-1]
	}
	return p
}

// dropDefaultedKeys takes the key fields out of list items whose owner left them to the schema's default: it owns the
// item, and not this field of it. An item of which nothing else is owned keeps all: it is owned as a whole, or occurs
// several times.
func dropDefaultedKeys(obj *projection.Object, fields projection.FieldSet) {
	for p := range fields.All() {
		keys := p[len(p)-1].KeyFields()
		var defaulted []string
		for name := range keys {
			if !fields.Has(p.Child(projection.Field(name))) {
				defaulted = append(defaulted, name)
			}
		}
		if len(defaulted) == len(keys) && fields.Under(p).Len() == 1 {
			continue
		}
		v, _ := obj.Get(p)
		item, _ := v.(map[string]any)
		for _, name := range defaulted {
			delete(item, name)
		}
	}
}
