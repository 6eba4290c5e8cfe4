package explain

import (
	"fmt"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Existing says whether an existing object is taken over, and whether a missing one is created. The empty Existing is
// [ExistingTakeOver].
type Existing string

// The rules of [Existing].
const (
	// ExistingTakeOver: an existing object is taken over, and a missing one is created.
	ExistingTakeOver Existing = "TakeOver"
	// ExistingRefuse: an existing object is an error, and a missing one is created. It isn't an error if the prior
	// state is of this object, or managedFields show that the applier applied to it before.
	ExistingRefuse Existing = "Refuse"
	// ExistingRequired: the object has to exist. Use it to change only a part of an object that others create.
	ExistingRequired Existing = "Required"
)

// ExistingError says that an object exists, or doesn't, and that the rule forbids that.
type ExistingError struct {
	Object   identity.Identity
	Existing Existing
}

func (e *ExistingError) Error() string {
	switch e.Existing {
	case ExistingRefuse:
		return fmt.Sprintf(
			"%s: exists already, and this field manager hasn't applied it: import it, or allow the takeover", e.Object)
	case ExistingRequired:
		return fmt.Sprintf("%s: doesn't exist, and isn't to be created", e.Object)
	}
	return fmt.Sprintf("%s: invalid Existing %q: use TakeOver, Refuse or Required", e.Object, foreign.Text(e.Existing))
}

// Check returns an [*ExistingError] if the rule doesn't permit the live object, or its absence if live is nil.
// Otherwise the only errors are those of managedFields that can't be read.
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

// IsAdopted reports whether the object existed before the applier first applied to it, or whether that isn't known.
// live is the object before the apply, made is the server's answer to the apply, and prior is the stored state, if any.
// Without a state of this object, managedFields decide. They don't show who created the object if another manager also
// owns fields of it, or if they can't be read. Such an object counts as adopted. That is safe, since adopted objects
// are usually not deleted.
func IsAdopted(live, made map[string]any, applier fieldowner.Applier, prior *State) bool {
	switch {
	case live == nil || uidOf(live) != uidOf(made) || applier.Subresource != "":
		return false
	case prior.remembers(live):
		return prior.Adopted
	}
	owners, err := fieldowner.Read(live)
	others := owners.Fields(func(o fieldowner.Owner) bool { return o.Subresource == "" && !applier.Is(o) })
	return err != nil || owners.Fields(applier.Is).Empty() || !others.Empty()
}

// remembers reports whether the state is of this very object.
func (s *State) remembers(live map[string]any) bool {
	return s != nil && s.UID != "" && s.UID == uidOf(live)
}

// appliedBy reports whether the applier owns fields of an object.
func appliedBy(live map[string]any, applier fieldowner.Applier) (bool, error) {
	owners, err := fieldowner.Read(live)
	return !owners.Fields(applier.Is).Empty(), err
}
