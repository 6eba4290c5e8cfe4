package explain

import (
	"reflect"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Handling says what is sent for an ignored field.
type Handling string

// The handlings of an [IgnoredField].
const (
	// HandlingSent: the manifest's value, since the object, or the list item with the field, is new.
	HandlingSent Handling = "sent"
	// HandlingLive: the live value, since no other manager owns the field, and a server would delete or reset it if it
	// weren't sent. If others own fields in a map, the map is sent without these fields.
	HandlingLive Handling = "live"
	// HandlingOmitted: the field isn't sent, since others or no manager own it, or the object doesn't have it.
	HandlingOmitted Handling = "omitted"
)

// IgnoredField is an ignored field of the manifest or of the object. Only the object has the field if the manifest
// dropped it. An atomic list or map of the manifest may also lack an ignored part that the object has.
type IgnoredField struct {
	Path     projection.Path `json:"path"`
	Handling Handling        `json:"handling"`
	// Owners are the other owners of the field, of a field below it, or of the atomic list or map that contains it.
	Owners []fieldowner.Owner `json:"owners,omitempty"`
}

// IgnoredPaths returns the paths of the fields.
func IgnoredPaths(fields []IgnoredField) projection.FieldSet {
	paths := make([]projection.Path, len(fields))
	for i, f := range fields {
		paths[i] = f.Path
	}
	return projection.NewFieldSet(paths...)
}

// unsent returns the paths of the ignored fields for which the manifest's value isn't sent: all except those with
// HandlingSent.
func unsent(fields []IgnoredField) projection.FieldSet {
	return IgnoredPaths(slices.DeleteFunc(slices.Clone(fields),
		func(f IgnoredField) bool { return f.Handling == HandlingSent }))
}

// namedAs returns the ignored fields with the list keys of the field set.
func namedAs(ignored []IgnoredField, manifest map[string]any, fields projection.FieldSet) []IgnoredField {
	sent, out := projection.NewManifest(manifest, fields), slices.Clone(ignored)
	for i := range out {
		out[i].Path = sent.Resolve(out[i].Path)
	}
	return out
}

// RedactIgnored returns the fields redacted: fields in list items whose keys are sensitive values become one field, the
// list.
func RedactIgnored(fields []IgnoredField, sensitive projection.Patterns) []IgnoredField {
	return redactedOnce(fields, sensitive.RedactedPath, func(f *IgnoredField) *projection.Path { return &f.Path },
		always)
}

// Ignored are the ignored fields of a manifest; see [Prepare]. The zero Ignored has none.
type Ignored struct {
	selection
	givenUp projection.Patterns // those of the patterns that give fields up
	clear   projection.Patterns // the fields to delete all the same
	wholes  projection.FieldSet // atomic lists and maps that the live object's managedFields don't show; see Learn
}

// Outgoing is the manifest to send to an object, and a list that says how each ignored field is handled.
type Outgoing struct {
	// Manifest is what to send.
	Manifest map[string]any
	// Restored are the fields that are sent as null or empty, as in the manifest. Other such fields are dropped.
	Restored []projection.Path
	unowned  []unowned // the restored fields over values without an owner
	// Fields are the ignored fields, with the list keys of the live object's managedFields.
	Fields []IgnoredField
	// Warnings name the patterns that match neither the manifest nor the object.
	Warnings []foreign.Text
}

// unowned is a null that is sent over a value without an owner.
type unowned struct {
	path, at projection.Path // in the manifest, and in the object
	value    any
}

// adapt returns the manifest to send to the live object (nil if there is none), so that the ignored fields don't
// change; see [Prepared.For].
func (i Ignored) adapt(manifest, live, was map[string]any, applier fieldowner.Applier) (Outgoing, error) {
	out := Outgoing{Manifest: manifest}
	if i.Empty() {
		return out, nil
	}
	if was == nil {
		was = live
	}
	before, err := fieldowner.Read(was)
	if err != nil {
		return out, err
	}
	names, err := itemNames(was, before)
	if err != nil {
		return out, err
	}
	out.Manifest, _ = projection.Patterns{}.Remove(manifest) // a copy
	l, err := newIgnoring(out.Manifest, live, before, applier, i.wholes)
	if err != nil {
		return out, err
	}
	paths := i.named(names)
	found := i.inObject(live, l.all.Union(names))
	wholes := wholesOf(l.all, slices.Concat(paths, found), i.patterns)
	kept := append(slices.Clip(paths), l.dropped(found, paths, projection.NewFieldSet(i.clear.Find(live, l.all)...))...)
	if out.Fields, err = l.handleAll(kept, wholes); err != nil {
		return out, err
	}
	for _, pattern := range i.unmatched {
		if !slices.ContainsFunc(slices.Concat(paths, found), pattern.Match) {
			what := "ignored"
			if slices.ContainsFunc(i.givenUp,
				func(p projection.Pattern) bool { return p.String() == pattern.String() }) {
				what = "given up"
			}
			out.Warnings = append(out.Warnings,
				foreign.Textf("%s: matches no field to be %s; check the path", pattern, foreign.Text(what)))
		}
	}
	return out, nil
}

// itemNames returns the fields that name the list items of an object: those with an owner, and all others of the
// object, since an item that was given up has no owner.
func itemNames(obj map[string]any, owners fieldowner.Ownership) (projection.FieldSet, error) {
	all, err := projection.Outline(obj)
	return owners.Fields(nil).Union(all), err
}

// Learn returns the ignored fields after it has learned from the answer to a dry run which lists and maps are atomic.
// It only looks at lists and maps in which the answer changes ignored fields. The managedFields of the live object
// don't show that a list or map is atomic if nothing in it has an owner. outgoing is the manifest that was sent. ok is
// false if the answer shows nothing new. Otherwise another dry run is needed, since [Prepared.For] now returns another
// manifest.
func (i Ignored) Learn(outgoing Outgoing, live, answer map[string]any) (learned Ignored, ok bool) {
	if len(outgoing.Fields) == 0 {
		return i, false
	}
	before, err := fieldowner.Read(live)
	if err != nil {
		return i, false
	}
	after, err := fieldowner.Read(answer)
	if err != nil {
		return i, false
	}
	had, has := before.Fields(nil), after.Fields(nil)
	there, made := projection.NewObject(live, had), projection.NewObject(answer, had)
	var wholes []projection.Path
	for _, f := range outgoing.Fields {
		at := wholeAt(has, f.Path)
		was, exists := there.Get(f.Path)
		is, _ := made.Get(f.Path)
		if exists && !reflect.DeepEqual(was, is) && len(at) < len(f.Path) && had.Under(at).Empty() &&
			!i.wholes.Has(at) {
			wholes = append(wholes, at)
		}
	}
	i.wholes = i.wholes.Union(projection.NewFieldSet(wholes...))
	return i, len(wholes) > 0
}

// ignoring changes a manifest so that an apply of it leaves the ignored fields unchanged.
type ignoring struct {
	owners           fieldowner.Ownership
	applier          fieldowner.Applier
	live             map[string]any
	exists           bool
	there            *projection.Object // the live object
	sent             *projection.Object // what is going to be sent
	all, own, others projection.FieldSet
	omitted          []projection.Path
}

// newIgnoring returns an ignoring for the manifest, which its methods modify. The parameter before has the owners
// before a handover of fields. The parameter wholes has atomic lists and maps that managedFields don't show.
func newIgnoring(
	manifest, live map[string]any, before fieldowner.Ownership, applier fieldowner.Applier, wholes projection.FieldSet,
) (*ignoring, error) {
	owners, err := fieldowner.Read(live)
	if err != nil {
		return nil, err
	}
	l := &ignoring{owners: owners, applier: applier, live: live, all: owners.Fields(nil), exists: live != nil}
	l.all = l.all.Union(partsBefore(before, l.all)).Union(wholes)
	l.there, l.sent = projection.NewObject(live, l.all), projection.NewManifest(manifest, l.all)
	l.own = owners.Fields(applier.Is)
	l.others = owners.Fields(func(o fieldowner.Owner) bool { return !applier.Is(o) })
	return l, nil
}

// partsBefore returns the fields in maps that only look atomic now. Before a handover, each part of such a map had its
// own owner. A manager declared the map when it was empty, and managedFields record an empty map like an atomic one.
func partsBefore(before fieldowner.Ownership, now projection.FieldSet) (parts projection.FieldSet) {
	all := before.Fields(nil)
	maps := all.Difference(all.Leaves()).Intersection(now.Leaves())
	for _, entry := range before.Entries() {
		for p := range entry.Fields.Leaves().Intersection(maps).All() {
			parts = parts.Union(all.Under(p))
		}
	}
	return parts
}

// handleAll handles the ignored fields, and then the ignored parts of atomic lists and maps. A new object is created
// with all fields of the manifest.
func (l *ignoring) handleAll(paths []projection.Path, wholes []whole) (out []IgnoredField, err error) {
	isPart := func(p projection.Path) bool {
		return l.exists && slices.ContainsFunc(wholes, func(w whole) bool { return w.has(p) })
	}
	for _, p := range paths {
		if !isPart(p) {
			out = append(out, IgnoredField{Path: p, Handling: l.handle(p), Owners: l.ownersOf(p)})
		}
	}
	l.strip()
	for _, w := range wholes {
		if !l.exists {
			break
		}
		fields, err := l.handleParts(w)
		if err != nil {
			return out, err
		}
		out = append(out, fields...)
	}
	return out, nil
}

// dropped returns the found fields that the manifest lacks and that only the applier owns. Fields to clear, and fields
// of list items that the manifest drops, aren't among them. declared are the ignored fields that the manifest has.
func (l *ignoring) dropped(found, declared []projection.Path, cleared projection.FieldSet) (out []projection.Path) {
	sent := projection.NewFieldSet(declared...)
	for _, p := range found {
		_, isSent := l.sent.Get(p)
		inDropped := false
		for n := 1; n < len(p); n++ {
			_, isKept := l.sent.Get(p[:n])
			inDropped = inDropped || isItem(p[:n]) && !isKept
		}
		if isSent || inDropped || sent.Covers(p) || cleared.Covers(p) {
			continue
		}
		if _, held := l.soleValue(p); held {
			out = append(out, p)
		}
	}
	return out
}

// handle handles the ignored field at p. It keeps the manifest's value if the object or the list item is new, and sends
// the live value if only the applier owns it. Otherwise it notes the field in omitted.
func (l *ignoring) handle(p projection.Path) Handling {
	if !l.exists || l.isInNewItem(p) {
		return HandlingSent
	}
	value, held := l.soleValue(p)
	if held && l.sent.Set(p, value) == nil {
		return HandlingLive
	}
	l.omitted = append(l.omitted, p)
	return HandlingOmitted
}

// soleValue returns the part of the live value at p that only the applier owns, and whether there is one. If only the
// applier owns a map itself, the part contains this map. The map is empty there if the applier alone owns no field in
// it.
func (l *ignoring) soleValue(p projection.Path) (value any, exists bool) {
	own := projection.Project(l.live, l.sole(p)).Object
	if own == nil {
		own = map[string]any{}
	}
	held := projection.NewObject(own, l.all)
	for at := range l.own.Under(p).All() {
		if _, exists := held.Get(at); !exists && l.isOwnMap(at) {
			_ = held.Set(at, map[string]any{}) // can't fail: the object has a map there
		}
	}
	return held.Get(p)
}

// isOwnMap reports whether the live object has a map at p, or a null in its place, and only the applier owns the map
// itself. If the applier drops such a map, a server deletes it with the fields of others in it, unless the schema names
// the map. Source: Set.EnsureNamedFieldsAreMembers in sigs.k8s.io/structured-merge-diff/v6/fieldpath/set.go.
func (l *ignoring) isOwnMap(p projection.Path) bool {
	value, exists := l.there.Get(p)
	_, isMap := value.(map[string]any)
	return (isMap || exists && value == nil) && !isItem(p) && l.own.Has(p) && !l.others.Has(p)
}

// handleParts gives the ignored parts of an atomic list or map their live values in the manifest.
func (l *ignoring) handleParts(w whole) (out []IgnoredField, err error) {
	value, declared := l.sent.Get(w.at)
	if !declared {
		return nil, nil
	}
	there, _ := l.there.Get(w.at)
	held, err := w.parts.Hold(w.at, value, there)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(held.Value, there) && l.isUnsent(w, value) {
		held = projection.Held{Gone: append(held.Kept, held.Gone...)}
	}
	switch _, isMap := value.(map[string]any); {
	case held.Exists:
		err = l.sent.Set(w.at, held.Value)
	case there == nil && isMap && l.isOwnMap(w.at):
		err = l.sent.Set(w.at, map[string]any{})
	default:
		l.sent.Strip(w.at)
	}
	add := func(handling Handling, paths []projection.Path) {
		for _, p := range paths {
			out = append(out, IgnoredField{Path: p, Handling: handling, Owners: l.ownersOf(p)})
		}
	}
	add(HandlingLive, held.Kept)
	add(HandlingOmitted, held.Gone)
	add(HandlingSent, held.New)
	return out, err
}

// isUnsent reports whether a list or map has no owner, and the manifest has only ignored parts of it. If such a list or
// map were sent with the live values, the applier would own all parts, also those that it gave up before.
func (l *ignoring) isUnsent(w whole, value any) bool {
	rest, err := w.parts.Hold(w.at, value, nil)
	return err == nil && !rest.Exists && l.all.Under(w.at).Empty()
}

// strip removes the fields in omitted from the manifest. It begins with the last one, since the later items of a list
// move up when an item is removed. A map that becomes empty stays if only the applier owns the map itself.
func (l *ignoring) strip() {
	for _, p := range slices.Backward(l.omitted) {
		item, _ := l.sent.Get(p)
		if !l.sent.Strip(p) {
			continue
		}
		for l.isRepeated(p, item) { // the server would take the next one for the removed item
			l.sent.Strip(p)
		}
		for n := len(p) - 1; n > 0; n-- {
			if _, exists := l.sent.Get(p[:n]); exists {
				break
			}
			if l.isOwnMap(p[:n]) {
				_ = l.sent.Set(p[:n], map[string]any{}) // can't fail: there was a map
				break
			}
		}
	}
}

// isRepeated reports whether the manifest has another item at p that equals the removed one.
func (l *ignoring) isRepeated(p projection.Path, item any) bool {
	next, exists := l.sent.Get(p)
	return exists && isItem(p) && reflect.DeepEqual(next, item)
}

// isInNewItem reports whether p is in a list item that the live object lacks.
func (l *ignoring) isInNewItem(p projection.Path) bool {
	at := l.there.Resolve(p) // p may have the list keys from before a handover
	for n := 1; n < len(at); n++ {
		if _, exists := l.there.Get(at[:n]); isItem(at[:n]) && !exists {
			return true
		}
	}
	return false
}

// sole returns the fields at or below p that only the applier owns, and in which no other manager owns a field.
func (l *ignoring) sole(p projection.Path) projection.FieldSet {
	own := l.own.Under(p).Difference(l.others)
	return own.Difference(own.Above(l.others))
}

// ownersOf returns the other owners of p, of a field below p, or of the atomic list or map that contains p.
func (l *ignoring) ownersOf(p projection.Path) (out []fieldowner.Owner) {
	at := wholeAt(l.all, p)
	for _, owner := range slices.Concat(l.owners.Of(at), l.owners.Below(at)) {
		if !l.applier.Is(owner) && !slices.ContainsFunc(out, owner.Is) {
			out = append(out, owner)
		}
	}
	return out
}
