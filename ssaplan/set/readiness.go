package set

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Readiness says whether an object is ready, or has failed, and why.
type Readiness struct {
	Ready bool
	// Failed says that the object isn't ready and won't become ready by itself.
	Failed bool
	// Why is one line that says what is missing. An object that counts as ready may still wait for something: Why then
	// says for what.
	Why foreign.Text
	// Said is a free text from the object itself, such as the message of a condition. It is redacted for an object with
	// sensitive values, since it may quote them.
	Said foreign.Text
}

// String returns Why and Said in a line, empty if both are empty.
func (r Readiness) String() string {
	if r.Why == "" || r.Said == "" {
		return (r.Why + r.Said).String()
	}
	return (r.Why + ": " + r.Said).String()
}

// ReadyFunc returns whether a live object is ready. This package has no rules for that. The module readiness has the
// rules of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus) and stricter ones.
type ReadyFunc func(live *unstructured.Unstructured) Readiness

// Of returns the result of the ReadyFunc for an object, with sensitive values redacted in its texts.
func (ready ReadyFunc) Of(live *unstructured.Unstructured, planner Planner) Readiness {
	found := ready(live)
	found.Said = planner.Redactor(live).Text(found.Said)
	return found
}
