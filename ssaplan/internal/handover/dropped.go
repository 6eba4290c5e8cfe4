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

// withoutDropped returns what is left of a copy of the object, with its record of after the handover and the apply,
// without what the applier owned and nobody does now; nil if there is nothing of that kind. A server removes what the
// last apply had, with the structures around it, and keeps what anybody owns something in, and what it records nothing
// of: lists of named items that are empty already, and maps of nothing but such. An item of a list goes although others
// own something in it, and the maps around the item stay for that. A map or list that stays, since it is declared as
// empty, and from which all goes, becomes null, but not a map in which something is declared that isn't stored, such as
// an empty list of a built-in kind. Answered are fields of which the object shows already what a server makes of
// dropping them. It finds items by their keys of today, so it keeps those that are recorded by other ones, but for a
// list that goes as such. Source: Updater.prune in sigs.k8s.io/structured-merge-diff/v6/merge.
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
		if gone.Has(around) { // the answer has it only since this was in it
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

// unrecorded returns those of the dropped lists and maps without anything in them but empty lists of which the server
// records nothing, so that it doesn't find them to drop. Of a list whose items are named in the record, that is known.
// What is removed with what is around it needs no answer. Source: toFieldSetWalker in
// sigs.k8s.io/structured-merge-diff/v6/typed, and Updater.addBackDanglingItems in package merge of that.
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

// declareEmpty puts back the lists that the manifest declares as empty and a server filled in, which may have been for
// what is dropped.
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
