package fieldowner

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// Strategy says which fields of an object a [Selection] is about.
type Strategy string

// The three strategies of an import.
const (
	// AllFields selects everything, whoever owns it, with what the server filled in.
	AllFields Strategy = ""
	// UnownedFields selects what nobody owns: defaults, and what admission plugins and webhooks added.
	UnownedFields Strategy = "unowned"
	// ManagerFields selects what one manager owns, and nothing that nobody owns.
	ManagerFields Strategy = "manager"
)

// Selection says which fields of an object to import. The zero Selection selects all of them. It is comparable. A Manager
// without the strategy [ManagerFields] is not valid, nor is that strategy without a Manager.
type Selection struct {
	Strategy Strategy
	// Manager is the name of the manager whose fields are selected. The others narrow this down to one of its entries.
	Manager string
	// Operation is [OperationApply] or [OperationUpdate]. The default is both.
	Operation string
	// Subresource is the subresource that the fields were written to. It counts only together with an operation, and ""
	// is then the object itself. The default is all.
	Subresource string
}

// Validate returns an error for a strategy that isn't known, and for a selection of which a part would not count.
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
	if s.Strategy != ManagerFields || o.Manager != s.Manager {
		return false
	}
	return s.Operation == "" || o.Operation == s.Operation && o.Subresource == s.Subresource
}

// neverImported is what identifies an object, which every manifest has, and what only a server can set.
var neverImported = fieldSet(
	[]string{"apiVersion"}, []string{"kind"},
	[]string{"metadata", "name"}, []string{"metadata", "namespace"},
	[]string{"metadata", "uid"}, []string{"metadata", "resourceVersion"}, []string{"metadata", "generation"},
	[]string{"metadata", "creationTimestamp"}, []string{"metadata", "deletionTimestamp"},
	[]string{"metadata", "deletionGracePeriodSeconds"},
	[]string{"metadata", "managedFields"}, []string{"metadata", "selfLink"},
)

// rarelyImported is what only somebody who applied it wants back: a status that is an ordinary field because its kind has
// no such subresource, a prefix that the name was made from, and the copy that client-side apply keeps of its manifest.
var rarelyImported = fieldSet(
	[]string{"status"},
	[]string{"metadata", "generateName"},
	[]string{"metadata", "annotations", lastAppliedAnnotation},
)

func fieldSet(paths ...[]string) projection.FieldSet {
	all := make([]projection.Path, len(paths))
	for i, names := range paths {
		for _, name := range names {
			all[i] = append(all[i], projection.Field(name))
		}
	}
	return projection.NewFieldSet(all...)
}

// selected returns the fields of live that sel selects, as they are recorded.
func (o Ownership) selected(live map[string]any, sel Selection) projection.FieldSet {
	set := o.Fields(sel.selects)
	if sel.Strategy != ManagerFields {
		w := walker{ownership: o, unowned: sel.Strategy == UnownedFields}
		w.visit(projection.Path{}, live)
		set = projection.NewFieldSet(w.paths...)
	}
	return set.Without(rarelyImported).Union(o.applied(sel)).Without(neverImported)
}

// applied returns what the selected manager applied to the object itself.
func (o Ownership) applied(sel Selection) projection.FieldSet {
	return o.Fields(func(owner Owner) bool { return sel.selects(owner) && owner.appliedBy(sel.Manager) })
}

// walker collects the paths of an object's fields.
type walker struct {
	ownership Ownership
	unowned   bool // only those that nobody owns
	paths     []projection.Path
}

func (w *walker) visit(p projection.Path, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && !w.isWhole(p) {
			for name, item := range v {
				w.visit(p.Child(projection.Field(name)), item)
			}
			return
		}
	case []any:
		if elements := w.elements(p, v); elements != nil {
			for i, e := range elements {
				w.visit(p.Child(e), v[i])
			}
			return
		}
	}
	if !w.unowned || len(w.ownership.Below(p)) == 0 {
		w.paths = append(w.paths, p)
	}
}

// isWhole reports whether the value at p is owned as a whole.
func (w *walker) isWhole(p projection.Path) bool {
	all := w.ownership.all
	return all.Has(p) && !hasBelow(all, p) && !isGranular(p)
}

// elements returns the elements of a list, as far as what others own in it shows how they are named; nil if it doesn't,
// or if some of them can't be told apart.
func (w *walker) elements(p projection.Path, list []any) []projection.Element {
	keys, known := w.keys(p)
	if !known {
		return nil
	}
	elements := make([]projection.Element, len(list))
	seen := make(map[projection.Element]bool, len(list))
	for i, item := range list {
		e, complete := itemElement(item, keys)
		if !complete || seen[e] {
			return nil
		}
		elements[i], seen[e] = e, true
	}
	return elements
}

// keys returns the key fields of the list at p, none if it is a set, and whether anything is known about it.
func (w *walker) keys(p projection.Path) (names []string, known bool) {
	for q := range w.ownership.all.Under(p).All() {
		if len(q) > len(p) {
			return keyNames(q[len(p)]), q[len(p)].Kind() == projection.KeyKind || q[len(p)].Kind() == projection.ValueKind
		}
	}
	return nil, false
}

// emptied are the paths of set that stand for an empty map or list there, although others have fields in it.
func (o Ownership) emptied(set projection.FieldSet) []projection.Path {
	return slices.DeleteFunc(slices.Collect(set.Leaves().All()), func(p projection.Path) bool {
		return !o.all.Has(p) || !hasBelow(o.all, p) && !isGranular(p)
	})
}
