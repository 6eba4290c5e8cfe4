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

// Action is what applying a manifest will do.
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

// Deferral is why a plan is Deferred.
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
	// Reason is one line that says why it is this action.
	Reason string
	// Deferral is the reason of a Deferred plan; empty for every other action.
	Deferral Deferral
	// Explanation says what changes, and why. In a Replace it compares the old object with the new one as the server
	// would create it, see [explain.Replace]. In a NoOp from [Options.NoOps], Before, After and Baseline are empty. In
	// a Conflict the changes are those of a forced apply, if a dry run of it was possible. In a Deferred plan it
	// explains the dry run of a part of the manifest, if there was one ([DeferralUnknownValues], [DeferralSet]). In
	// every other Deferred plan, Before and Baseline are empty. After then has the values that the server's dry run
	// returned ([DeferralUnreadable]), or the values of the manifest, with lists as a whole. With [Request].AllUnknown,
	// After is empty, too.
	explain.Explanation
	// Replacement has the details of a Replace; nil for every other action.
	Replacement *Replacement
	// Conflicts are the fields that other managers hold; only for the action Conflict.
	Conflicts []fieldowner.Conflict
	// Adjustments are what was done to the manifest before it was sent.
	Adjustments []projection.Adjustment
	// Requests is the number of requests that planning this object took. Requests for all objects, such as discovery,
	// aren't counted.
	Requests int

	basis *basis
}

// basis is what a plan was made from, and what carrying it out needs. A plan that was read from JSON has none.
type basis struct {
	request  Request
	manifest *unstructured.Unstructured // as it is sent; nil if it isn't known yet
	patch    explain.Patch
	live     *unstructured.Unstructured
	result   *unstructured.Unstructured
	handover *handover.Handover   // before the manifest is sent; nil if nothing changes owners
	then     *explain.Explanation // of the apply after the handover
	// taking takes fields from others before the manifest is sent, where the plan's request would take them by force.
	// It is nil if that isn't needed or was done; hasTaken says that it was done.
	taking   *handover.Handover
	hasTaken bool
	// isReviewed says that the plan was made again because the object had changed, and does what was reviewed. It needs
	// no dry run to go on if others then change fields that it doesn't speak of.
	isReviewed bool
	// anyVersion sends the patch for the object in whatever version; see [applier.Write].
	anyVersion bool
	// madeVersion is the resourceVersion of the answer to the plan's request, if the request was for the version that
	// was planned with. It is nil if the request wasn't sent, or if others may have written in between.
	madeVersion *atomic.Pointer[string]

	sensitive projection.Patterns
}

// Live returns a copy of the live object for which the plan was made, nil if it doesn't exist or couldn't be read.
func (plan *Plan) Live() *unstructured.Unstructured {
	if plan.basis == nil || plan.basis.live == nil {
		return nil
	}
	return plan.basis.live.DeepCopy()
}

// Result returns a copy of the object that the server returned for the dry run, nil if there was none. For a no-op it
// is the live object. The apply will have other values in the fields that the plan's Generated and Assigned list, and
// in the versions and times in the metadata.
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

// OwnershipAfter returns the ownership of [Plan.Result], empty if there is no result. If the keys of a list's items are
// sensitive values, the result has the list as a whole, and not its items.
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

// complete returns an error if the plan was made without values that weren't known: what it would write is not what is
// meant.
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

// applier returns who applies.
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

// Format prints the object, the action and the reason for every verb of package fmt, so that none shows a secret.
func (plan Plan) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s: %s", plan.Action, plan.Object, plan.Reason)
}

// Replacement describes why an object has to be replaced.
type Replacement struct {
	// Evidence says what proves that a replacement is needed.
	Evidence foreign.Text
	// Old is the object to delete, and UID its UID. Without a known UID nothing can be deleted.
	Old identity.Identity
	UID string
	// Fields are the fields that can't change in place, with the reason for each.
	Fields []immutability.Field
	// Hazards are what the replacement destroys or interrupts besides the object itself.
	Hazards []immutability.Hazard
	// Propagation is the deletion policy that is sent. The hazards depend on it.
	Propagation metav1.DeletionPropagation
	// Refusal is the server's refusal to change the object in place, without sensitive values. It is nil if the
	// identity changes.
	Refusal error

	// unproven is why no dry run showed that the new object can be created; known texts may do for a plan to replace.
	unproven error
}
