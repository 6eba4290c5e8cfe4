package ssaplan

import (
	"bytes"
	"fmt"
	"slices"

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
	// ActionReplace: the object can't become what the manifest declares; it takes another object.
	ActionReplace Action = "Replace"
	// ActionConflict: without force, the server refuses because other managers own fields with other values.
	ActionConflict Action = "Conflict"
	// ActionDeferred: no plan can be made yet, or only a part of one; Deferral and Reason say why.
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
	// DeferralUnreadable: the caller may apply, but not read the object. The plan's After is what would be there.
	DeferralUnreadable Deferral = "Unreadable"
	// DeferralUnknownValues: values of the manifest aren't known yet, and without them there is nothing to say.
	DeferralUnknownValues Deferral = "UnknownValues"
	// DeferralNoDryRun: an admission webhook doesn't support dry runs, so the server doesn't try.
	DeferralNoDryRun Deferral = "NoDryRun"
	// DeferralSet: the server refuses the object as things are, and what decides that changes with the same set
	// (package set).
	DeferralSet Deferral = "SameSet"
)

// Request is what to plan.
type Request struct {
	// Manifest is the desired object. Required. It is not modified.
	Manifest *unstructured.Unstructured
	// Prior is what the host remembers of the last apply. With it the plan tells edits from drift for certain and finds
	// changes of identity. Optional.
	Prior *explain.State
	// Ignore are the fields that are left to others, such as the replicas that an autoscaler sets. An object is created
	// with the manifest's values. Of one that exists they are left out where others own them, and sent with the live
	// values where only we do, so that nothing changes there; see [explain.Ignored.Leave]. So is what only the object
	// has in a list or map that the manifest declares and that has one owner as a whole. They are no drift, and no
	// reason for a Replace.
	Ignore projection.Patterns
	// Adopt are the field managers from which the fields are taken over that they have of the object, see
	// [fieldowner.Migrate], before the manifest is applied. What of theirs the manifest lacks, and nobody else has,
	// goes; without this it stays behind. Conflicts with them are none.
	Adopt []string
	// AdoptTools adopts from all tools that act for the same purpose, see [fieldowner.Tools] and [Options.Tools].
	AdoptTools bool
	// GiveUp are the fields that are no longer owned and keep their values. They are ignored then, see Ignore; what
	// others don't own has no owner. An object is created with them, and they are given up by a second write right
	// after that.
	GiveUp projection.Patterns
	// Clear are fields that the object shall not have any more, no matter who owns them, such as
	// spec.strategy.rollingUpdate when the manifest sets spec.strategy.type to Recreate. What the manifest declares
	// stays. Fields that the manager alone owns go anyway when the manifest drops them. A position is that of an item
	// of the manifest, as in GiveUp, and names nothing in a list that the manifest lacks.
	Clear projection.Patterns
	// ClearBlocking clears the fields that are proven to be the reason why the server refuses the apply; see
	// [immutability.Verdict.Leftovers].
	ClearBlocking bool
	// LostVersions are versions that the CRD of the kind no longer has, or is going to lose, such as
	// "example.com/v1beta1". Before the manifest is sent, the entries of managedFields that are in one of these are
	// moved to the version of the manifest, with their managers and fields. Nothing can be applied to an object
	// otherwise: the error is of [authresilience.ClassLostVersion].
	LostVersions []string
	// Strip are the fields that are never sent. What happens to a field that was applied before and is stripped now is
	// part of the plan: nobody else owning it, the server deletes or resets it.
	Strip projection.Patterns
	// Unknown are the fields whose values aren't known yet. They are not sent, and the plan leaves them out: it says
	// what else of the manifest changes, without side effects. A pattern without wildcards counts even if the manifest
	// lacks the field. Such a plan can't be applied.
	Unknown projection.Patterns
	// AllUnknown says that nothing can be asked yet, because the cluster or the whole manifest isn't known, which may
	// lack its name then or be nil.
	AllUnknown bool
	// Existing says whether an object that is there is taken over, and one that isn't is created. Else the error is an
	// [explain.ExistingError], also if that changes before a plan is carried out. Default: [explain.ExistingTakeOver].
	Existing explain.Existing
	// Subresource is what of the object to apply: "status", "scale" or another that the server applies. The object has
	// to be there, and is never replaced. Of a scale, the manifest is the object's with no more than spec.replicas.
	// Default: the object itself.
	Subresource string
	// AllowVersionChange does for this request what [Options.AllowVersionChange] does for all.
	AllowVersionChange bool
	// Live is the object as the host has it already, with its managedFields, such as from an informer. It saves the
	// Get; the dry run still asks the server. One without apiVersion and kind, as typed clients read it, saves the Get
	// of a no-op. Optional.
	Live *unstructured.Unstructured
	// Propagation is what happens to the dependents of an object that is to be replaced. Default: Background, they are
	// deleted after it.
	Propagation metav1.DeletionPropagation
	was         *unstructured.Unstructured // the object before fields changed hands for an apply that is planned again since; else nil
}

