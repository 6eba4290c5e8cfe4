package answer

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReasonCodes are the reasons that name a kind of failure by themselves, with the HTTP code of that kind.
var ReasonCodes = map[metav1.StatusReason]int{
	metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
	metav1.StatusReasonForbidden:             http.StatusForbidden,
	metav1.StatusReasonNotFound:              http.StatusNotFound,
	metav1.StatusReasonAlreadyExists:         http.StatusConflict,
	metav1.StatusReasonConflict:              http.StatusConflict,
	metav1.StatusReasonGone:                  http.StatusGone,
	metav1.StatusReasonExpired:               http.StatusGone,
	metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
	metav1.StatusReasonBadRequest:            http.StatusBadRequest,
	metav1.StatusReasonMethodNotAllowed:      http.StatusMethodNotAllowed,
	metav1.StatusReasonNotAcceptable:         http.StatusNotAcceptable,
	metav1.StatusReasonUnsupportedMediaType:  http.StatusUnsupportedMediaType,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
	metav1.StatusReasonTooManyRequests:       http.StatusTooManyRequests,
	metav1.StatusReasonInternalError:         http.StatusInternalServerError,
	metav1.StatusReasonStoreReadError:        http.StatusInternalServerError,
	metav1.StatusReasonServiceUnavailable:    http.StatusServiceUnavailable,
	metav1.StatusReasonTimeout:               http.StatusGatewayTimeout,
	metav1.StatusReasonServerTimeout:         http.StatusGatewayTimeout, // sent with code 500
}

// causeTypes are the types of causes that servers send. The last is a constant of core/v1; it is declared below, so
// that this package needs no k8s.io/api.
var causeTypes = []metav1.CauseType{
	metav1.CauseTypeFieldValueNotFound, metav1.CauseTypeFieldValueRequired, metav1.CauseTypeFieldValueDuplicate,
	metav1.CauseTypeFieldValueInvalid,
	metav1.CauseTypeFieldValueNotSupported, metav1.CauseTypeForbidden, metav1.CauseTypeTooLong, metav1.CauseTypeTooMany,
	metav1.CauseTypeInternal,
	metav1.CauseTypeTypeInvalid, metav1.CauseTypeUnexpectedServerResponse, metav1.CauseTypeFieldManagerConflict,
	metav1.CauseTypeResourceVersionTooLarge, NamespaceTerminating,
}

// NamespaceTerminating is the cause of a refusal to create something in a namespace that is being deleted.
const NamespaceTerminating metav1.CauseType = "NamespaceTerminating"

// Class returns the parts of a status that show the kind of failure and have no foreign text. These are the code, a
// reason that servers send, and whether the failure is about the options of the request.
func Class(status metav1.Status) metav1.Status {
	out := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: status.Code}
	if _, known := ReasonCodes[status.Reason]; known {
		out.Reason = status.Reason
	}
	if status.Details == nil {
		return out
	}
	out.Details = &metav1.StatusDetails{RetryAfterSeconds: status.Details.RetryAfterSeconds}
	if AboutOptions(status) {
		out.Details.Group = status.Details.Group
	}
	return out
}

// KnownCause returns a type of cause that servers send, and else nothing.
func KnownCause(cause metav1.CauseType) metav1.CauseType {
	if slices.Contains(causeTypes, cause) {
		return cause
	}
	return ""
}

// HasCause reports whether a status has a cause of a type.
func HasCause(status metav1.Status, cause metav1.CauseType) bool {
	return len(CausesOf(status, cause)) > 0
}

// CausesOf returns the causes of a type.
func CausesOf(status metav1.Status, cause metav1.CauseType) []metav1.StatusCause {
	var found []metav1.StatusCause
	if status.Details == nil {
		return nil
	}
	for _, c := range status.Details.Causes {
		if c.Type == cause {
			found = append(found, c)
		}
	}
	return found
}

// Foreign reports whether client-go made up the status because the answer wasn't one of an API server, and returns the
// text of that answer, "unknown" if it had none. A proxy or a login page can have sent it.
func Foreign(status metav1.Status) (text string, foreign bool) {
	if causes := CausesOf(status, metav1.CauseTypeUnexpectedServerResponse); len(causes) > 0 {
		return causes[0].Message, true
	}
	return "", false
}

// AboutOptions reports whether a 422 is about the options of the request, such as PatchOptions. The options have an API
// group that no object has.
func AboutOptions(status metav1.Status) bool {
	return status.Details != nil && status.Details.Group == "meta.k8s.io"
}

// RefusesDryRun reports whether a 422 says that the option dryRun has a value that the server doesn't know.
func RefusesDryRun(status metav1.Status) bool {
	return AboutOptions(status) &&
		slices.ContainsFunc(status.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "dryRun" })
}

// lostVersion comes before a version to which a server can't convert a custom resource. Source: the converters of
// custom resources in k8s.io/apiextensions-apiserver, which know the versions of the CRD only.
const lostVersion = "request to convert CR to an invalid group/version: "

