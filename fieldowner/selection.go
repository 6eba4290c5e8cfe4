package fieldowner

import (
	"fmt"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Strategy describes which fields of an object a [Selection] is about.
type Strategy string

// The three strategies of an import.
const (
	// AllFields selects everything, no matter who owns it, including values that the server filled in.
	AllFields Strategy = ""
	// UnownedFields selects fields without an owner: defaults, and values that admission plugins and webhooks added.
	UnownedFields Strategy = "unowned"
	// ManagerFields selects the fields that one manager owns.
	ManagerFields Strategy = "manager"
)

// Selection describes which fields of an object to import. The zero Selection selects all of them. It is comparable.
// [ManagerFields] requires a Manager, and the other strategies allow none.
type Selection struct {
	Strategy Strategy
	// Manager is the name of the manager whose fields are selected. Operation and Subresource narrow this down to one
	// of its entries.
	Manager string
	// Operation is [OperationApply] or [OperationUpdate]. The default is both.
	Operation string
	// Subresource is the subresource that the fields were written to. It counts only together with an Operation; then
	// "" is the object itself. Without an Operation, the fields of all subresources are selected.
	Subresource string
}

// Validate returns an error for an unknown strategy, and for a selection with a field that would be ignored.
func (s Selection) Validate() error {
	switch s.Strategy {
	case AllFields, UnownedFields:
		if s != (Selection{Strategy: s.Strategy}) {
			return fmt.Errorf("a manager, operation or subresource needs the strategy %q", ManagerFields)
		}
		return nil
	case ManagerFields:
		return s.checkManager()
	}
	return fmt.Errorf("unknown strategy %q", s.Strategy)
}

func (s Selection) checkManager() error {
	switch {
	case s.Manager == "":
		return fmt.Errorf("no manager")
	case s.Operation != "" && s.Operation != OperationApply && s.Operation != OperationUpdate:
		return fmt.Errorf("unknown operation %q", s.Operation)
	case s.Operation == "" && s.Subresource != "":
		return fmt.Errorf("a subresource without an operation")
	}
	return nil
}

// selects reports whether the fields of o are meant.
func (s Selection) selects(o Owner) bool {
	if s.Strategy != ManagerFields || o.Manager != foreign.Text(s.Manager) {
		return false
	}
	return s.Operation == "" || o.Operation == s.Operation && o.Subresource == foreign.Text(s.Subresource)
}

// neverImported is what identifies an object, which every manifest has, and what only a server can set.
var neverImported = projection.NewFieldSet(
	projection.Path{projection.Field("apiVersion")}, projection.Path{projection.Field("kind")},
	metadata.Child(projection.Field("name")), metadata.Child(projection.Field("namespace")),
).Union(projection.ServerMetadata())

// rarelyImported is what is only imported for a manager that applied it: a status, if it is the selected subresource,
// or an ordinary field because its kind has no such subresource; a prefix that the name was made from, and the copy
// that client-side apply keeps of its manifest.
var rarelyImported = projection.NewFieldSet(
	projection.Path{projection.Field("status")},
	metadata.Child(projection.Field("generateName")),
	lastApplied,
)

// selected returns the fields of live that sel selects, as they are recorded.
func (o Ownership) selected(live map[string]any, sel Selection) (projection.FieldSet, error) {
	set := o.Fields(sel.selects)
	if sel.Strategy != ManagerFields {
		all, err := allFields(live)
		if err != nil {
			return projection.FieldSet{}, err
		}
		set = all
	}
	if sel.Strategy == UnownedFields {
		set = o.unowned(set)
	}
	return set.Without(rarelyImported).Union(o.applied(sel)).Without(neverImported), nil
}

// applied returns what the selected manager applied to the object itself, or to the subresource that is selected.
func (o Ownership) applied(sel Selection) projection.FieldSet {
	return o.Fields(func(owner Owner) bool { return sel.selects(owner) && sel.applier().Is(owner) })
}

// applier returns who applied what is selected.
func (s Selection) applier() Applier { return Applier{Manager: s.Manager, Subresource: s.Subresource} }

// allFields returns all that obj has, no matter who owns it. Lists are taken as a whole if items of theirs have the
// same name.
func allFields(obj map[string]any) (projection.FieldSet, error) {
	set, err := projection.Outline(obj)
	if err != nil {
		return set, fmt.Errorf("fieldowner: %w", err)
	}
	var lists []projection.Path
	for _, p := range projection.Project(obj, set).Duplicates {
		lists = append(lists, p[:len(p)-1])
	}
	if lists == nil {
		return set, nil
	}
	whole := projection.NewFieldSet(lists...)
	return set.Without(whole).Union(whole), nil
}

// unowned returns the fields of set of which nobody owns any part.
func (o Ownership) unowned(set projection.FieldSet) projection.FieldSet {
	var owned []projection.Path
	for p := range set.All() {
		if len(o.Below(p)) > 0 {
			owned = append(owned, p)
		}
	}
	return set.Difference(projection.NewFieldSet(owned...))
}
