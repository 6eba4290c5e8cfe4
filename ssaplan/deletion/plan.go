package deletion

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Action is what carrying out a [Plan] will do.
type Action string

// The actions of a [Plan].
const (
	// ActionDelete: the object is deleted.
	ActionDelete Action = "Delete"
	// ActionWait: somebody has deleted the object already, and it goes when its finalizers are gone.
	ActionWait Action = "Wait"
	// ActionNone: there is no such object.
	ActionNone Action = "None"
	// ActionKeep: another object is in the place of the one that was meant, and is left as it is.
	ActionKeep Action = "Keep"
	// ActionRefused: the server refuses the delete.
	ActionRefused Action = "Refused"
	// ActionUnknown: whether the object is there can't be found out.
	ActionUnknown Action = "Unknown"
)

// Request is what to plan the deletion of.
type Request struct {
	// Object is the object to delete. Required.
	Object identity.Identity
	// UID is that of the object that is meant. Default: that of the object that is there.
	UID string
	// Propagation is what happens to the object's dependents. Default: Background, they are deleted after it.
	Propagation metav1.DeletionPropagation
	// Replaced says that another object is going to take the place. Default: the object is deleted for good.
	Replaced bool
}

// Plan is what deleting an object will do. It has no request and no content of the object, so one that was read from
// JSON can be carried out as well.
type Plan struct {
	// Object is the object's identity, with the namespace that it lives in.
	Object identity.Identity
	// UID is that of the object that is meant, and no other is deleted. It is empty if it isn't known.
	UID    string
	Action Action
	// Reason says in a line why it is this action.
	Reason string
	// Propagation is the policy that is sent with the delete; of an object that is being deleted, the one that it is
	// deleted with. The hazards follow from it.
	Propagation metav1.DeletionPropagation
	// Replaced says that another object is going to take the place, which the hazards are about then.
	Replaced bool
	// Hazards are what goes with the object, what stops, and what the delete waits for, the most severe first.
	Hazards []immutability.Hazard
	// Finalizers are those of the object, in its order.
	Finalizers []Finalizer
	// Dependents are the kinds of the objects that the object's controller makes for it, directly or by another one of
	// them. Hazards say what becomes of them.
	Dependents []schema.GroupKind
	// Contents are the objects that go with a namespace, and those of a definition; nil for every other kind.
	Contents *Contents
	// Warnings are what the server says of the delete, and what isn't known of it, a line each.
	Warnings []foreign.Text
	// Requests is the number of requests that the plan took, those for all objects not counted, such as discovery.
	Requests int
	// Refusal is the server's refusal if the action is Refused, the failed read if it is Unknown, and wraps
	// [ErrRecreated] if it is Keep, without sensitive values. It is nil in a plan that was read from JSON.
	Refusal error
}

// Finalizer is what keeps an object that is deleted until somebody takes it away.
type Finalizer struct {
	Name string `json:"name"`
	// Owners are those who set it, as managedFields have it: what an admission plugin sets counts as set by those whose
	// request it was. They need not be those who take it away.
	Owners []fieldowner.Owner `json:"managers,omitempty"`
}

// String returns the name and the owners.
func (f Finalizer) String() string {
	name := foreign.Text(f.Name).String()
	if len(f.Owners) == 0 {
		return name
	}
	text := name + " (set by "
	for i, owner := range f.Owners {
		if i > 0 {
			text += ", "
		}
		text += owner.String()
	}
	return text + ")"
}

// Contents are what is inside of a namespace, or the objects of a definition, as far as the caller may list them.
type Contents struct {
	// Counts has the kinds of which there are objects, in the order of their names.
	Counts []Count `json:"counts,omitempty"`
	// Uncounted has the kinds of which that isn't known.
	Uncounted []Uncounted `json:"uncounted,omitempty"`
}

// Count is how many objects of a kind there are.
type Count struct {
	Kind    string `json:"kind"`
	Group   string `json:"group,omitempty"`
	Objects int    `json:"objects"`
	// OrMore says that the server counted no further.
	OrMore bool `json:"orMore,omitempty"`
}

// String returns a line: 3 Deployment.apps.
func (c Count) String() string {
	kind := schema.GroupKind{Group: c.Group, Kind: c.Kind}
	if c.OrMore {
		return fmt.Sprintf("%d or more %s", c.Objects, kind)
	}
	return fmt.Sprintf("%d %s", c.Objects, kind)
}

// Uncounted is what wasn't counted, and why.
type Uncounted struct {
	// What is a kind with its group, or says which kinds.
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// String returns a line.
func (u Uncounted) String() string { return u.What + ": " + u.Reason }

// Format prints the action, the object and the reason whatever the verb.
func (p Plan) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s: %s", p.Action, p.Object, p.Reason)
}

// Deletes reports whether carrying out the plan ends with an object gone that is there.
func (p *Plan) Deletes() bool { return p.Action == ActionDelete || p.Action == ActionWait }

// Covers reports whether who reviewed p knows all that now says, a later plan for the same object: no other object, no
// hazard, finalizer, warning or kind of contents that p lacks. That the object is gone by now needs no review.
func (p *Plan) Covers(now *Plan) bool {
	if now.Action == ActionNone {
		return true
	}
	return p.Deletes() && p.Object == now.Object && p.UID == now.UID &&
		p.Propagation == now.Propagation && p.Replaced == now.Replaced &&
		subset(lasting(now.Hazards), p.Hazards) && subset(names(now.Finalizers), names(p.Finalizers)) &&
		subset(now.Warnings, p.Warnings) && subset(now.Contents.kinds(), p.Contents.kinds())
}

// lasting returns the hazards but those that only say what the delete waits for, which the finalizers tell.
func lasting(hazards []immutability.Hazard) []immutability.Hazard {
	return slices.DeleteFunc(slices.Clone(hazards), func(h immutability.Hazard) bool { return h.Kind == immutability.HazardBlocked })
}

// names returns the names of the finalizers but those that the delete itself sets.
func names(finalizers []Finalizer) (names []string) {
	for _, f := range finalizers {
		if kinds.DeletionFinalizers[f.Name] == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

func (c *Contents) kinds() (found []schema.GroupKind) {
	if c != nil {
		for _, count := range c.Counts {
			found = append(found, schema.GroupKind{Group: count.Group, Kind: count.Kind})
		}
	}
	return found
}

func subset[T comparable](part, of []T) bool {
	return !slices.ContainsFunc(part, func(v T) bool { return !slices.Contains(of, v) })
}
