package immutability

import "slices"

// Refusal says what keeps the object from being changed in place.
type Refusal string

// The kinds of verdict.
const (
	// RefusalNone: the error is not about the object's content, or there is no error.
	RefusalNone Refusal = "None"
	// RefusalImmutable: fields that can't change while the object exists. Replacing works, if [Verdict.Replaceable] says so.
	RefusalImmutable Refusal = "Immutable"
	// RefusalDirectional: fields that may change in one direction only, like the size of a claim, or whose change would leave
	// data behind. The server would accept the new object, but replacing loses what the rule protects.
	RefusalDirectional Refusal = "Directional"
	// RefusalInvalid: the manifest itself isn't accepted. Replacing won't help. When [Verdict.Uncertain] is set, this only
	// means that nothing shows the contrary.
	RefusalInvalid Refusal = "Invalid"
	// RefusalMergeLeftover: the manifest is valid, and so is changing the object to it, but the server-side apply keeps a field
	// that the manifest doesn't mention, and the two don't go together. Replacing isn't needed.
	RefusalMergeLeftover Refusal = "MergeLeftover"
	// RefusalMetadataPrecondition: the manifest carries metadata of another life of the object (uid, resourceVersion, …), or
	// the object is being deleted. The remedy is in the metadata.
	RefusalMetadataPrecondition Refusal = "MetadataPrecondition"
	// RefusalAdmissionDenied: a webhook, a policy or an admission plugin refused the request. What it said isn't the server's
	// knowledge of the fields, and replacing would be a way around it.
	RefusalAdmissionDenied Refusal = "AdmissionDenied"
)

// Field is one thing that the server objects to.
type Field struct {
	// Path is the field as the server prints it, lists by position: "spec.template.spec.volumes[0].secret". Where the
	// server prints a path that doesn't exist (volumeMode for spec.volumeMode), it is the real one. Empty for the
	// object as a whole.
	Path string `json:"path"`
	// Message is what the server says of it, without the field's value and without the diff that some messages end in,
	// since both hold user data. For AdmissionDenied it is the text of the webhook or policy as it came, which may quote
	// any value of the object.
	Message string `json:"message"`
}

// Verdict is what is known of a refused change. The zero value knows nothing and permits nothing.
type Verdict struct {
	// Refusal is the verdict. A mixed set of causes has the kind of the one that is hardest to get around.
	Refusal Refusal
	// Fields are the distinct causes in the server's order. When the manifest isn't valid in itself, they are the
	// reasons for that.
	Fields []Field
	// Uncertain says why the verdict is not proven, in a sentence without a full stop. It is empty for a proven one.
	Uncertain string
	// Leftovers are the paths of the fields that are in the way of a server-side apply, in the live object. Only Probe
	// can find them, and only for MergeLeftover.
	Leftovers []string
	// Remedy is what the user can do other than replacing the object, "" when nothing is known.
	Remedy string
	// Hazards are the consequences of replacing the object. Only Probe fills them, and only for a replaceable verdict.
	Hazards []Hazard
	// Evidence is what the verdict is based on.
	Evidence Evidence

	causes []cause
}

// Replaceable reports whether deleting the object and creating it from the same manifest is known to work and known to
// be the way. It says nothing about what that destroys; see [Hazards].
func (v Verdict) Replaceable() bool {
	return v.Refusal == RefusalImmutable && v.Uncertain == ""
}

// precedence orders the kinds of a mixed set of causes: the first that occurs is the verdict, so that Immutable is left
// only when every cause is. Invalid comes before Directional, because the server has to be asked before it is known
// whether the rest is valid.
var precedence = []Refusal{RefusalAdmissionDenied, RefusalMetadataPrecondition, RefusalInvalid, RefusalDirectional, RefusalMergeLeftover, RefusalImmutable, RefusalNone}

func hardest(a, b Refusal) Refusal {
	for _, k := range precedence {
		if a == k || b == k {
			return k
		}
	}
	return RefusalNone
}

// merge adds the verdict on another cause or error to v.
func (v *Verdict) merge(other Verdict) {
	switch {
	case v.Refusal == "" || v.Refusal == other.Refusal:
		v.Uncertain = firstNonEmpty(v.Uncertain, other.Uncertain)
	case hardest(v.Refusal, other.Refusal) == other.Refusal:
		v.Uncertain = other.Uncertain
	}
	v.Remedy = firstNonEmpty(v.Remedy, other.Remedy)
	v.Refusal = hardest(v.Refusal, other.Refusal)
	for _, f := range other.Fields {
		if !slices.Contains(v.Fields, f) {
			v.Fields = append(v.Fields, f)
		}
	}
	v.causes = append(v.causes, other.causes...)
	for _, f := range other.Evidence.Families {
		if !slices.Contains(v.Evidence.Families, f) {
			v.Evidence.Families = append(v.Evidence.Families, f)
		}
	}
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
