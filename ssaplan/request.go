package ssaplan

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Request is the input of [Planner.Plan].
type Request struct {
	// Manifest is the desired object. Required. It is not modified.
	Manifest *unstructured.Unstructured
	// Prior is the stored state of the last apply. With it the plan distinguishes edits from drift with certainty and
	// finds changes of identity. Optional.
	Prior *explain.State
	// Ignore are the fields that aren't changed in an existing object, such as the replicas that an autoscaler sets. A
	// new object is created with the manifest's values. For an existing object, an ignored field isn't sent if others
	// own it. If only this field manager owns it, it is sent with the live value, even if the manifest drops it; see
	// [explain.Prepared.For]. Ignored parts of an atomic list or map are also sent with the live value. Ignored fields
	// are never reported as drift, and never cause a Replace.
	Ignore projection.Patterns
	// Adopt are the field managers whose fields are taken over before the manifest is applied; see
	// [fieldowner.Migrate]. Their fields that the manifest lacks are deleted, unless others own them, too. Without
	// Adopt these fields stay. A field of these managers is no conflict.
	Adopt []string
	// AdoptTools adopts the fields of all known tools; see [fieldowner.Tools] and [Options.Tools].
	AdoptTools bool
	// GiveUp are the fields that this field manager stops owning, and that keep their values. From then on they are
	// ignored, see Ignore. A field without another owner then has no owner. A new object is created with these fields,
	// and a second write gives them up right after the create. The plan warns about a pattern that matches neither the
	// manifest nor the object. It also warns if a field of the object isn't in the manifest and has only other owners.
	// This second warning needs a Prior that was stored without the pattern. Without such a Prior, an earlier apply may
	// have given up the field.
	GiveUp projection.Patterns
	// Clear are fields to delete from the object, no matter who owns them, such as spec.strategy.rollingUpdate if the
	// manifest sets spec.strategy.type to Recreate. Fields that the manifest declares stay. Fields that only this field
	// manager owns don't need Clear: they are deleted when the manifest drops them. An index in a pattern, such as [0],
	// is an index in the manifest's list. If the manifest lacks the list, the pattern matches nothing. An index in
	// GiveUp has the same meaning. The plan for an existing object has a warning about a pattern that matches nothing,
	// unless the Prior was stored with the same pattern.
	Clear projection.Patterns
	// ClearBlocking clears the fields that make the server reject the apply, if dry runs prove that; see
	// [immutability.Verdict.Leftovers].
	ClearBlocking bool
	// LostVersions are versions that the CRD of the kind no longer has, or will remove, such as "example.com/v1beta1".
	// Before the apply, entries of managedFields with one of these versions are changed to the version of the manifest,
	// with the same managers and fields. Otherwise a server rejects each apply to the object with an error of
	// [authresilience.ClassLostVersion].
	LostVersions []string
	// Strip are the fields that are never sent. If a stripped field was applied before, the server deletes or resets
	// it, unless others own it. The plan contains this change.
	Strip projection.Patterns
	// Unknown are the fields whose values aren't known yet. They aren't sent. The plan has the changes of the rest of
	// the manifest, and can't be applied. A field that a pattern names without wildcards is unknown even if the
	// manifest lacks it.
	Unknown projection.Patterns
	// AllUnknown means that no request can be sent yet, because the cluster or the whole manifest isn't known. The
	// manifest may then be nil or have no name.
	AllUnknown bool
	// Existing says whether an existing object is taken over, and whether a missing object is created. If that isn't
	// permitted, Plan returns an [explain.ExistingError]. Apply returns it if the object was created or deleted after
	// the plan. Default: [explain.ExistingTakeOver].
	Existing explain.Existing
	// Subresource is the subresource to apply: "status", "scale" or another that supports apply. The object has to
	// exist, and is never replaced. For "scale", the manifest has the object's apiVersion, kind and metadata, and only
	// spec.replicas. Default: the object itself.
	Subresource string
	// AllowVersionChange is [Options.AllowVersionChange] for this request only.
	AllowVersionChange bool
	// Live is the object that the caller has read, with its managedFields, such as from an informer. It saves the Get;
	// the dry run is still sent. An object from a typed client has no apiVersion and kind. It saves the Get only if the
	// plan is a no-op. Optional.
	Live *unstructured.Unstructured
	// Propagation is what happens to the dependents of a replaced object. Default: Background, which deletes the
	// dependents after the object.
	Propagation metav1.DeletionPropagation
	// was is the object before the handover. Only the plan for the apply after a handover has it; otherwise it is nil.
	was       *unstructured.Unstructured
	lostRaces int // how often the server rejected the request because others had written the object
}

// exceptions returns the fields that aren't simply applied with the manifest's values.
func (r *Request) exceptions() explain.Exceptions {
	return explain.Exceptions{Ignore: r.Ignore, GiveUp: r.GiveUp, Clear: r.Clear, Strip: r.Strip, Unknown: r.Unknown}
}

// handsOver reports whether the request needs a handover: a write that changes owners of fields.
func (r Request) handsOver() bool {
	return r.AdoptTools || len(r.Adopt)+len(r.GiveUp)+len(r.Clear)+len(r.LostVersions) > 0
}

// propagation returns the deletion policy for a replaced object.
func (r Request) propagation() metav1.DeletionPropagation {
	return cmp.Or(r.Propagation, metav1.DeletePropagationBackground)
}

// clearing returns the request with Clear extended by the blocking fields, if the verdict proves that they block the
// apply. It reports false if there are no more fields to clear.
func (r Request) clearing(verdict immutability.Verdict) (Request, bool) {
	if verdict.Refusal != immutability.RefusalMergeLeftover || verdict.Certainty != immutability.CertaintyProven {
		return r, false
	}
	known := len(r.Clear)
	for _, p := range verdict.Leftovers {
		if !r.Clear.Match(p) {
			r.Clear = append(slices.Clip(r.Clear), projection.PatternOf(p))
		}
	}
	return r, len(r.Clear) > known
}