// Plan is the answer to a [Request].
type Plan struct {
	// Object is the manifest's identity, with the namespace that the object lives in.
	Object identity.Identity
	// Subresource is that of the request.
	Subresource string
	Action      Action
	// Reason says in a line why it is this action.
	Reason string
	// Deferral is the reason of a Deferred plan; empty for every other action.
	Deferral Deferral
	// Explanation is what changes, and why. In a Replace it compares the old object with the new one as the server
	// would create it, see [explain.Replace]. In a NoOp that [Options.NoOps] knew, Before and After are empty. In a
	// Conflict the changes are those that a forced apply would make, if the server could try it. In a Deferred plan
	// Before is empty, and After is what the server would make of the manifest if it could be asked
	// ([DeferralUnreadable]), and else what the manifest declares, with lists as a whole.
	explain.Explanation
	// Replacement says more about a Replace; nil for every other action.
	Replacement *Replacement
	// Conflicts are the fields that other managers hold; only for the action Conflict.
	Conflicts []fieldowner.Conflict
	// Adjustments are what was done to the manifest before it was sent.
	Adjustments []projection.Adjustment
	// Requests is the number of requests that planning this object took, those for all objects not counted, such as
	// discovery.
	Requests int

	basis *basis
}

// basis is what a plan was made from, and what carrying it out needs. A plan that was read from JSON has none.
type basis struct {
	request  Request
	manifest *unstructured.Unstructured // as it is sent; nil if it isn't known yet
	patch    Patch
	live     *unstructured.Unstructured
	result   *unstructured.Unstructured
	handover *handover.Handover // before it is sent; nil if nothing changes hands
	then     *explain.Explanation
	// anyVersion sends the patch for the object in whatever version; see [applier.Write].
	anyVersion bool

	sensitive projection.Patterns
}

// Live returns a copy of the object that the plan was made for, nil if there is none or it couldn't be read.
func (plan *Plan) Live() *unstructured.Unstructured {
	if plan.basis == nil || plan.basis.live == nil {
		return nil
	}
	return plan.basis.live.DeepCopy()
}

// Result returns a copy of the object as the server would make it, nil if the server couldn't tell. Of a no-op it is
// the live object. What Generated and Assigned name is made up in it, and what the server assigns to a new object, too.
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

// OwnershipAfter returns who owns which fields of [Plan.Result]. It is empty if there is none. A list whose items are
// named by sensitive values is in it as a whole.
func (plan *Plan) OwnershipAfter() (fieldowner.Ownership, error) {
	owners, err := fieldowner.Read(content(plan.Result()))
	if err != nil || plan.basis == nil {
		return owners, err
	}
	return owners.Shown(plan.basis.sensitive), nil
}

// Sensitive returns the fields whose values must not be shown, beside those that are sensitive in every object of the
// kind. A caller that shows other values of the object than the plan does needs it. It is empty for a plan that was
// read from JSON.
func (plan *Plan) Sensitive() projection.Patterns {
	if plan.basis == nil {
		return nil
	}
	return slices.Clone(plan.basis.sensitive)
}

// Patch returns a copy of what Apply sends, and what the dry run sent but for its guards. A NoOp that [Options.NoOps]
// knew sends nothing, and may lack the body.
func (plan *Plan) Patch() Patch {
	if plan.basis == nil {
		return Patch{}
	}
	return Patch{Body: bytes.Clone(plan.basis.patch.Body), Options: *plan.basis.patch.Options.DeepCopy()}
}

// content returns the content of an object, nil if there is none.
func content(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	return obj.Object
}

// Format prints the object, the action and the reason whatever the verb, so that no verb shows a secret.
func (plan Plan) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s: %s", plan.Action, plan.Object, plan.Reason)
}

// Replacement describes why an object has to be replaced.
type Replacement struct {
	// Evidence is what proves it.
	Evidence foreign.Text
	// Old is the object that goes away, and UID its UID. Without a known UID nothing can be deleted.
	Old identity.Identity
	UID string
	// Fields are the fields that can't change in place, with the reason for each.
	Fields []immutability.Field
	// Hazards are what the replacement destroys or interrupts beside the object itself.
	Hazards []immutability.Hazard
	// Propagation is the policy that is sent with the delete, which the hazards follow from.
	Propagation metav1.DeletionPropagation
	// Refusal is the server's refusal to change the object in place, without sensitive values; nil for another
	// identity.
	Refusal error

	// unproven is why no dry run showed that the new object can be created; known texts may do for a plan to replace.
	unproven error
}

// Covers reports whether now does no more than the replacement that was reviewed: it may have fewer hazards. Either may
// be nil; nil covers nil alone.
func (reviewed *Replacement) Covers(now *Replacement) bool {
	if reviewed == nil || now == nil {
		return reviewed == now
	}
	return now.Old == reviewed.Old && now.UID == reviewed.UID && now.Propagation == reviewed.Propagation &&
		immutability.SameFields(now.Fields, reviewed.Fields) &&
		!slices.ContainsFunc(now.Hazards, func(h immutability.Hazard) bool { return !slices.Contains(reviewed.Hazards, h) })
}

// Patch is the request of a server-side apply, see [explain.Patch].
type Patch = explain.Patch
