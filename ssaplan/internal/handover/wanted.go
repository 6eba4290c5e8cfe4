package handover

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Wanted is what is to change owners before an apply.
type Wanted struct {
	Applier fieldowner.Applier
	// Adopt are the managers, and Tools the tools, from which it takes over what they have.
	Adopt []string
	Tools []fieldowner.Tool
	// GiveUp are the fields that the applier gives up. Positions in them are those of the lists of the manifest.
	GiveUp   projection.Patterns
	Manifest map[string]any
	// Clear are the fields that go, no matter who has them, unless the manifest has them. Positions are as in GiveUp.
	Clear projection.Patterns
	// Lost are the versions whose entries move to the version of the object.
	Lost []string
	// Forced is the object as the dry run of an apply by force makes it. What others lose by that apply, the applier
	// takes over; nil takes nothing.
	Forced *unstructured.Unstructured
	// today has fields with the keys that list items have today. It is empty if no field is cleared, and for built-in
	// kinds, whose keys don't change.
	today projection.FieldSet
}

// takes reports whether the applier takes over from the owner. What an owner wrote to a subresource stays its own.
func (w Wanted) takes(o fieldowner.Owner) bool {
	_, isTool := fieldowner.ToolOf(o, w.Tools)
	return o.Subresource == "" && !w.Applier.Is(o) && (isTool || slices.Contains(w.Adopt, string(o.Manager)))
}

// owner returns the applier as managedFields of the live object name it.
func (w Wanted) owner(live *unstructured.Unstructured) fieldowner.Owner {
	return fieldowner.Owner{
		Manager: foreign.Text(w.Applier.Manager), Operation: fieldowner.OperationApply,
		APIVersion: foreign.Text(live.GetAPIVersion()),
	}
}

// forced returns a function that returns the fields that an entry loses by the apply by force.
func (w Wanted) forced() (func(fieldowner.Entry) projection.FieldSet, error) {
	if w.Forced == nil {
		return func(fieldowner.Entry) projection.FieldSet { return projection.FieldSet{} }, nil
	}
	after, err := fieldowner.Read(w.Forced.Object)
	own := after.Fields(w.Applier.Is)
	return func(e fieldowner.Entry) projection.FieldSet {
		if w.Applier.Is(e.Owner) {
			return projection.FieldSet{}
		}
		return e.Fields.Intersection(own).Difference(after.Fields(e.Owner.Is))
	}, err
}

// moved returns the entry, with the version of the live object if its own version is lost.
func (w Wanted) moved(e fieldowner.Entry, live *unstructured.Unstructured) fieldowner.Entry {
	if slices.Contains(w.Lost, string(e.APIVersion)) {
		e.APIVersion = foreign.Text(live.GetAPIVersion())
	}
	return e
}
