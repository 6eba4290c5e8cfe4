package ssaplan

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// Action is the effect of applying a manifest.
type Action string

// The actions of a [Plan].
const (
	// ActionNoOp: the server would not write. The object stays as it is, resourceVersion included.
	ActionNoOp Action = "NoOp"
	// ActionCreate: the object doesn't exist.
	ActionCreate Action = "Create"
	// ActionUpdate: the object changes in place.
	ActionUpdate Action = "Update"
	// ActionReplace: the object can't be changed to the manifest; it has to be deleted and created again.
	ActionReplace Action = "Replace"
	// ActionConflict: the server rejects the unforced apply, because other managers own fields with other values.
	ActionConflict Action = "Conflict"
	// ActionDeferred: a plan can't be made yet, or only in part; Deferral and Reason say why.
	ActionDeferred Action = "Deferred"
)

// Deferral is the reason of a Deferred plan.
type Deferral string

// The reasons of a plan with the action [ActionDeferred].
const (
	// DeferralTypeNotServed: the server doesn't serve the kind.
	DeferralTypeNotServed Deferral = "TypeNotServed"
	// DeferralNamespaceNotFound: the object's namespace doesn't exist.
	DeferralNamespaceNotFound Deferral = "NamespaceNotFound"
	// DeferralUnreadable: the caller may apply, but not read the object. The plan's After has the values after an
	// apply.
	DeferralUnreadable Deferral = "Unreadable"
	// DeferralUnknownValues: values of the manifest aren't known yet, and no plan can be made without them.
	DeferralUnknownValues Deferral = "UnknownValues"
	// DeferralNoDryRun: an admission webhook doesn't support dry runs, so the server rejects them.
	DeferralNoDryRun Deferral = "NoDryRun"
	// DeferralSet: the server rejects the object now, but another object of the set will change that (package set).
	DeferralSet Deferral = "SameSet"
)

// Plan is the answer to a [Request].
type Plan struct {
	// Object is the manifest's identity, with the namespace that the object lives in.
	Object identity.Identity
	// Subresource is the Subresource of the request.
	Subresource string
	Action      Action
	// Reason is one line that explains the Action.
	Reason string
	// Deferral is the reason of a Deferred plan; empty for every other action.
	Deferral Deferral
	// Explanation has the changes and their reasons. In a Replace it compares the old object with the object that the
	// server would create; see [explain.Replace]. In a NoOp from [Options.NoOps], Before, After and Baseline are empty.
	// In a Conflict the changes are those of a forced apply, if a dry run of it was possible. In a Deferred plan it
	// explains the dry run of a part of the manifest, if there was one ([DeferralUnknownValues], [DeferralSet]). In
	// every other Deferred plan, Before and Baseline are empty. For [DeferralUnreadable], After has the values that the
	// dry run returned. For a request with AllUnknown, After is empty. For all other reasons, After has the values of
	// the manifest, with each list as one value.
	explain.Explanation
	// Replacement has the details of a Replace; nil for every other action.
	Replacement *Replacement
	// Conflicts are the fields that other managers own; only for the action Conflict.
	Conflicts []fieldowner.Conflict
	// Adjustments are the modifications of the manifest before it was sent.
	Adjustments []projection.Adjustment
	// Requests is the number of requests that planning this object took. Requests for all objects, such as discovery,
	// aren't counted.
	Requests int

	basis *basis
}

// basis has the input of a plan, and the data for carrying it out. A plan that was read from JSON has none.
type basis struct {
	request  Request
	manifest *unstructured.Unstructured // as it is sent; nil if it isn't known yet
	patch    explain.Patch
	live     *unstructured.Unstructured
	result   *unstructured.Unstructured
	handover *handover.Handover   // the handover to send before the manifest; nil if no field changes owners
	then     *explain.Explanation // explains the apply after the handover; nil without a handover
	// taking is a handover that takes fields from other managers before the manifest is sent. The manifest then needs
	// no force. It is nil if it isn't needed or was already sent. hasTaken is true after it was sent.
	taking   *handover.Handover
	hasTaken bool
	// isReviewed is true if the object had changed, and a new plan does the same as the reviewed plan. If others then
	// change fields that the plan doesn't mention, Apply continues without another dry run.
	isReviewed bool
	// anyVersion sends the patch without a resourceVersion as precondition; see [applier.Write].
	anyVersion bool
	// madeVersion is the resourceVersion in the answer to the plan's request. It is only set if the request changed
	// exactly the planned version of the object. It is nil if the request wasn't sent, or if others may have written in
	// between.
	madeVersion *atomic.Pointer[string]

	sensitive projection.Patterns
}

