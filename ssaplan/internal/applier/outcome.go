// Package applier sends a write once, such as an apply, and finds out its outcome. The answer to the write may be lost.
// A proxy may also send the request twice, and return the answer to the second request.
package applier

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Of returns the outcome of a write, as far as its error alone shows it. The outcome is Done for nil. It is Unknown if
// the server may have carried out the write without a confirmation.
func Of(err error) write.Outcome {
	switch {
	case err == nil:
		return write.OutcomeDone
	case slices.ContainsFunc(answer.Statuses(err),
		func(s metav1.Status) bool { return refuses(s, authresilience.Classify(err)) }):
		return write.OutcomeRefused
	case neverLeft(err):
		return write.OutcomeNotSent
	}
	return write.OutcomeUnknown
}

// refuses reports whether a status shows that the API server rejected a write and wrote nothing. A page of a proxy
// doesn't show that. A status without a message doesn't show it either: no API server sends such a status, so the real
// answer may be another one. An internal error of the server may occur after the write, so it doesn't count.
func refuses(status metav1.Status, class authresilience.Class) bool {
	if _, foreign := answer.Foreign(status); foreign || answer.IsWordless(status) {
		return false
	}
	switch class {
	case authresilience.ClassWebhookUnreachable:
		return !answer.OfConversion(status)
	case authresilience.ClassInvalidManifest, authresilience.ClassLostVersion, authresilience.ClassTooLarge:
		return true // even with the code 500: the server finds these errors before it writes
	}
	return status.Code >= http.StatusBadRequest && status.Code < http.StatusInternalServerError
}

// neverLeft reports whether a request failed before there was a connection to send it on.
func neverLeft(err error) bool {
	switch authresilience.Classify(err) {
	case authresilience.ClassCredentialPlugin, authresilience.ClassConfiguration:
		return true
	}
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") || errors.As(err, &dns) ||
		errors.As(err, &certificate)
}

// LostRace reports whether err says that another client was faster: the object exists by now, or has another version,
// or its fields have other owners. A server looks for conflicts before it compares versions. An answer without a
// message doesn't count.
func LostRace(err error) bool {
	if slices.ContainsFunc(answer.Statuses(err), answer.IsWordless) {
		return false
	}
	switch authresilience.Classify(err) {
	case authresilience.ClassOutdated, authresilience.ClassConflict, authresilience.ClassAlreadyExists:
		return true
	}
	return false
}

// absent reports whether err says that the object isn't there.
func absent(err error) bool {
	class := authresilience.Classify(err)
	return class == authresilience.ClassNotFound || class == authresilience.ClassNamespaceNotFound
}

// Moved reports whether err says that the object changed since it was read: it has another version now, or it was
// deleted. It may have been created again since.
func Moved(err error) bool {
	return apierrors.IsNotFound(err) || authresilience.Classify(err) == authresilience.ClassOutdated
}

// Denied reports whether a server denies a request to this caller, or rejects the content of the request.
func Denied(err error) bool {
	switch authresilience.Classify(err) {
	case authresilience.ClassAuthorization, authresilience.ClassForbidden, authresilience.ClassAdmission,
		authresilience.ClassPolicy,
		authresilience.ClassWebhook, authresilience.ClassInvalid, authresilience.ClassBadRequest:
		return true
	}
	return false
}

// mayArrive reports whether a write without an answer may still arrive at the server. This is possible if the client
// stopped waiting, because of a timeout or because ctx was canceled.
func mayArrive(err error) bool {
	class := authresilience.Classify(err)
	return class == authresilience.ClassTimeout || class == authresilience.ClassCanceled
}

// Advice is what to do about a failed write that was refused or not sent, by the class of the failure.
func Advice(err error) string {
	switch class := authresilience.Classify(err); class {
	case authresilience.ClassUnknown, authresilience.ClassNone:
		return "nothing was written"
	default:
		return "nothing was written: " + class.Describe().Advice
	}
}
