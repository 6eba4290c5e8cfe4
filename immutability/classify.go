package immutability

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/apistatus"
)

// Classify returns the verdict on an error of a refused update or apply. It looks at the API status in err, wherever it
// is wrapped (%w, [errors.Join], apimachinery's Aggregate), and of that status only at the distinct causes. The verdict
// is [RefusalNone] for nil, for errors without a status, and for statuses that don't speak of the object's content.
//
// A verdict from texts is replaceable only for built-in kinds, for fields whose update runs every check that a create
// would run. Whether the user may create, and whether admission lets it pass, only [Probe] can tell.
func Classify(err error) Verdict {
	found := apistatus.All(err)
	if len(found) == 0 {
		return Verdict{Refusal: RefusalNone}
	}
	verdict := ClassifyStatus(found[0])
	for _, status := range found[1:] {
		verdict.merge(ClassifyStatus(status))
	}
	if len(found) > 1 && verdict.Refusal == RefusalImmutable {
		verdict.Refusal, verdict.Uncertain = RefusalInvalid, "there are several API errors, and they may speak of different objects"
	}
	return verdict
}

// ClassifyStatus is [Classify] for a status, as a server returns it and as it can be read from a file.
func ClassifyStatus(status metav1.Status) Verdict {
	if message, denied := denial(status); denied {
		return Verdict{Refusal: RefusalAdmissionDenied, Fields: []Field{{Message: message}}}
	}
	if !speaksOfObject(status) {
		return Verdict{Refusal: RefusalNone}
	}
	kind := objectKind(status.Details)
	var verdict Verdict
	for _, c := range distinctCauses(status.Details) {
		verdict.merge(classifyCause(kind, c))
	}
	if len(verdict.Fields) == 0 {
		return Verdict{Refusal: RefusalInvalid, Uncertain: "the error lists no causes"}
	}
	return verdict
}

// speaksOfObject reports whether the status is the API server's 422 about an object. A proxy's 422 has a body that
// client-go could not read, and a 422 about PatchOptions and the like is about the request.
func speaksOfObject(status metav1.Status) bool {
	invalid := status.Reason == metav1.StatusReasonInvalid || status.Reason == "" && status.Code == http.StatusUnprocessableEntity
	if !invalid {
		return false
	}
	return status.Details == nil || status.Details.Group != "meta.k8s.io" && !fromElsewhere(status.Details)
}

// fromElsewhere reports whether client-go made up the status because the response was none of the API server's.
func fromElsewhere(details *metav1.StatusDetails) bool {
	return details != nil && slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

func objectKind(details *metav1.StatusDetails) string {
	if details == nil {
		return ""
	}
	if details.Group == "" {
		return details.Kind
	}
	return details.Group + "/" + details.Kind
}

func classifyCause(kind string, c cause) Verdict {
	verdict := Verdict{
		Refusal:   RefusalInvalid,
		Fields:    []Field{{Path: realPath(kind, c.field), Message: c.message()}},
		Uncertain: "no known text about immutable fields; a dry-run create would tell whether the manifest is valid in itself",
		causes:    []cause{c},
	}
	p, w := lookUp(kind, c)
	if p == nil {
		return verdict
	}
	verdict.Refusal = p.verdict
	verdict.causes[0].known, verdict.causes[0].fixed = true, p.verdict == RefusalImmutable
	verdict.Fields[0].Message = c.knownMessage(p.text)
	if w.real != "" {
		verdict.Fields[0].Path = w.real
	}
	verdict.Evidence.Families = []Family{p.family}
	verdict.Uncertain, verdict.Remedy = p.verdict.caveat(w.checks), p.remedy
	return verdict
}

// caveat says what a known text leaves open.
func (k Refusal) caveat(checks checks) string {
	switch {
	case k == RefusalImmutable && checks == fewer:
		return "an update that is refused for this field does not run all checks of a create; a dry-run create would"
	case k == RefusalMergeLeftover:
		return "a manifest that holds both fields gets the same text; a dry-run create would tell"
	}
	return ""
}
