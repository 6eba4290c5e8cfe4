package immutability

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
)

// HazardKind names what a replacement endangers.
type HazardKind string

// The kinds of hazard.
const (
	// HazardData: what is stored in volumes, or in the objects of a definition.
	HazardData HazardKind = "Data"
	// HazardContents: the objects inside a namespace.
	HazardContents HazardKind = "Contents"
	// HazardBlocked: the delete won't be finished before somebody else acts.
	HazardBlocked HazardKind = "Blocked"
	// HazardOwner: another object owns this one, and its controller may interfere.
	HazardOwner HazardKind = "Owner"
	// HazardDependents: objects that are deleted along with this one.
	HazardDependents HazardKind = "Dependents"
	// HazardNeedless: the server has the very object that is to be created, under another version of its API group.
	HazardNeedless HazardKind = "Needless"
	// HazardInterruption: something stops working until the new object has taken over, or gets another address.
	HazardInterruption HazardKind = "Interruption"
)

// Hazard is one consequence of replacing an object.
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

// Hazards returns what replacing live destroys, interrupts or waits for, as far as it can be told from the object
// itself: the most severe first. It returns nil for nil. It can't know which other objects exist, so it doesn't list
// dependents but says that they go. Of an object without apiVersion and kind, as typed clients return them, it can only
// tell what holds for every kind: set them first. [Probe] takes them from the manifest.
func Hazards(live *unstructured.Unstructured) []Hazard {
	if live == nil {
		return nil
	}
	return hazardsOf(kindOf(live), live)
}

// HazardsUnread returns what replacing an object endangers of which only the kind and the name are known, so that what
// depends on its content is only said to be possible. The object's owners, dependents and finalizers are not known.
func HazardsUnread(kind schema.GroupKind, name string) []Hazard {
	var found []Hazard
	for _, h := range kinds.HazardsUnread(kind.String(), name) {
		found = append(found, Hazard{HazardKind(h.Endangers), h.Text})
	}
	return found
}

func hazardsOf(kind schema.GroupKind, live *unstructured.Unstructured) []Hazard {
	var hazards []Hazard
	add := func(kind HazardKind, format string, args ...any) {
		hazards = append(hazards, Hazard{kind, fmt.Sprintf(format, args...)})
	}
	for _, h := range kinds.HazardsOf(kind.String(), live.Object) {
		add(HazardKind(h.Endangers), "%s", h.Text)
	}
	if live.GetDeletionTimestamp() != nil {
		add(HazardBlocked, "the object is being deleted already")
	}
	if f := live.GetFinalizers(); len(f) > 0 {
		add(HazardBlocked, "the delete waits for finalizers: %s", strings.Join(f, ", "))
	}
	for _, owner := range live.GetOwnerReferences() {
		add(HazardOwner, "%s %s owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it",
			owner.Kind, owner.Name)
	}
	if live.GetUID() != "" {
		add(HazardDependents, "objects that name this one as their owner are deleted with it, unless it is deleted with propagation policy Orphan")
	}
	return hazards
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
