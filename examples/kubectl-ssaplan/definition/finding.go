package definition

import (
	"cmp"
	"slices"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Class is what a change means for those who have objects of the kind.
type Class int

// The classes, the worst first.
const (
	// Loses: it loses data, or breaks objects that are stored, or every later apply of them.
	Loses Class = iota
	// Refuses: the server refuses what it took before.
	Refuses
	// Widens: the server takes more than before, or only words differ.
	Widens
)

// String returns the class as it goes on before a number of changes.
func (c Class) String() string {
	switch c {
	case Loses:
		return "loses data or breaks stored objects"
	case Refuses:
		return "refuses what was allowed"
	}
	return "widens or rewords"
}

// Finding is one thing in which two definitions differ.
type Finding struct {
	Class Class
	// Version is that of the kind, and Path the field that the schema of the version is about, with * for the items of
	// a list and the values of a map; empty for the object itself and for what isn't in a schema.
	Version, Path foreign.Text
	// What says what changes.
	What foreign.Text
}

// String returns "v1 spec.color: the field is removed, and its values are lost".
func (f Finding) String() string {
	if f.Path == "" {
		return f.Version.String() + ": " + f.What.String()
	}
	return f.Version.String() + " " + f.Path.String() + ": " + f.What.String()
}

// Count returns how many of the findings are of a class.
func Count(findings []Finding, class Class) int {
	n := 0
	for _, f := range findings {
		if f.Class == class {
			n++
		}
	}
	return n
}

// byClass sorts the worst first, and else leaves the order as it is.
func byClass(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Class, b.Class) })
	return findings
}
