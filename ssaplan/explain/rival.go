package explain

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Rival is an apply under the manager's own name that [Input.Prior] doesn't know of. Either somebody else applies to the object under this
// name, and takes back each time what the other one did, or the host didn't remember its last apply.
type Rival struct {
	// Time is when it was applied.
	Time time.Time `json:"time"`
	// Paths are what the two disagree on: fields that were added, that have another value than the remembered one, or that are gone, and
	// that no other manager owns now. There is at least one.
	Paths []projection.Path `json:"paths"`
}

// String returns a sentence for people.
func (r Rival) String() string {
	return foreign.Textf("another tool applies under the same field manager, last at %s, or that apply was not remembered: it made other than what is remembered of %s",
		r.Time.UTC().Format(time.RFC3339), projection.JoinPaths(r.Paths)).String()
}

// RivalOf returns who else applied to the live object since prior was remembered, under the manager's name; nil if nobody did, if it
// isn't that object, or if nothing is known of it.
func RivalOf(live *unstructured.Unstructured, prior *State) *Rival {
	if live == nil || prior == nil {
		return nil
	}
	return Input{Live: live.Object, Prior: prior, Manager: prior.Manager, Subresource: prior.Subresource}.rival()
}

// rival returns who else applied under the name of the manager, nil if nobody did or nothing is known of it. A server sets the time of a
// record when its manager changes something, and leaves it when others take fields away; so another apply has a later time than the
// remembered one, unless both were within a second. Source: k8s.io/apimachinery/pkg/util/managedfields/internal.
func (in Input) rival() *Rival {
	if in.Live == nil || in.Prior == nil || !in.Prior.isOf(in) {
		return nil
	}
	last := lastApplied(in.Live, in.applier())
	if in.Prior.time.IsZero() || !last.After(in.Prior.time) {
		return nil
	}
	owners, err := fieldowner.Read(in.Live)
	if err != nil {
		return nil // of which the explanation of an apply that isn't known to be a no-op is an error
	}
	if paths := in.disagreement(owners); len(paths) > 0 {
		return &Rival{Time: last, Paths: paths}
	}
	return nil
}

// isOf reports whether s remembers an apply of that manager to that object.
func (s *State) isOf(in Input) bool {
	live := unstructured.Unstructured{Object: in.Live}
	return s.applier() == in.applier() && s.UID == string(live.GetUID())
}

// disagreement returns where the live object isn't as it was applied, and none but the manager can be the reason.
func (in Input) disagreement(owners fieldowner.Ownership) []projection.Path {
	applied := in.Prior.appliedTo(in.Live)
	own := owners.Declared(nil, in.Live, in.applier()).Fields
	paths := slices.Collect(own.Leaves().Difference(applied.Fields).Without(in.Prior.filled).All())
	for _, d := range projection.Diff(applied, in.Prior.Digested(projection.Project(in.Live, applied.Fields))) {
		if _, others := latestOther(owners, d.Path, in.applier()); !others {
			paths = append(paths, d.Path)
		}
	}
	return slices.Collect(projection.NewFieldSet(paths...).All())
}

// lastApplied returns when the applier last changed something of the object, zero if its record doesn't tell.
func lastApplied(obj map[string]any, applier fieldowner.Applier) (last time.Time) {
	for _, entry := range record(obj) {
		owner, written := recordedOwner(entry)
		if t, err := time.Parse(time.RFC3339, written); err == nil && applier.Is(owner) && t.After(last) {
			last = t
		}
	}
	return last
}
