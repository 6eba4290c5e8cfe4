package authresilience

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/answer"
)

// Classify returns the class of err: [ClassNone] for nil, [ClassUnknown] if no other class describes it. It looks into
// every error with an Unwrap method, into apimachinery's aggregates, and into the errors that discovery reports for
// unreadable groups. An error has the class of the error that it wraps.
//
// For joined errors, the class that comes first in [Classes] is returned, whatever the order in which they are joined.
// A RESTMapper that can't read an API group says "no matches for kind", as for a kind that isn't installed. So join the
// error of discovery to it: if the group of the kind is among those that failed, the class is that of the failure, and
// not TypeNotServed.
func Classify(err error) Class {
	if answer.IsNil(err) {
		return ClassNone
	}
	return tree{unmatched(err)}.class(err)
}

// A tree classifies the errors of one tree of wrapped and joined errors.
type tree struct {
	missing missingTypes // the types that a RESTMapper did not find
}

func (t tree) class(err error) Class {
	if answer.IsNil(err) {
		return ClassUnknown
	}
	if class, ok := t.own(err); ok {
		return class
	}
	class := ClassUnknown
	inner := answer.Unwrap(err)
	for _, e := range inner {
		class = first(class, t.class(e))
	}
	if class == ClassUnknown && len(inner) == 0 {
		class = leafClass(err)
	}
	if class == ClassUnknown {
		class = transportClass(err)
	}
	return class
}

// own classifies the errors that say more than what they wrap does, and reports whether err is one.
func (t tree) own(err error) (class Class, ok bool) {
	if groups, ok := failedGroups(err); ok {
		return t.discoveryClass(groups), true
	}
	switch e := err.(type) { // not errors.As: class takes the tree apart, and must do so branch by branch
	case apierrors.APIStatus:
		return classifyStatus(e.Status()), true
	case *ExpiredError:
		return ClassAuthentication, true
	case *BrokenOffError:
		return ClassBrokenOff, true
	case *ClassError:
		return e.Class, true
	case *fs.PathError:
		return ClassConfiguration, true
	case *tls.CertificateVerificationError:
		return ClassTLS, true
	case *net.OpError:
		return alertClass(e)
	}
	return ClassUnknown, false
}

// discoveryClass returns the class of the errors that discovery reports for the groups that matter: those that may have
// one of the missing types, or all if no type is missing. A group that could not be read may have the type; only a
// server that doesn't serve the group (404) says that it hasn't.
func (t tree) discoveryClass(failed map[schema.GroupVersion]error) Class {
	if len(failed) == 0 {
		return ClassDiscoveryFailed
	}
	class := ClassUnknown
	for gv, err := range failed {
		if !t.missing.concerns(gv) {
			continue
		}
		c := t.class(err)
		switch c {
		case ClassUnknown, ClassNotFound, ClassNamespaceNotFound:
			c = ClassDiscoveryFailed
		}
		class = first(class, c)
	}
	return class
}

// leafClass classifies an error that wraps nothing: by its type, and for want of one by its text.
func leafClass(err error) Class {
	switch {
	case errors.Is(err, context.Canceled):
		return ClassCanceled
	case isTimeout(err):
		return ClassTimeout
	case meta.IsNoMatchError(err):
		return ClassTypeNotServed
	case isTLS(err):
		return ClassTLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return ClassConnection
	case isOfDiscovery(err, "StaleGroupVersionError"):
		return ClassDiscoveryFailed
	case isDecoding(err):
		return ClassUnexpectedResponse
	}
	return textClass(err.Error())
}

// transportClass classifies an error by the layer that reports it, when what it wraps says nothing.
func transportClass(err error) Class {
	if isTimeout(err) {
		return ClassTimeout
	}
	switch e := err.(type) {
	case *url.Error:
		if e.Op == "parse" {
			return ClassConfiguration
		}
		return ClassConnection
	case net.Error: // includes *net.OpError and *net.DNSError
		return ClassConnection
	}
	return ClassUnknown
}

// alertClass classifies what the TLS layer of the other side, or of this one, reports. A server that demands client
// certificates refuses one with an alert; its type is unexported, so the text has to do.
func alertClass(err *net.OpError) (class Class, ok bool) {
	switch {
	case err.Op == "remote error" && err.Err != nil && answer.AlertsClientCertificate(err.Err.Error()):
		return ClassAuthentication, true
	case err.Op == "remote error", err.Op == "local error":
		return ClassTLS, true
	}
	return ClassUnknown, false
}

func isTimeout(err error) bool {
	timeout, ok := err.(interface{ Timeout() bool })
	return ok && timeout.Timeout()
}

func isTLS(err error) bool {
	var (
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		hostname  x509.HostnameError
		roots     x509.SystemRootsError
		record    tls.RecordHeaderError
	)
	return errors.As(err, &authority) || errors.As(err, &invalid) || errors.As(err, &hostname) ||
		errors.As(err, &roots) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}

// isDecoding reports whether a successful answer was not an object of Kubernetes.
func isDecoding(err error) bool {
	var (
		syntax *json.SyntaxError
		types  *json.UnmarshalTypeError
	)
	return errors.As(err, &syntax) || errors.As(err, &types) ||
		runtime.IsMissingKind(err) || runtime.IsMissingVersion(err) || runtime.IsNotRegisteredError(err)
}

// textClass classifies the text of an error that has no type to tell: one of client-go, or a Status of which somebody
// kept only the message.
func textClass(text string) Class {
	if class := classIn(answer.ClientTexts, text); class != ClassUnknown {
		return class
	}
	if d, ok := answer.FlattenedDenial(text); ok {
		return classOfDenial(d)
	}
	return flattenedUnauthorized(text)
}

// flattenedUnauthorized recognises a text that ends in that of a 401. Only what follows the last ": " counts, and it
// must be the text of a 401 from end to end, a typed client's "(get configmaps x)" aside.
func flattenedUnauthorized(text string) Class {
	last := text[strings.LastIndex(text, ": ")+1:]
	last, _, _ = strings.Cut(strings.TrimSpace(last), " (")
	for _, text := range answer.UnauthorizedTexts {
		if last == text.Start {
			return Class(text.Means)
		}
	}
	return ClassUnknown
}
