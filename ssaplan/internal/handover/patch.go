package handover

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
)

// tryPatch has the server try the change of hands. It may have something against the object as it is, such as a policy
// that came later. Its record is by the definition of now: of a list or map that has become one whole it has no parts
// any more. Source: Updater.reconcileManagedFieldsWithSchemaChanges in sigs.k8s.io/structured-merge-diff/v6/merge.
// Declared is what the server records of the manifest.
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

// partOfWhole returns an error if the server records, in place of a field that the applier takes over to clear it, the
// list or map around it: that has one owner as a whole, and a part of it can't be removed. Of a list that no schema
// has, it records the part as well. The part goes anyway if the whole is cleared, if the manifest declares the whole
// without it, or if all parts are cleared of a whole that no other owns. Before and after are the owners of before and
// after the change of hands.
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
	var parts []*PartError // of lists of which no item is recorded
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
