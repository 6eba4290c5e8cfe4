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
	// HazardData: what is stored in volumes, in the objects of a definition, or in what a controller made for a custom
	// resource.
	HazardData HazardKind = "Data"
	// HazardContents: the objects inside a namespace.
	HazardContents HazardKind = "Contents"
	// HazardBlocked: the delete won't be finished before somebody else acts.
	HazardBlocked HazardKind = "Blocked"
	// HazardOwner: another object owns this one, and its controller may interfere.
	HazardOwner HazardKind = "Owner"
	// HazardDependents: objects that are deleted along with this one, or stay behind without an owner.
	HazardDependents HazardKind = "Dependents"
	// HazardNeedless: the server has the very object that is to be created, under another version of its API group.
	HazardNeedless HazardKind = "Needless"
	// HazardInterruption: something stops working until a new object has taken over, or gets another address.
	HazardInterruption HazardKind = "Interruption"
)

// Hazard is one consequence of deleting or replacing an object.
type Hazard struct {
	Kind HazardKind `json:"kind"`
	// Message is a sentence without a full stop.
	Message string `json:"message"`
}

// NeedlessHazard returns the hazard of replacing an object that the server has under the new apiVersion as well.
func NeedlessHazard(apiVersion string) Hazard {
	return Hazard{HazardNeedless, fmt.Sprintf(
		"the object is destroyed for nothing: the server has it under %s too, where it can be updated in place", apiVersion)}
}

// String returns the message.
func (h Hazard) String() string { return h.Message }

// HazardOptions say how the object is deleted. The zero value is that of a replacement as package ssaplan makes it.
type HazardOptions struct {
	// Propagation is the policy that is sent with the delete. Default: Background.
	Propagation metav1.DeletionPropagation
	// ForGood says that no other object takes the place. Default: one does.
	ForGood bool
}

func (o HazardOptions) deletion() kinds.Deletion {
	return kinds.Deletion{Policy: string(o.Propagation), ForGood: o.ForGood}
}

// Hazards returns what deleting live, for a new object or for good, destroys, interrupts or waits for, as far as it can
// be told from the object itself: the most severe first. It returns nil for nil. It can't know which other objects
// exist, so it doesn't list dependents but says what becomes of them. Of an object without apiVersion and kind, as
// typed clients return them, it can only tell what holds for every kind: set them first. [Probe] takes them from the
// manifest.
func Hazards(live *unstructured.Unstructured, options HazardOptions) []Hazard {
	if live == nil {
		return nil
	}
	return hazardsOf(kindOf(live), live, options)
}

// HazardsUnread returns what deleting an object endangers of which only the kind and the name are known, so that what
// depends on its content is only said to be possible. The object's owners, dependents and finalizers are not known.
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
		found = append(found, Hazard{HazardBlocked, fmt.Sprintf("the delete waits for finalizers: %s", foreign.Text(strings.Join(f, ", ")))})
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

// UnnamedLoss returns those of the found hazards by which data or the objects inside of a namespace are lost, and of
// whose kind none is named.
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
