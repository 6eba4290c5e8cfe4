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
	// new object is created with the manifest's values. For an existing object, an ignored field that others own isn't
	// sent, and one that only this field manager owns is sent with the live value, even if the manifest drops it; see
	// [explain.Prepared.For]. Ignored parts of an atomic list or map are also sent with the live value. Ignored fields
	// are no drift, and no reason for a Replace.
	Ignore projection.Patterns
	// Adopt are the field managers whose fields are taken over before the manifest is applied; see
	// [fieldowner.Migrate]. Their fields that the manifest lacks are deleted, unless others own them, too. Without
	// Adopt these fields stay. A field of these managers is no conflict.
	Adopt []string
	// AdoptTools adopts the fields of all known tools; see [fieldowner.Tools] and [Options.Tools].
	AdoptTools bool
	// GiveUp are the fields that this field manager stops owning, and that keep their values. From then on they are
	// ignored, see Ignore. A field without another owner then has no owner. A new object is created with them, and a
	// second write right after that gives them up. The plan warns about a pattern that matches neither the manifest nor
	// the object. With a Prior that was stored without the pattern, it also warns about a field that the manifest lacks
	// and that only others own. Without such a Prior it doesn't, since an earlier apply may have given the field up.
	GiveUp projection.Patterns
	// Clear are fields to delete from the object, no matter who owns them, such as spec.strategy.rollingUpdate if the
	// manifest sets spec.strategy.type to Recreate. Fields that the manifest declares stay. It isn't needed for fields
	// that only this field manager owns: they are deleted when the manifest drops them. A position in a pattern, such
	// as [0], counts in the manifest's list, and so matches nothing in a list that the manifest lacks. The same holds
	// for GiveUp. The plan for an existing object has a warning about a pattern that matches nothing, unless the Prior
	// was stored with the same pattern.
	Clear projection.Patterns
	// ClearBlocking clears the fields that are proven to make the server reject the apply; see
	// [immutability.Verdict.Leftovers].
	ClearBlocking bool
	// LostVersions are versions that the CRD of the kind no longer has, or will lose, such as "example.com/v1beta1".
	// Before the apply, entries of managedFields with one of these versions are changed to the version of the manifest,
	// with the same managers and fields. Otherwise a server rejects each apply to the object with an error of
	// [authresilience.ClassLostVersion].
	LostVersions []string
	// Strip are the fields that are never sent. A field that was applied before and is stripped now is in the plan: the
	// server deletes or resets it, unless others own it.
	Strip projection.Patterns
	// Unknown are the fields whose values aren't known yet. They aren't sent. The plan says what the rest of the
	// manifest changes, without side effects, and can't be applied. A field that a pattern names without wildcards is
	// unknown even if the manifest lacks it.
	Unknown projection.Patterns
	// AllUnknown says that no request can be sent yet, because the cluster or the whole manifest isn't known. The
	// manifest may then have no name, or be nil.
	AllUnknown bool
	// Existing says whether an existing object is taken over, and whether a missing one is created. Otherwise the error
	// is an [explain.ExistingError], also at the apply if the object was created or deleted after the plan. Default:
	// [explain.ExistingTakeOver].
	Existing explain.Existing
	// Subresource is the subresource to apply: "status", "scale" or another that supports apply. The object has to
	// exist, and is never replaced. For "scale", the manifest has the object's apiVersion, kind and metadata, and only
	// spec.replicas. Default: the object itself.
	Subresource string
	// AllowVersionChange does for this request what [Options.AllowVersionChange] does for all.
	AllowVersionChange bool
	// Live is the object as the caller has read it, with its managedFields, such as from an informer. It saves the Get;
	// the dry run is still sent. Without apiVersion and kind, as typed clients return it, it saves the Get only for a
	// no-op. Optional.
	Live *unstructured.Unstructured
	// Propagation is what happens to the dependents of a replaced object. Default: Background, they are deleted after
	// it.
	Propagation metav1.DeletionPropagation
	// the object before fields changed owners for an apply that is planned again since; else nil
	was    *unstructured.Unstructured
	outrun int // how often the plan was refused since others had written to the object
}

// exceptions returns the fields that aren't applied as the manifest has them.
func (r *Request) exceptions() explain.Exceptions {
	return explain.Exceptions{Ignore: r.Ignore, GiveUp: r.GiveUp, Clear: r.Clear, Strip: r.Strip, Unknown: r.Unknown}
}

// handsOver reports whether fields are to change owners.
func (r Request) handsOver() bool {
	return r.AdoptTools || len(r.Adopt)+len(r.GiveUp)+len(r.Clear)+len(r.LostVersions) > 0
}

// propagation returns the policy by which a replacement deletes.
func (r Request) propagation() metav1.DeletionPropagation {
	return cmp.Or(r.Propagation, metav1.DeletePropagationBackground)
}

// clearing returns the request that clears what the verdict proves to be in the way. It reports false if there is
// nothing more to clear.
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
