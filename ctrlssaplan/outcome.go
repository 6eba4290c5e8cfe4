package ctrlssaplan

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// verdict is what became of a child.
type verdict string

const (
	asDeclared verdict = "AsDeclared"
	created    verdict = "Created"
	updated    verdict = "Updated"
	replaced   verdict = "Replaced"
	deleted    verdict = "Deleted"

	drifted           verdict = "Drifted"
	conflicting       verdict = "Conflict"
	refused           verdict = "Refused"
	replacementNeeded verdict = "ReplacementNeeded"
	waiting           verdict = "Waiting"
	deferred          verdict = "Deferred"
	failed            verdict = "Failed"
	unknown           verdict = "OutcomeUnknown" // of a write whose answer was lost
)

// written reports whether something was written to the child.
func (v verdict) written() bool {
	return v == created || v == updated || v == replaced || v == deleted
}

// open reports whether the child is not what its owner wants, and known not to be.
func (v verdict) open() bool { return v != "" && v != asDeclared && !v.written() }

// outcome is what became of a child, and why.
type outcome struct {
	child   string  // its name in texts; empty if the outcome is of all children
	verdict verdict // empty as long as the plan is still to be carried out
	text    string
	// repaired are the changes of others that were put back.
	repaired []explain.Change
	// warnings are the warnings of the plan that the plan before didn't have.
	warnings []foreign.Text
	// err is an error after which the owner is reconciled again at once.
	err error
	// unwritten says that err is that of a write.
	unwritten bool
	// fought says that drift is left because it was put back too often.
	fought bool
	// unready is why the child doesn't do yet what it is for; empty if it does, or isn't wanted.
	unready string
}

// lines joins several texts in one line.
func lines[T fmt.Stringer](things []T) string {
	texts := make([]string, len(things))
	for i, thing := range things {
		texts[i] = thing.String()
	}
	return strings.Join(texts, "; ")
}
