// Package handover takes fields over from other managers, and gives fields up, before an apply. Before anything is
// written, it predicts the object that the apply makes after that.
package handover

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Handover has the fields of a live object that change owners.
type Handover struct {
	fieldowner.Handover
	wanted Wanted
	live   *unstructured.Unstructured
	after  *unstructured.Unstructured // the live object with its managedFields after the handover
	own    projection.FieldSet        // the applier's fields after the handover
	alone  projection.FieldSet        // the applier's fields before the handover, except those that change in it
	others projection.FieldSet        // the fields of the others after the handover
	given  projection.FieldSet        // the fields that the applier gives up
	hidden projection.FieldSet        // given-up fields of another version that the live object lacks
	clears projection.FieldSet        // the fields that it takes from all owners, so that they are removed
	// the same, with today's keys of list items: the server finds no item by older keys
	claims projection.FieldSet
	isIdle bool   // the apply alone does all of it
	trials trials // what was asked of the server about atomic lists and maps
}

// Find returns the fields of the live object that change owners, nil if there are none. The only errors are those of
// managedFields that can't be read, of an object without resourceVersion, of an applier of a subresource, and of a
// handover that leaves no owner of any field.
func Find(live *unstructured.Unstructured, wanted Wanted) (*Handover, error) {
	switch s := wanted.Applier.Subresource; {
	case s != "" && len(wanted.Lost) > 0:
		return nil,
			fmt.Errorf(
				"managedFields are moved out of lost versions with an apply of the object itself, and not of its %s: "+
					"apply the object first", s)
	case s != "":
		return nil, fmt.Errorf("fields can only be adopted or given up in the object itself, not in its %s", s)
	}
	h := &Handover{wanted: wanted, live: live, trials: trials{live: live, applier: wanted.Applier}}
	before, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, err
	}
	isApplied := !before.Fields(wanted.Applier.Is).Empty()
	giveUp := wanted.GiveUp.Named(wanted.Manifest, before.Fields(nil))
	cleared := wanted.cleared(live.Object, before)
	h.clears = allNames(cleared, live.Object, before.Fields(nil), wanted.today)
	h.claims = cleared.Renamed(wanted.today, live.Object)
	forced, err := wanted.forced()
	if err != nil {
		return nil, err
	}
	own := fieldowner.Entry{Fields: h.claims, Owner: wanted.owner(live)}
	for _, e := range before.Entries() {
		own.Fields = own.Fields.Union(forced(e))
	}
	var taken projection.FieldSet
	h.Handover, err = fieldowner.HandOver(live.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if wanted.takes(e.Owner) {
			taken = taken.Union(e.Fields)
			e.Manager, e.Operation = foreign.Text(wanted.Applier.Manager), fieldowner.OperationApply
			if isApplied {
				e.Time = time.Time{} // it wasn't the applier who wrote then
			}
		}
		e = wanted.moved(e, live)
		if wanted.Applier.Is(e.Owner) {
			_, given := giveUp.Split(e.Fields)
			e.Fields, h.given = without(e.Fields, given), h.given.Union(given)
			if string(e.APIVersion) != live.GetAPIVersion() {
				h.hidden = h.hidden.Union(missing(live.Object, given.Leaves()))
			}
		}
		e.Fields = e.Fields.Without(h.clears).Difference(forced(e))
		return e
	}, own)
	if err != nil || h.Empty() {
		return nil, err
	}
	after := &unstructured.Unstructured{Object: h.Object()}
	owners, err := fieldowner.Read(after.Object)
	if err == nil && !owners.Recorded() {
		return nil,
			errors.New(
				"no manager would own a field after giving these up, and the server would then record all fields " +
					"under before-first-apply: apply the fields to keep first, and give up the other fields after that")
	}
	h.makes(after, owners)
	// The server drops fields in the version of the applier's entry, and a required field of this version becomes zero.
	// So the answer doesn't show the result if the handover changes the version of the entry.
	if versionOf(before, wanted.Applier) == versionOf(owners, wanted.Applier) {
		alone := before.Fields(wanted.Applier.Is).Difference(taken.Union(h.clears))
		h.alone = alone.Difference(alone.Above(h.given))
	}
	return h, err
}

// Created returns made, an object that the applier is going to create, with its managedFields after the applier has
// given up fields.
func Created(made *unstructured.Unstructured, wanted Wanted) (*unstructured.Unstructured, error) {
	if len(wanted.GiveUp) == 0 {
		return made, nil
	}
	version := made.GetResourceVersion()
	versioned := made.DeepCopy()
	versioned.SetResourceVersion("0") // a dry run answers none
	h, err := Find(versioned, wanted)
	if err != nil || h == nil {
		return made, err
	}
	h.after.SetResourceVersion(version)
	return h.after, nil
}

// makes stores the object after the handover, and the fields of its owners.
func (h *Handover) makes(after *unstructured.Unstructured, owners fieldowner.Ownership) {
	isOurs := h.wanted.Applier.Is
	h.after, h.own, h.others = after, owners.Fields(isOurs),
		owners.Fields(func(o fieldowner.Owner) bool { return !isOurs(o) })
}

// Of returns the live object with its managedFields after the handover. After [Handover.Try] they are those that the
// server answered. If h is nil, Of returns the object unchanged.
func (h *Handover) Of(live *unstructured.Unstructured) *unstructured.Unstructured {
	if h == nil {
		return live
	}
	return h.after
}

// Unpinned returns the manifest without its resourceVersion if that is the version before the handover. The handover
// requires this version and makes a new one, and the apply is for the new one. If h is nil, was is the object before a
// handover that is done, nil if there was none.
func (h *Handover) Unpinned(manifest map[string]any, was *unstructured.Unstructured) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: manifest}
	if h != nil {
		was = h.live
	}
	if was == nil || obj.GetResourceVersion() == "" || obj.GetResourceVersion() != was.GetResourceVersion() {
		return obj
	}
	out := obj.DeepCopy()
	unstructured.RemoveNestedField(out.Object, "metadata", "resourceVersion")
	return out
}

// Conflicts returns the conflicts with managers from which nothing is taken over. If h is nil, it returns all
// conflicts.
func (h *Handover) Conflicts(all []fieldowner.Conflict) []fieldowner.Conflict {
	if h == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c fieldowner.Conflict) bool { return h.wanted.takes(c.Owner) })
}

// IsIdle reports whether the server had nothing to do in the dry run of the handover. The fields to clear are parts of
// a list or map that the applier owns as a whole. The manifest declares the list or map without these parts, so the
// apply alone removes them.
func (h *Handover) IsIdle() bool { return h != nil && h.isIdle }

// onlyClears reports whether only the cleared fields change owners.
func (h *Handover) onlyClears() bool {
	others := h.wanted
	others.Clear = nil
	rest, err := Find(h.live, others)
	return err == nil && rest == nil && !h.clears.Empty()
}
