package handover

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
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
		if value, _ := content.Get(around); !isEmpty(value) || !left.declared.Under(around).Difference(projection.NewFieldSet(around)).Empty() {
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

// lostNulls returns the nulls of a custom resource that the answer to an update lacks. A server leaves one out if its
// definition doesn't allow it, but in metadata, which is for no definition to say.
func (r *remains) lostNulls(answer map[string]any) (lost []projection.Path) {
	if kinds.IsBuiltin(answer) {
		return nil
	}
	there := projection.NewObject(answer, projection.NewFieldSet(r.nulls...))
	for _, p := range r.nulls {
		if _, exists := there.Get(p); !exists && !isInMetadata(there, p) {
			lost = append(lost, p)
		}
	}
	return lost
}

// tryNulls returns an error unless the server takes these nulls in a new object. It leaves them out of an update before
// it validates that, and of what an apply makes after that: where a definition has a field without a type, it accepts
// null and doesn't return it. Source: PruneNonNullableNullsWithoutDefaults in package schema/defaulting of
// k8s.io/apiextensions-apiserver/pkg/apiserver, which decoders call.
func (h *Handover) tryNulls(server Server, manifest map[string]any, nulls []projection.Path) error {
	out, _ := projection.Patterns{}.Remove(manifest) // a copy
	sent := projection.NewManifest(out, h.own)
	for _, p := range nulls {
		if err := sent.Set(p, nil); err != nil {
			return err
		}
	}
	_, err := server.Create(out)
	if err == nil || apierrors.IsInvalid(err) && len(refusedNulls(err)) == 0 {
		return nil
	}
	const text = "%s: would become null once its last field is removed, which the server rejects: leave it out of the manifest, or declare a field in it"
	return fmt.Errorf(text, nulls[0])
}

// isInMetadata reports whether p is in the metadata of the object, or of one that is embedded in it. A server leaves
// out what is null there. Source: package schema/objectmeta in k8s.io/apiextensions-apiserver/pkg/apiserver.
func isInMetadata(obj *projection.Object, p projection.Path) bool {
	for n := range len(p) - 1 {
		around, _ := mapAt(obj, p[:n])
		if p[n] == projection.Field("metadata") && around["apiVersion"] != nil && around["kind"] != nil {
			return true
		}
	}
	return false
}

// metadata stays, since the name is in it, which nobody owns.
var metadata = projection.NewFieldSet(projection.Path{projection.Field("metadata")})
