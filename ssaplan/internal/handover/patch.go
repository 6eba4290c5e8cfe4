package handover

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
)

// tryPatch has the server try the patch that changes the owners. The server may reject the object as it is, for example
// by a newer policy. The managedFields that it answers are those of today's schema: they have no parts of a list or map
// that has become atomic. Source: Updater.reconcileManagedFieldsWithSchemaChanges in
// sigs.k8s.io/structured-merge-diff/v6/merge. Declared are the fields that the server records for the manifest.
func (h *Handover) tryPatch(server Server, declared projection.FieldSet) error {
	if err := h.clearByToday(server, declared); err != nil {
		return err
	}
	patch, err := h.Patch()
	if err != nil {
		return err
	}
	answer, err := server.HandOver(patch)
	if err != nil {
		return err
	}
	after := h.after.DeepCopy()
	after.SetManagedFields(answer.GetManagedFields())
	owners, err := fieldowner.Read(after.Object)
	if err != nil {
		return err
	}
	before, err := fieldowner.Read(h.live.Object)
	if err != nil {
		return err
	}
	if err := h.partOfWhole(server, before, owners); err != nil {
		return err
	}
	if owners.Equal(before) {
		return applier.ErrKept
	}
	h.makes(after, owners)
	return nil
}

// partOfWhole returns an error if a field to clear is in an atomic list or map: no part of one can be removed. The
// server then records the list or map in place of the field that the applier takes over. For a list without a schema,
// it records both. Such a field is removed all the same if the whole is cleared, if the manifest declares the whole
// without the field, or if all parts are cleared and no other manager owns the whole. Before and after are the owners
// before and after the handover.
func (h *Handover) partOfWhole(server Server, before, after fieldowner.Ownership) error {
	if h.clears.Empty() {
		return nil
	}
	own, recorded := after.Fields(h.wanted.Applier.Is), before.Fields(nil)
	content := projection.NewObject(h.live.Object, own.Union(recorded))
	sent := projection.NewManifest(h.wanted.Manifest, own)
	others := after.Fields(func(o fieldowner.Owner) bool { return !h.wanted.Applier.Is(o) })
	rest := projection.NewObject(runtime.DeepCopyJSON(h.live.Object), recorded.Union(h.clears))
	for p := range h.clears.All() {
		rest.Remove(p)
	}
	goes := func(around projection.Path) bool {
		_, declared := sent.Get(around)
		return declared || h.clears.Has(around)
	}
	goesByParts := func(around projection.Path) bool {
		left, _ := rest.Get(around)
		return isHollow(left) && others.Under(around).Empty()
	}
	var parts []*PartError // in lists without a recorded item
	var lists []projection.Path
	for p := range h.claims.Leaves().All() {
		for n := len(p) - 1; n > 0; n-- {
			switch around := p[:n]; {
			case goes(around):
			case own.Has(around) && own.Under(p).Empty():
				if !goesByParts(around) {
					return &PartError{Part: p, Whole: around}
				}
			case p[n].Kind() != projection.FieldKind && recorded.Under(around).Len() < 2:
				parts, lists = append(parts, &PartError{Part: p, Whole: around}), append(lists, around)
			}
		}
	}
	wholes := h.trials.wholes(server, content, lists)
	for _, part := range parts {
		if wholes.Has(part.Whole) {
			return part
		}
	}
	return nil
}

// PartError is why a field can't be cleared: it is a part of a list or map that has one owner as a whole.
type PartError struct{ Part, Whole projection.Path }

func (e *PartError) Error() string {
	return fmt.Sprintf("%s can't be cleared, since it is a part of %s, which has one owner as a whole: clear that, or "+
		"declare it without this part", e.Part, e.Whole)
}
