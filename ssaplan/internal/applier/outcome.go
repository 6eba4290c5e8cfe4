// Package applier sends a write, such as an apply, once, and finds out what became of it: also when the answer was lost
// on its way, or is the answer to a second request that a proxy made of the one.
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

// Of returns what the error of a write tells by itself: Done for nil, and Unknown where the server may have done what
// it was asked for, but nobody heard it say so.
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

// refuses reports whether a status is the word of an API server that it writes nothing. A proxy's page isn't, nor is a
// status without a message, which no API server sends: the server may have answered something else. Neither is a
// failure of the server's own, which may come after it wrote.
func refuses(status metav1.Status, class authresilience.Class) bool {
	if _, foreign := answer.Foreign(status); foreign || answer.IsWordless(status) {
		return false
	}
	switch class {
	case authresilience.ClassWebhookUnreachable:
		return !answer.OfConversion(status)
	case authresilience.ClassInvalidManifest, authresilience.ClassLostVersion, authresilience.ClassTooLarge:
		return true // with a code of the server's failures, but before it writes
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

// LostRace reports whether err says that somebody was faster: the object is there by now, or in another version, or its
// fields have other owners. A server looks for conflicts before it compares versions. An answer without a message isn't
// taken for that.
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

// Moved reports whether err says that the object isn't there as it was read: it is of another version by now, or was
// deleted, and maybe created anew.
func Moved(err error) bool {
	return apierrors.IsNotFound(err) || authresilience.Classify(err) == authresilience.ClassOutdated
}

// Denied reports whether a server won't do what it was asked for this caller, or not in this way.
func Denied(err error) bool {
	switch authresilience.Classify(err) {
	case authresilience.ClassAuthorization, authresilience.ClassForbidden, authresilience.ClassAdmission,
		authresilience.ClassPolicy,
		authresilience.ClassWebhook, authresilience.ClassInvalid, authresilience.ClassBadRequest:
		return true
	}
	return false
}

// mayArrive reports whether the request of a write whose answer was lost can still be under way: nobody waited for its
// end.
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
