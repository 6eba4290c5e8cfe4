package handover

import (
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// remains are what is left of an object.
type remains struct {
	object   map[string]any
	declared projection.FieldSet // what the applier owns of it
	nulls    []projection.Path   // the maps and lists from which all went
}

// withoutDropped returns a copy of the object without the dropped fields: fields that the applier owned, and that no
// manager owns now. It returns nil if there is no field to remove. The managedFields of the object are those after the
// handover and the apply. answered are fields that need no removal here: the object already shows how the server drops
// them.
//
// A server removes dropped fields and the structures around them. It keeps structures in which any manager owns a
// field. It also keeps fields for which it records nothing: empty lists with keys, and maps of only such lists. It
// removes a list item even if others own fields in it, but then it keeps the maps around the item. A map or list that
// is declared as empty stays. If all its content is removed, it becomes null, unless it is a map with a declared field
// that isn't stored, such as an empty list of a built-in kind. A server finds items by today's keys. So it keeps items
// that are recorded with other keys, except if their whole list is dropped. Source: Updater.prune in
// sigs.k8s.io/structured-merge-diff/v6/merge.
func (h *Handover) withoutDropped(server Server, obj map[string]any, answered projection.FieldSet) (*remains, error) {
	owners, err := fieldowner.Read(obj)
	if err != nil {
		return nil, err
	}
	kept := owners.Fields(nil)
	gone := withStructures(h.own).Difference(withStructures(kept.Union(h.others))).Difference(metadata)
	dropped := gone.Difference(answered)
	if dropped.Empty() {
		return nil, nil
	}
	left := &remains{declared: owners.Fields(h.wanted.Applier.Is)}
	left.object, _ = projection.Patterns{}.Remove(obj) // a copy
	known := h.own.Union(kept)
	known = known.Renamed(h.namesOfToday(server, left.declared, dropped), h.live.Object)
	content, found := projection.NewObject(left.object, known), false
	unrecorded := h.unrecorded(server, content, dropped, namedLists(known))
	for p := range dropped.All() {
		if isIn(p, unrecorded) || !content.Remove(p) {
			continue
		}
		found = true
		around := p[:len(p)-1]
		if value, _ := content.Get(around); !isEmpty(value) ||
			!left.declared.Under(around).Difference(projection.NewFieldSet(around)).Empty() {
			continue
		}
		if gone.Has(around) { // the object has it only because p was in it
			content.Remove(around)
		} else if content.Set(around, nil) == nil {
			left.nulls = append(left.nulls, around)
		}
	}
	if !found {
		return nil, nil
	}
	return left, nil
}

// unrecorded returns the dropped lists and maps that the server doesn't find, since it records nothing for them: empty
// lists, and maps of only empty lists. For an empty list whose items have names in managedFields, this is known. For
// others a trial shows it. A list or map isn't returned if it is removed with the structure around it. Source:
// toFieldSetWalker in sigs.k8s.io/structured-merge-diff/v6/typed, and Updater.addBackDanglingItems in package merge of
// that.
func (h *Handover) unrecorded(
	server Server, content *projection.Object, dropped projection.FieldSet, named map[string]bool,
) projection.FieldSet {
	var out, unclear []projection.Path
	for p := range dropped.All() {
		value, _ := content.Get(p)
		fields, _ := value.(map[string]any)
		switch isList := isEmptyList(value); {
		case isIn(p[:len(p)-1], dropped):
		case isList && named[patternOf(p)]:
			out = append(out, p)
		case isList || len(fields) > 0 && isHollow(value):
			unclear = append(unclear, p)
		}
	}
	if len(unclear) > 0 {
		trial := h.trials.tried(server, content, unclear)
		for _, p := range unclear {
			if trial != nil && trial.recorded.Under(p).Empty() {
				out = append(out, p)
			}
		}
	}
	return projection.NewFieldSet(out...)
}

// declareEmpty puts back the empty lists of the manifest that the server filled. It may have filled them because of the
// dropped fields.
func (r *remains) declareEmpty(manifest map[string]any) {
	sent, content := projection.NewManifest(manifest, r.declared), projection.NewObject(r.object, r.declared)
	for p := range r.declared.Leaves().All() {
		value, _ := sent.Get(p)
		if _, exists := content.Get(p); exists && isEmptyList(value) {
			_ = content.Set(p, value)
		}
	}
}

// metadata stays, since the name is in it, which nobody owns.
var metadata = projection.NewFieldSet(projection.Path{projection.Field("metadata")})

// remaining returns all of an object, with the record of after the handover and the apply.
func remaining(obj map[string]any, applier fieldowner.Applier) (*remains, error) {
	owners, err := fieldowner.Read(obj)
	if err != nil {
		return nil, err
	}
	left := &remains{declared: owners.Fields(applier.Is)}
	left.object, _ = projection.Patterns{}.Remove(obj) // a copy
	return left, nil
}
