package authresilience

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/answer"
)

// classifyStatus classifies the answer of a server. Where a reason is given it counts, else the HTTP code; texts count
// only where server and plugins answer with the same reason and code for different things.
func classifyStatus(status metav1.Status) Class {
	if text, foreign := answer.Foreign(status); foreign {
		return foreignClass(int(status.Code), text) // client-go has no reason of its own for a 502
	}
	if class := admissionClass(status.Message); class != ClassUnknown {
		return class
	}
	switch code := codeOf(status); code {
	case http.StatusUnauthorized:
		return ClassAuthentication
	case http.StatusForbidden:
		return forbiddenClass(status)
	case http.StatusNotFound:
		return notFoundClass(status)
	case http.StatusConflict:
		return conflictClass(status)
	case http.StatusUnprocessableEntity:
		return invalidClass(status)
	case http.StatusBadRequest:
		return classIn(answer.BadRequestTexts, status.Message).or(ClassBadRequest)
	case http.StatusInternalServerError:
		return classIn(answer.ServerErrorTexts, status.Message).or(ClassServerFault)
	default:
		return classOfCode(code)
	}
}

func codeOf(status metav1.Status) int {
	if code, ok := answer.ReasonCodes[status.Reason]; ok {
		return code
	}
	return int(status.Code)
}

// classOfCode classifies an answer of which only the code says something.
func classOfCode(code int) Class {
	switch code {
	case http.StatusGone:
		return ClassOutdated
	case http.StatusRequestEntityTooLarge:
		return ClassTooLarge
	case http.StatusTooManyRequests:
		return ClassThrottled
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return ClassUnavailable
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return ClassTimeout
	}
	switch {
	case code >= 500:
		return ClassServerFault
	case code >= 400:
		return ClassBadRequest
	case code >= 300:
		return ClassUnexpectedResponse
	}
	return ClassUnknown
}

// foreignClass classifies an answer that isn't a Status. That is what proxies send, but also kube-apiserver for a
// path that it doesn't serve and under overload; and discovery looks at no Status, not even at one that is sent.
//
// A 403 of that kind is the refusal of an identity: admission always answers with a Status, so what remains is the
// authorization of discovery requests and the access control of a gateway.
func foreignClass(code int, text string) Class {
	switch code {
	case http.StatusUnauthorized:
		return ClassAuthentication
	case http.StatusForbidden:
		return ClassAuthorization
	case http.StatusNotFound, http.StatusBadRequest:
		return classIn(answer.ForeignTexts, text).or(ClassUnexpectedResponse)
	case http.StatusConflict, http.StatusUnprocessableEntity, http.StatusGone:
		return ClassUnexpectedResponse
	}
	class := classOfCode(code)
	if class == ClassBadRequest {
		return ClassUnexpectedResponse
	}
	return class
}

// admissionClass recognises the refusals that keep neither to a code nor to a reason: a webhook chooses both, and a
// policy the reason.
func admissionClass(message string) Class {
	if class := classIn(answer.WebhookTexts, message); class != ClassUnknown {
		return class
	}
	refusal, ok := answer.Refusal(message)
	if !ok {
		return ClassUnknown
	}
	return classIn(answer.PolicyTexts, refusal)
}

func forbiddenClass(status metav1.Status) Class {
	if answer.HasCause(status, answer.NamespaceTerminating) {
		return ClassNamespaceTerminating
	}
	refusal, ok := answer.Refusal(status.Message)
	if !ok {
		return ClassForbidden
	}
	if d, ok := answer.ParseDenial(refusal); ok {
		return classOfDenial(d)
	}
	// "[" starts a list of refusals
	return classIn(answer.ForbiddenTexts, strings.TrimPrefix(refusal, "[")).or(ClassAdmission)
}

// notFoundClass tells what is not there. A 404 that doesn't name an object proves nothing about one.
func notFoundClass(status metav1.Status) Class {
	var details metav1.StatusDetails
	if status.Details != nil {
		details = *status.Details
	}
	if class := classIn(answer.ForeignTexts, status.Message); class != ClassUnknown {
		return class
	}
	switch {
	case details.Name == "":
		return ClassUnexpectedResponse
	case details.Kind == "namespaces" && details.Group == "":
		return ClassNamespaceNotFound
	default:
		return ClassNotFound
	}
}

func conflictClass(status metav1.Status) Class {
	switch {
	case status.Reason == metav1.StatusReasonAlreadyExists:
		return ClassAlreadyExists
	case answer.HasCause(status, metav1.CauseTypeFieldManagerConflict):
		return ClassConflict
	default:
		return ClassOutdated
	}
}

// invalidClass tells an object that validation refused from options of the request that it refused.
func invalidClass(status metav1.Status) Class {
	if answer.AboutOptions(status) {
		return ClassBadRequest
	}
	return ClassInvalid
}

// forbiddenText returns the refusal in a 403 of an API server, and whether status is one.
func forbiddenText(status metav1.Status) (refusal string, ok bool) {
	if _, foreign := answer.Foreign(status); foreign || codeOf(status) != http.StatusForbidden {
		return "", false
	}
	refusal, _ = answer.Refusal(status.Message)
	return refusal, true
}

// denialIn returns the first denial in the tree of err.
func denialIn(err error) (d answer.Denial, ok bool) {
	answer.Walk(err, func(node error) bool {
		d, ok = denialOf(node)
		return ok
	})
	return d, ok
}

// denialOf returns the denial that err itself holds, not what it wraps.
func denialOf(err error) (answer.Denial, bool) {
	if status, ok := err.(apierrors.APIStatus); ok {
		refusal, _ := forbiddenText(status.Status())
		return answer.ParseDenial(refusal)
	}
	if len(answer.Unwrap(err)) > 0 {
		return answer.Denial{}, false
	}
	return answer.FlattenedDenial(err.Error())
}

func classOfDenial(d answer.Denial) Class {
	if d.Anonymous() {
		return ClassAnonymous
	}
	return ClassAuthorization
}

// classIn returns the class that the first text of a table that fits is of, and Unknown if none fits.
func classIn(table answer.Table, text string) Class {
	if means := table.Find(text); means != answer.Unknown {
		return Class(means)
	}
	return ClassUnknown
}
