package deletion

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Of returns the plan for a request from the live object alone, nil if there is none. It doesn't know whether the
// server would refuse the delete, and counts no contents. It sends no request and modifies no argument.
func Of(request Request, live *unstructured.Unstructured) *Plan {
	plan := &Plan{
		Object: request.Object, UID: request.UID, Replaced: request.Replaced,
		Propagation: cmp.Or(request.Propagation, metav1.DeletePropagationBackground),
	}
	if live == nil {
		plan.Action, plan.Reason = ActionNone, "does not exist"
		return plan
	}
	switch uid := string(live.GetUID()); {
	case request.UID != "" && uid != request.UID:
		plan.Action, plan.Refusal = ActionKeep,
			fmt.Errorf("%w: its uid was %q and is %q", write.ErrRecreated, foreign.Text(request.UID), foreign.Text(uid))
		plan.Reason = plan.Refusal.Error()
		return plan
	default:
		plan.UID = uid
	}
	plan.Action, plan.Reason = ActionDelete, "is there"
	if at := live.GetDeletionTimestamp(); at != nil {
		plan.Action, plan.Propagation = ActionWait, underWay(live)
		plan.Reason = fmt.Sprintf("is being deleted since %s", at.UTC().Format("2006-01-02 15:04:05"))
	}
	plan.Hazards = immutability.Hazards(live, plan.hazardOptions())
	plan.addFinalizers(live)
	plan.addDependents()
	return plan
}

// Unread returns the plan for a request whose object can't be read because of err.
func Unread(request Request, err error) *Plan {
	plan := &Plan{
		Object: request.Object, UID: request.UID, Replaced: request.Replaced,
		Propagation: cmp.Or(request.Propagation, metav1.DeletePropagationBackground),
		Action:      ActionUnknown, Reason: "can't be read: " + err.Error(), Refusal: err,
	}
	plan.Hazards = immutability.HazardsUnread(plan.kind(), plan.Object.Name, plan.hazardOptions())
	plan.addDependents()
	return plan
}

func (p *Plan) kind() schema.GroupKind {
	return schema.GroupKind{Group: p.Object.Group(), Kind: p.Object.Kind}
}

func (p *Plan) hazardOptions() immutability.HazardOptions {
	return immutability.HazardOptions{Propagation: p.Propagation, ForGood: !p.Replaced}
}

// underWay returns the policy that an object is being deleted with.
func underWay(live *unstructured.Unstructured) metav1.DeletionPropagation {
	for _, finalizer := range live.GetFinalizers() {
		if policy := kinds.DeletionFinalizers[finalizer]; policy != "" {
			return metav1.DeletionPropagation(policy)
		}
	}
	return metav1.DeletePropagationBackground
}

var finalizers = projection.Path{projection.Field("metadata"), projection.Field("finalizers")}

// addFinalizers adds those of live, with their owners unless managedFields can't be read.
func (p *Plan) addFinalizers(live *unstructured.Unstructured) {
	if len(live.GetFinalizers()) == 0 {
		return
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		p.Warnings = append(p.Warnings, foreign.Textf("the manager of the finalizers is unknown: %v", err))
	}
	for _, name := range live.GetFinalizers() {
		finalizer := Finalizer{Name: name}
		if item, err := projection.Value(name); err == nil { // a text always is
			finalizer.Owners = owners.Of(finalizers.Child(item))
		}
		p.Finalizers = append(p.Finalizers, finalizer)
	}
}

func (p *Plan) addDependents() {
	for _, kind := range kinds.Dependents(p.kind().String()) {
		p.Dependents = append(p.Dependents, schema.ParseGroupKind(kind))
	}
}
