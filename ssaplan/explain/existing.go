package explain

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Existing says what to do with an object that is there, or isn't. The empty Existing is ExistingTakeOver.
type Existing string

// The rules of [Existing].
const (
	// ExistingTakeOver: an object that is there is taken over, and one that isn't is created.
	ExistingTakeOver Existing = "TakeOver"
	// ExistingRefuse: an object that is there has to be ours, and one that isn't is created. It is ours if the prior
	// state remembers it, or its record says that the applier applied to it.
	ExistingRefuse Existing = "Refuse"
	// ExistingRequired: the object has to be there, for what changes only a part of an object that others make.
	ExistingRequired Existing = "Required"
)

// ExistingError describes an object that is there, or isn't, against the rule.
type ExistingError struct {
	Object   identity.Identity
	Existing Existing
}

func (e *ExistingError) Error() string {
	switch e.Existing {
	case ExistingRefuse:
		return fmt.Sprintf("%s: exists already, and isn't ours: import it, or have it taken over", e.Object)
	case ExistingRequired:
		return fmt.Sprintf("%s: doesn't exist, and isn't to be created", e.Object)
	}
	return fmt.Sprintf("%s: %q is no rule for existing objects", e.Object, foreign.Text(e.Existing))
}

// Check returns an error of type [*ExistingError] if the live object, nil if there is none, is there or isn't against
// the rule. Else the only errors are those of managedFields that can't be read.
func (x Existing) Check(id identity.Identity, live map[string]any, applier fieldowner.Applier, prior *State) error {
	switch x {
	case "", ExistingTakeOver:
		return nil
	case ExistingRefuse:
		if live == nil || prior.remembers(live) {
			return nil
		}
		if ours, err := appliedBy(live, applier); ours || err != nil {
			return err
		}
	case ExistingRequired:
		if live != nil {
			return nil
		}
	}
	return &ExistingError{id, x}
}

// IsAdopted reports whether the object that an apply to the live one answered with was there before the applier ever
// applied to it. Prior is what is remembered of it. An object whose record can't be read counts as adopted, which
// destroys nothing.
func IsAdopted(live, made map[string]any, applier fieldowner.Applier, prior *State) bool {
	switch {
	case live == nil || uidOf(live) != uidOf(made) || applier.Subresource != "":
		return false
	case prior.remembers(live):
		return prior.Adopted
	}
	ours, err := appliedBy(live, applier)
	return !ours || err != nil
}

// remembers reports whether the state is of this very object.
func (s *State) remembers(live map[string]any) bool {
	return s != nil && s.UID != "" && s.UID == uidOf(live)
}

func uidOf(obj map[string]any) string {
	return string((&unstructured.Unstructured{Object: obj}).GetUID())
}

// appliedBy reports whether the record of an object has the applier.
func appliedBy(live map[string]any, applier fieldowner.Applier) (bool, error) {
	owners, err := fieldowner.Read(live)
	return !owners.Fields(applier.Is).Empty(), err
}
