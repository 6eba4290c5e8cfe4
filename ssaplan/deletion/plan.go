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
	// ActionWait: the object is being deleted already, and waits for its finalizers.
	ActionWait Action = "Wait"
	// ActionNone: there is no such object.
	ActionNone Action = "None"
	// ActionKeep: the object was re-created with another UID, and the new one is kept.
	ActionKeep Action = "Keep"
	// ActionRefused: the server refuses the delete.
	ActionRefused Action = "Refused"
	// ActionUnknown: it isn't known whether the object exists.
	ActionUnknown Action = "Unknown"
)

// Request names the object whose deletion is planned.
type Request struct {
	// Object is the object to delete. Required.
	Object identity.Identity
	// UID is the UID of the object to delete. Default: the UID of the live object.
	UID string
	// Propagation is what happens to the object's dependents. Default: Background, they are deleted after it.
	Propagation metav1.DeletionPropagation
	// Replaced says that a new object will replace it. Default: the object is deleted for good.
	Replaced bool
}

// Plan is what deleting an object will do. It has no content of the object, so a plan that was read from JSON can be
// carried out as well.
type Plan struct {
	// Object is the object's identity, with the namespace that it lives in.
	Object identity.Identity
	// UID is the UID of the object to delete. No object with another UID is deleted. It is empty if it isn't known.
	UID    string
	Action Action
	// Reason is one line that says why it is this action.
	Reason string
	// Propagation is the deletion policy that is sent, or the one of the running deletion. The hazards depend on it.
	Propagation metav1.DeletionPropagation
	// Replaced says that a new object will replace it. The hazards are then those of a replacement.
	Replaced bool
	// Hazards say what else is deleted, what stops working, and what the delete waits for, the most severe first.
	Hazards []immutability.Hazard
	// Finalizers are those of the object, in its order.
	Finalizers []Finalizer
	// Dependents are the kinds of objects that controllers create for the object, directly or for one of its
	// dependents. Hazards say what becomes of them.
	Dependents []schema.GroupKind
	// Contents are the objects that are deleted with a namespace or a CRD; nil for every other kind.
	Contents *Contents
	// Warnings are the server's warnings about the delete, and what the plan couldn't find out, a line each.
	Warnings []foreign.Text
	// Requests is the number of requests that the plan took. Requests for all objects, such as discovery, aren't
	// counted.
	Requests int
	// Refusal is the server's refusal if the action is Refused, the error of the read if it is Unknown, and an error
	// that wraps [write.ErrRecreated] if it is Keep. Sensitive values are redacted. It is nil in a plan that was read
	// from JSON.
	Refusal error
}

// Finalizer is a finalizer of the object: it blocks the deletion until it is removed.
type Finalizer struct {
	Name string `json:"name"`
	// Owners are the owners of the finalizer in managedFields. If an admission plugin added the finalizer to a request,
	// the manager of this request is the owner. The finalizer may be removed by others.
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

// Contents are the objects in a namespace, or the custom resources of a CRD, as far as the caller may list them.
type Contents struct {
	// Counts has a count for each kind with objects, sorted by kind.
	Counts []Count `json:"counts,omitempty"`
	// Uncounted has the kinds whose objects couldn't be counted.
	Uncounted []Uncounted `json:"uncounted,omitempty"`
}

// Count is how many objects of a kind there are.
type Count struct {
	Kind    string `json:"kind"`
	Group   string `json:"group,omitempty"`
	Objects int    `json:"objects"`
	// OrMore says that there may be more objects than counted.
	OrMore bool `json:"orMore,omitempty"`
}

// String returns the count as a line: 3 Deployment.apps.
func (c Count) String() string {
	kind := schema.GroupKind{Group: c.Group, Kind: c.Kind}
	if c.OrMore {
		return fmt.Sprintf("%d or more %s", c.Objects, kind)
	}
	return fmt.Sprintf("%d %s", c.Objects, kind)
}

// Uncounted is a kind whose objects weren't counted, and why.
type Uncounted struct {
	// What is a kind with its group, or a description of several kinds.
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// String returns a line.
func (u Uncounted) String() string { return u.What + ": " + u.Reason }

// Format prints the action, the object and the reason whatever the verb.
func (p Plan) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s: %s", p.Action, p.Object, p.Reason)
}

// Deletes reports whether the object exists now and won't after the plan is carried out.
func (p *Plan) Deletes() bool { return p.Action == ActionDelete || p.Action == ActionWait }

// Covers reports whether now, a later plan for the same object, does no more than the reviewed plan p: it has the same
// object, and no hazard, finalizer, warning or kind of contents that p lacks. An object that is gone by now is covered.
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
	return slices.DeleteFunc(slices.Clone(hazards),
		func(h immutability.Hazard) bool { return h.Kind == immutability.HazardBlocked })
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
