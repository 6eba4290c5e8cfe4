package immutability

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Classify returns the verdict on an error of a refused update or apply. It reads the distinct causes of the API status
// in err, wherever that is wrapped (%w, errors.Join, apimachinery's Aggregate). The verdict is [RefusalNone] for nil,
// for errors without a status, and for statuses that aren't about the object's content.
//
// The verdict is replaceable only for built-in kinds, and only for fields with this property: a server that refuses to
// change them still runs every check of a create, so the error would also show an invalid value. Only [Probe] finds out
// whether the caller may create the object, and whether admission allows it. The fields have no Path yet; see
// [Verdict.Locate].
func Classify(err error) Verdict {
	found := answer.Statuses(err)
	if len(found) == 0 {
		return Verdict{Refusal: RefusalNone, Certainty: CertaintyProven}
	}
	verdict := ClassifyStatus(found[0])
	for _, status := range found[1:] {
		verdict.merge(ClassifyStatus(status))
	}
	verdict.Fields = distinct(verdict.Fields)
	if len(found) > 1 && verdict.Refusal == RefusalImmutable {
		verdict.Refusal = RefusalInvalid
		verdict.doubt(CertaintyUnknown, "there are several API errors, and they may speak of different objects")
	}
	return verdict
}

// ClassifyStatus is [Classify] for a status that isn't in an error, such as one from a file.
func ClassifyStatus(status metav1.Status) Verdict {
	if text, denied := answer.Admission(status); denied {
		return Verdict{Refusal: RefusalAdmissionDenied, Certainty: CertaintyProven,
			Fields: []Field{{Message: foreign.Text(text)}}}
	}
	if !isAboutObject(status) {
		return Verdict{Refusal: RefusalNone, Certainty: CertaintyProven, misfits: misfits(status)}
	}
	var verdict Verdict
	for _, c := range answer.DistinctCauses(status.Details) {
		verdict.merge(classifyCause(answer.ObjectKind(status.Details), c))
	}
	verdict.Fields = distinct(verdict.Fields)
	if len(verdict.Fields) == 0 {
		verdict.Refusal = RefusalInvalid
		verdict.doubt(CertaintyUnknown, "the error lists no causes")
	}
	return verdict
}

// misfits returns the field of a manifest that no server could apply, since it doesn't fit the schema.
func misfits(status metav1.Status) []Field {
	field, problem := answer.WrongType(status)
	if problem == "" {
		return nil
	}
	return []Field{{Text: foreign.Text(field), Message: foreign.Text(problem)}}
}

// isAboutObject reports whether the status is the API server's 422 about an object. A proxy's 422 has a body that
// client-go could not read, and a 422 about PatchOptions and the like is about the request.
func isAboutObject(status metav1.Status) bool {
	_, foreign := answer.Foreign(status)
	if foreign || answer.AboutOptions(status) {
		return false
	}
	return status.Reason == metav1.StatusReasonInvalid || status.Reason == "" &&
		status.Code == http.StatusUnprocessableEntity
}

// refusalOf returns what a family of texts means.
var refusalOf = map[answer.Family]Refusal{
	answer.FieldIsImmutable:    RefusalImmutable,
	answer.ImmutableSpec:       RefusalImmutable,
	answer.ForbiddenTransition: RefusalImmutable,
	answer.OneWayRule:          RefusalDirectional,
	answer.BoundToName:         RefusalInvalid,
	answer.DefaultInTheWay:     RefusalMergeLeftover,
	answer.MetadataRule:        RefusalMetadataPrecondition,
}

// Why a verdict from texts isn't proven.
const (
	textUnknown = "no known message about immutable fields; a dry-run create would show whether the manifest is " +
		"valid in itself"
	checksSkipped = "an update that is refused for this field does not run all checks of a create; a dry-run create would"
	bothFields    = "a manifest that holds both fields gets the same message; a dry-run create would show which"
)

func classifyCause(kind string, c answer.Cause) Verdict {
	text, place, known := answer.FindField(kind, c)
	if !known {
		return Verdict{
			Refusal: RefusalInvalid, Certainty: CertaintyUnknown, Uncertain: textUnknown,
			Fields: []Field{{Text: foreign.Text(answer.RealPath(kind, c.Field)), Message: foreign.Text(c.Message())}},
			causes: []cause{{Cause: c}},
		}
	}
	refusal := refusalOf[text.Family]
	verdict := Verdict{
		Fields:   []Field{{Text: foreign.Text(answer.RealPath(kind, c.Field)), Message: foreign.Text(text.Message(c))}},
		Remedy:   text.Remedy,
		Evidence: Evidence{Texts: []string{string(text.Family)}},
		causes:   []cause{{c, true, refusal == RefusalImmutable}},
	}
	verdict.prove(refusal)
	if place.Real != "" {
		verdict.Fields[0].Text = foreign.Text(place.Real)
	}
	switch {
	case refusal == RefusalImmutable && !place.AllChecks:
		verdict.doubt(CertaintyAssumed, checksSkipped)
	case refusal == RefusalMergeLeftover:
		verdict.doubt(CertaintyAssumed, bothFields)
	}
	return verdict
}
