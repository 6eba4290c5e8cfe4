package immutability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Refusal describes what keeps the object from being changed in place.
type Refusal string

// The kinds of refusal.
const (
	// RefusalNone: the error is not about the object's content, or there is no error.
	RefusalNone Refusal = "None"
	// RefusalImmutable: fields that can't change while the object exists. Replacing works, if [Verdict.Replaceable]
	// says so.
	RefusalImmutable Refusal = "Immutable"
	// RefusalDirectional: fields that may only change in one direction, such as the size of a volume claim, or whose
	// change would leave data behind. The server would accept a new object, but a replacement loses the data that the
	// rule protects.
	RefusalDirectional Refusal = "Directional"
	// RefusalInvalid: the manifest itself is invalid. Replacing won't help. With [CertaintyUnknown] it may also be
	// another refusal that wasn't recognised.
	RefusalInvalid Refusal = "Invalid"
	// RefusalMergeLeftover: the manifest is valid, and the object can be changed to it. But the server-side apply keeps
	// a field that isn't in the manifest, and the result is invalid. Replacing isn't needed.
	RefusalMergeLeftover Refusal = "MergeLeftover"
	// RefusalMetadataPrecondition: the manifest has metadata of an earlier object or version (uid, resourceVersion, …),
	// or the object is being deleted. Correct the metadata.
	RefusalMetadataPrecondition Refusal = "MetadataPrecondition"
	// RefusalAdmissionDenied: a webhook, a policy or an admission plugin refused the request. Its message doesn't say
	// which fields are immutable, and a replacement would bypass the denial.
	RefusalAdmissionDenied Refusal = "AdmissionDenied"
)

// Certainty describes how sure a verdict is.
type Certainty string

// The certainties. The zero value has the meaning of CertaintyUnknown.
const (
	// CertaintyUnknown: it isn't known whether the refusal is of this kind.
	CertaintyUnknown Certainty = "Unknown"
	// CertaintyAssumed: known messages, or answers of the server, suggest it without proving it.
	CertaintyAssumed Certainty = "Assumed"
	// CertaintyProven: known messages, or answers of the server, prove it.
	CertaintyProven Certainty = "Proven"
)

// Verdict says why a change was refused, and whether a replacement helps. The zero value permits no replacement.
type Verdict struct {
	// Refusal is the verdict. If causes are of several kinds, it is the one that is hardest to solve.
	Refusal Refusal
	// Certainty is how certain the verdict is.
	Certainty Certainty
	// Uncertain says why the verdict isn't proven, as a sentence without a full stop. It is empty for a proven one.
	Uncertain string
	// Fields are the distinct causes in the server's order.
	Fields []Field
	// OfNew are the fields for which the server would reject the manifest even as a new object, except those in Fields.
	// There are some only if the manifest itself is invalid. Only Probe finds them.
	OfNew []Field
	// Leftovers are the fields of the live object that make the result of the apply invalid. Only Probe finds them, and
	// only for [RefusalMergeLeftover]. If managedFields don't show the keys of a list, the path is that of the list.
	Leftovers []projection.Path
	// Remedy is what the user can do instead of replacing the object, "" if nothing is known.
	Remedy string
	// Hazards are the consequences of replacing the object. Only Probe fills them, and only for a replaceable verdict.
	Hazards []Hazard
	// Evidence is what the verdict is based on.
	Evidence Evidence

	causes  []cause
	misfits []Field // see OfCreate
}

// Replaceable reports whether deleting the object and creating it from the same manifest is known to work and known to
// be necessary. It doesn't consider what the replacement destroys; see [Hazards].
func (v Verdict) Replaceable() bool {
	return v.Refusal == RefusalImmutable && v.Certainty == CertaintyProven
}