// Live returns a copy of the live object for which the plan was made. It returns nil if the object doesn't exist or
// couldn't be read.
func (plan *Plan) Live() *unstructured.Unstructured {
	if plan.basis == nil || plan.basis.live == nil {
		return nil
	}
	return plan.basis.live.DeepCopy()
}

// Result returns a copy of the object that the dry run returned, and nil without a dry run. For a no-op it is the live
// object. The apply will return other values for the fields in the plan's Generated and Assigned, and for the versions
// and times in the metadata.
func (plan *Plan) Result() *unstructured.Unstructured {
	switch {
	case plan.basis == nil:
		return nil
	case plan.Action == ActionNoOp:
		return plan.Live()
	case plan.basis.result == nil:
		return nil
	}
	return plan.basis.result.DeepCopy()
}

// OwnershipAfter returns the ownership of [Plan.Result]. It is empty if there is no result. If the keys of list items
// are sensitive values, the ownership has the list as a whole, without its items.
func (plan *Plan) OwnershipAfter() (fieldowner.Ownership, error) {
	owners, err := fieldowner.Read(content(plan.Result()))
	if err != nil || plan.basis == nil {
		return owners, err
	}
	return owners.Redacted(plan.basis.sensitive), nil
}

// Sensitive returns the fields whose values must not be shown, in addition to those that are sensitive in every object
// of the kind. A caller needs it to print values of the object that aren't in the plan. It is empty for a plan that was
// read from JSON.
func (plan *Plan) Sensitive() projection.Patterns {
	if plan.basis == nil {
		return nil
	}
	return slices.Clone(plan.basis.sensitive)
}

// Patch returns a copy of the request that [Planner.Apply] sends. The dry run sent the same, except for the
// preconditions. For a NoOp from [Options.NoOps], nothing is sent, and the body may be missing.
func (plan *Plan) Patch() explain.Patch {
	if plan.basis == nil {
		return explain.Patch{}
	}
	return explain.Patch{Body: bytes.Clone(plan.basis.patch.Body), Options: *plan.basis.patch.Options.DeepCopy()}
}

// complete returns an error if values of the manifest weren't known when the plan was made, since the request lacks
// these values. A plan that was read from JSON is an error, too.
func (plan *Plan) complete() error {
	switch {
	case plan.basis == nil:
		return fmt.Errorf("%s: the plan wasn't made by a Planner of this program: plan again", plan.Object)
	case len(plan.Unknown) > 0:
		return fmt.Errorf("%s: plan again when these values are known: %s", plan.Object,
			projection.JoinPaths(plan.Unknown))
	case len(plan.basis.request.Unknown) > 0:
		return fmt.Errorf("%s: plan again when these values are known: %v", plan.Object, plan.basis.request.Unknown)
	}
	return nil
}

// applier returns the field manager that applies, and the subresource that it applies to.
func (plan *Plan) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: plan.basis.patch.Options.FieldManager, Subresource: plan.Subresource}
}

// content returns the content of an object, nil if there is none.
func content(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	return obj.Object
}

// Format prints the object, the action and the reason for every verb of package fmt. So no verb prints a secret.
func (plan Plan) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s: %s", plan.Action, plan.Object, plan.Reason)
}

// Replacement describes why an object has to be replaced.
type Replacement struct {
	// Evidence is the proof that a replacement is needed.
	Evidence foreign.Text
	// Old is the object to delete, and UID its UID. Without a known UID nothing can be deleted.
	Old identity.Identity
	UID string
	// Fields are the fields that can't change in place, with the reason for each.
	Fields []immutability.Field
	// Hazards describe what else the replacement destroys or interrupts, in addition to the object.
	Hazards []immutability.Hazard
	// Propagation is the deletion policy that is sent. The hazards depend on it.
	Propagation metav1.DeletionPropagation
	// Refusal is the server's refusal to change the object in place, without sensitive values. It is nil if the
	// identity changes.
	Refusal error

	// unproven is the error of a dry run of the create that the server didn't answer; otherwise nil. Without this
	// answer, the plan relies on the text of the server's refusal. Replace then returns an error before it deletes
	// anything.
	unproven error
}