// noConversion ends the message of a server that can't convert the Scale of a custom resource.
const noConversion = ": " + lostVersion + "autoscaling/v1"

// VersionLost returns the version that the CRD lacks, such as "example.com/v1beta1", from a 500 that refuses an apply.
// The apply needs this version because an entry of managedFields has it.
func VersionLost(status metav1.Status) (version string, found bool) {
	if status.Code != http.StatusInternalServerError {
		return "", false
	}
	return strings.CutPrefix(status.Message, lostVersion)
}

// CannotConvertScale reports whether a 500 says that the server can't convert the Scale of a custom resource.
func CannotConvertScale(status metav1.Status) bool {
	return strings.HasSuffix(status.Message, noConversion)
}

// OfConversion reports whether a conversion webhook is the reason for a failure. A server calls this webhook before a
// write, and again after the write to convert the answer. So the write may have happened.
func OfConversion(status metav1.Status) bool {
	return strings.Contains(status.Message, "conversion webhook for ")
}

// ObjectKind names the kind that the details of a 422 name: "apps/Deployment", "Secret".
func ObjectKind(details *metav1.StatusDetails) string {
	if details == nil {
		return ""
	}
	if details.Group == "" {
		return details.Kind
	}
	return details.Group + "/" + details.Kind
}

// Conflicts returns the causes that name a field manager.
func Conflicts(status metav1.Status) []metav1.StatusCause {
	return CausesOf(status, metav1.CauseTypeFieldManagerConflict)
}

// NoDryRun reports whether a server refused a dry run because a webhook that has side effects is registered for the
// object.
func NoDryRun(status metav1.Status) bool {
	return isBadRequest(status) && strings.HasSuffix(status.Message, noDryRun)
}

// StrictDecoding returns what is wrong with a manifest that doesn't fit the schema, as the server reports under strict
// validation of fields.
func StrictDecoding(status metav1.Status) (problem string, ok bool) {
	if !isBadRequest(status) {
		return "", false
	}
	return strings.CutPrefix(status.Message, strictDecoding)
}

func isBadRequest(status metav1.Status) bool {
	return status.Reason == metav1.StatusReasonBadRequest || status.Code == http.StatusBadRequest
}

// Refusal returns what follows "is forbidden: " in a message, and reports whether the message is made by apimachinery's
// NewForbidden. It reads the message from its start, so that a name which contains these words can't mislead it.
func Refusal(message string) (refusal string, ok bool) {
	if refusal, ok := strings.CutPrefix(message, forbiddenTo); ok {
		return refusal, true
	}
	resource, rest, ok := strings.Cut(message, " ")
	if !ok || resource == "" {
		return "", false
	}
	if name, err := strconv.QuotedPrefix(rest); err == nil {
		rest = strings.TrimPrefix(rest[len(name):], " ")
	}
	return strings.CutPrefix(rest, isForbidden)
}

// Admission returns the text in which admission denied a request. Webhooks and policies choose code, reason and
// causes of their answer, a 422 with causes included; only the beginning of the message is the server's.
func Admission(status metav1.Status) (text string, denied bool) {
	if WebhookTexts.Find(status.Message) == Webhook {
		return status.Message, true
	}
	refusal, ok := Refusal(status.Message)
	switch {
	case !ok:
		return "", false
	case PolicyTexts.Find(refusal) != Unknown:
		return refusal, true
	}
	return refusal, status.Code == http.StatusForbidden && !aboutRights(refusal)
}

// aboutRights reports whether a refusal is one of the authorizer, or of the checks against escalation of the RBAC
// storage.
func aboutRights(refusal string) bool {
	s := sentence{rest: refusal, ok: true}
	s.word(denialStart)
	s.quoted()
	s.word(denialVerb)
	return s.ok || ForbiddenTexts.Find(refusal) == Authorization
}

// exceeded matches the refusal of a full quota, which lists only what is exceeded.
var exceeded = regexp.MustCompile(`^` + exceededQuota + `[^,]+, requested: ([^ ]+), used: ([^ ]+), limited: ([^ ]+)$`)

// Amounts are what a full quota lists: "a=1,b=2Gi".
type Amounts struct{ Requested, Used, Limited string }

// ExceededQuota reads the refusal of a full quota.
func ExceededQuota(refusal string) (amounts Amounts, ok bool) {
	m := exceeded.FindStringSubmatch(refusal)
	if m == nil {
		return Amounts{}, false
	}
	return Amounts{m[1], m[2], m[3]}, true
}

// AlertsClientCertificate reports whether a TLS alert is one with which a server refuses the certificate of a client.
func AlertsClientCertificate(alert string) bool {
	return slices.Contains(clientCertificateAlerts, alert)
}

// IsRefusal reports whether the server understood the request and won't carry it out: asked again, it says the same.
func IsRefusal(status metav1.Status) bool {
	return status.Code >= http.StatusBadRequest && status.Code < http.StatusInternalServerError &&
		status.Code != http.StatusTooManyRequests
}