// refusalWords are the refusals in words.
var refusalWords = map[Refusal]string{
	RefusalNone:                 "refused",
	RefusalImmutable:            "can't change in place, and it isn't known whether replacing it works",
	RefusalDirectional:          "can change in one direction only, and replacing it loses what that protects",
	RefusalInvalid:              "invalid",
	RefusalMergeLeftover:        "a field that the manifest doesn't mention is in the way",
	RefusalMetadataPrecondition: "the manifest's metadata doesn't fit the object",
	RefusalAdmissionDenied:      "denied by admission",
}

// String returns the verdict in one line: the refusal, the fields, and [Verdict.Advice].
func (v Verdict) String() string {
	words := refusalWords[v.Refusal]
	if v.Replaceable() {
		words = "can't change in place, and replacing it works"
	}
	return fmt.Sprintf("%s: %s%s", words, list(v.Fields), v.Advice())
}

// Advice returns the texts of OfNew, Leftovers, Remedy and Uncertain, separated by semicolons or in brackets. It is
// empty if nothing is known.
func (v Verdict) Advice() string {
	var text string
	if len(v.OfNew) > 0 {
		text = "; a new object would be invalid, too: " + list(v.OfNew)
	}
	if len(v.Leftovers) > 0 {
		paths := make([]string, len(v.Leftovers))
		for i, p := range v.Leftovers {
			paths[i] = p.String()
		}
		text += "; in the way: " + strings.Join(paths, ", ")
	}
	if v.Remedy != "" {
		text += fmt.Sprintf("; %s", foreign.Text(v.Remedy))
	}
	if v.Uncertain != "" {
		text += fmt.Sprintf(" (uncertain: %s)", foreign.Text(v.Uncertain))
	}
	return text
}

// prove makes the verdict a proven one.
func (v *Verdict) prove(refusal Refusal) {
	v.Refusal, v.Certainty, v.Uncertain = refusal, CertaintyProven, ""
}

// doubt sets how sure the verdict is, and why not more.
func (v *Verdict) doubt(certainty Certainty, why string) {
	v.Certainty, v.Uncertain = certainty, why
}

// precedence orders the kinds of a mixed set of causes: the first that occurs is the verdict, so that Immutable is left
// only when every cause is. Invalid comes before Directional, because the server has to be asked before it is known
// whether the rest is valid.
var precedence = []Refusal{
	RefusalAdmissionDenied, RefusalMetadataPrecondition, RefusalInvalid, RefusalDirectional, RefusalMergeLeftover,
	RefusalImmutable, RefusalNone,
}

// merge adds the verdict on another cause or error to v, and its fields, be they known or not.
func (v *Verdict) merge(other Verdict) {
	rank := func(r Refusal) int { return slices.Index(precedence, r) }
	switch {
	case v.Refusal == "" || rank(other.Refusal) < rank(v.Refusal),
		v.Refusal == other.Refusal && v.Certainty == CertaintyProven:
		v.Refusal, v.Certainty, v.Uncertain = other.Refusal, other.Certainty, other.Uncertain
	}
	if v.Remedy == "" {
		v.Remedy = other.Remedy
	}
	v.Fields = append(v.Fields, other.Fields...)
	v.causes = append(v.causes, other.causes...)
	for _, text := range other.Evidence.Texts {
		if !slices.Contains(v.Evidence.Texts, text) {
			v.Evidence.Texts = append(v.Evidence.Texts, text)
		}
	}
}

// allKnown reports whether every cause has a known text.
func (v Verdict) allKnown() bool {
	return !slices.ContainsFunc(v.causes, func(c cause) bool { return !c.known })
}

// hasFixed reports whether a cause is that of a known immutable field. Such a cause is never due to a leftover of the
// merge: what is left over is what the live object has, and doesn't differ from it.
func (v Verdict) hasFixed() bool {
	return slices.ContainsFunc(v.causes, func(c cause) bool { return c.fixed })
}

// sharesCause reports whether one of the causes is among the other verdict's: then it isn't a leftover of the merge
// that the server objects to.
func (v Verdict) sharesCause(other Verdict) bool {
	return slices.ContainsFunc(v.causes, func(a cause) bool {
		return slices.ContainsFunc(other.causes, a.isLike)
	})
}
