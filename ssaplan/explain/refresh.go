package explain

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// Refreshed is the result of [Refresh].
type Refreshed struct {
	// State is what to remember from now on. It is the prior one if the object was re-created.
	State *State
	// Drift is how the object differs from what was applied, at the fields that were applied, and who changed it: what
	// applying the same manifest again would change back.
	Drift []Change
	// Recreated reports whether the object is not the one that prior remembers: its UID is another.
	Recreated bool
}

// Refresh compares what is remembered of an object with the object as it was read. Neither is modified. The only errors are
// those of managedFields that can't be read.
func Refresh(prior *State, live map[string]any) (Refreshed, error) {
	obj := unstructured.Unstructured{Object: live}
	if prior.UID != "" && string(obj.GetUID()) != prior.UID {
		return Refreshed{State: prior, Recreated: true}, nil
	}
	owners, err := fieldowner.Read(live)
	if err != nil {
		return Refreshed{}, fmt.Errorf("%s: %w", prior.Identity, err)
	}
	out := Refreshed{State: prior.upgraded(live).clone()}
	out.State.Stale = authresilience.Stale{}
	observed := out.State.Digested(prior.declaration(owners, live).Project(live))
	out.Drift = withCause(projection.Diff(out.State.Applied, observed), CauseDrifted)
	out.State.Observed = out.State.bounded(observed, out.Drift)
	for i := range out.Drift {
		if owner, known := latestOther(owners, out.Drift[i].Path, prior.Manager); known {
			out.Drift[i].drifted(owner)
		}
	}
	return out, nil
}

// declaration returns what was declared when the state was made, in terms of the object as it is now. What was applied
// shows which maps were declared as empty. One that the manager no longer owns was taken as a whole.
func (s *State) declaration(owners fieldowner.Ownership, live map[string]any) fieldowner.Declaration {
	recorded := owners.Fields(fieldowner.AppliedBy(s.Manager))
	var filled []projection.Path
	for _, i := range projection.FindIneffective(s.Applied.Object, live, recorded) {
		if i.Reason == projection.ReasonFilled {
			filled = append(filled, i.Path)
		}
	}
	return fieldowner.Declaration{Fields: s.Applied.Fields, Filled: projection.NewFieldSet(filled...)}
}
