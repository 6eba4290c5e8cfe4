package immutability

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
)

// HazardKind names what a deletion or replacement endangers.
type HazardKind string

// The kinds of hazard.
const (
	// HazardData: data is lost that is in volumes, in the custom resources of a CRD, or in objects that a controller
	// made for a custom resource.
	HazardData HazardKind = "Data"
	// HazardContents: the objects in a namespace are deleted.
	HazardContents HazardKind = "Contents"
	// HazardBlocked: the delete won't finish before another client acts, such as a controller that removes a finalizer.
	HazardBlocked HazardKind = "Blocked"
	// HazardOwner: another object owns this one, and its controller may interfere.
	HazardOwner HazardKind = "Owner"
	// HazardDependents: dependent objects are deleted as well, or remain without an owner.
	HazardDependents HazardKind = "Dependents"
	// HazardNeedless: the object to create is the existing one, under another version of its API group.
	HazardNeedless HazardKind = "Needless"
	// HazardInterruption: a service or workload stops until the new object has taken over, or gets another address.
	HazardInterruption HazardKind = "Interruption"
)

// Hazard is one consequence of deleting or replacing an object.
type Hazard struct {
	Kind HazardKind `json:"kind"`
	// Message is a sentence without a full stop.
	Message string `json:"message"`
}

// NeedlessHazard returns the hazard of a needless replacement: the server has the same object under the new apiVersion.
func NeedlessHazard(apiVersion string) Hazard {
	return Hazard{HazardNeedless, fmt.Sprintf(
		"the object is destroyed for nothing: the server has it under %s too, where it can be updated in place",
		apiVersion)}
}

// String returns the message.
func (h Hazard) String() string { return h.Message }

// HazardOptions say how the object is deleted. The zero value is for a replacement with the propagation Background, as
// package ssaplan makes it by default.
type HazardOptions struct {
	// Propagation is the deletion policy that is sent. Default: Background.
	Propagation metav1.DeletionPropagation
	// ForGood says that the object is deleted and not replaced. Default: a new object replaces it.
	ForGood bool
}

func (o HazardOptions) deletion() kinds.Deletion {
	return kinds.Deletion{Policy: string(o.Propagation), ForGood: o.ForGood}
}

// Hazards returns what the deletion of live destroys, interrupts or waits for, as far as the object itself shows it,
// the most severe first. It returns nil for nil. It doesn't know which other objects exist, so it says what becomes of
// dependents without listing them. Typed clients return objects without apiVersion and kind: set them first, since
// otherwise only those hazards are found that don't depend on the kind. [Probe] takes them from the manifest.
func Hazards(live *unstructured.Unstructured, options HazardOptions) []Hazard {
	if live == nil {
		return nil
	}
	return hazardsOf(kindOf(live), live, options)
}

// HazardsUnread returns the hazards of deleting an object of which only the kind and the name are known. Hazards that
// depend on the content are described as possible. Owners, dependents and finalizers aren't known.
func HazardsUnread(kind schema.GroupKind, name string, options HazardOptions) []Hazard {
	return hazards(kinds.HazardsUnread(kind.String(), name, options.deletion()))
}

func hazards(known []kinds.Hazard) []Hazard {
	var found []Hazard
	for _, h := range known {
		found = append(found, Hazard{HazardKind(h.Endangers), h.Text})
	}
	return found
}

func hazardsOf(kind schema.GroupKind, live *unstructured.Unstructured, options HazardOptions) []Hazard {
	found := hazards(kinds.HazardsOf(kind.String(), live.Object, options.deletion()))
	if live.GetDeletionTimestamp() != nil {
		found = append(found, Hazard{HazardBlocked, "the object is being deleted already"})
	}
	if f := live.GetFinalizers(); len(f) > 0 {
		found = append(found, Hazard{HazardBlocked,
			fmt.Sprintf("the delete waits for finalizers: %s", foreign.Text(strings.Join(f, ", ")))})
	}
	for _, owner := range live.GetOwnerReferences() {
		text := fmt.Sprintf("%s owns the object: it may create it again", foreign.Text(owner.Kind+" "+owner.Name))
		if !options.ForGood {
			text += " before you do, and the new object only has an owner if the manifest names it"
		}
		found = append(found, Hazard{HazardOwner, text})
	}
	if live.GetUID() != "" {
		found = append(found, hazards(options.deletion().Dependents())...)
	}
	return found
}

// kindOf returns the kind that obj names. A manifest does; an object that a typed client has read doesn't.
func kindOf(obj *unstructured.Unstructured) schema.GroupKind {
	return obj.GroupVersionKind().GroupKind()
}

// UnnamedLoss returns the losses of data ([HazardData]) or objects ([HazardContents]) in found, except those whose kind
// is also in named.
func UnnamedLoss(found, named []Hazard) []Hazard {
	var lost []Hazard
	for _, f := range found {
		isLoss := f.Kind == HazardData || f.Kind == HazardContents
		if isLoss && !slices.ContainsFunc(named, func(n Hazard) bool { return n.Kind == f.Kind }) {
			lost = append(lost, f)
		}
	}
	return lost
}
