package redact

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// unquoted returns the text of an error without quoted answers, and what is shown of each part that quoted one. An
// error that wraps such a part keeps its own text around it, unless its text doesn't contain that of the part.
func (g Redactor) unquoted(err error) (text string, shown []error) {
	if _, done := err.(*redacted); done {
		return err.Error(), nil
	}
	if part := g.quoted(err); part != nil {
		return part.Error(), []error{part}
	}
	var own strings.Builder
	rest, found := err.Error(), true
	for _, inner := range answer.Unwrap(err) {
		said, parts := g.unquoted(inner)
		if len(parts) == 0 {
			continue
		}
		before, after, ok := strings.Cut(rest, inner.Error())
		own.WriteString(before + said)
		rest, found, shown = after, found && ok && inner.Error() != "", append(shown, parts...)
	}
	if !found {
		var parts []string
		for _, part := range shown {
			parts = append(parts, part.Error())
		}
		return strings.Join(parts, "; "), shown
	}
	return own.String() + rest, shown
}

// quoted returns what is shown of an error that quotes an answer itself, nil if it has none.
func (g Redactor) quoted(err error) error {
	switch e := err.(type) {
	case apierrors.APIStatus:
		return &redacted{&apierrors.StatusError{ErrStatus: g.status(e.Status())}}
	case *secrecy.Quote:
		return errors.New(e.Own)
	case *secrecy.Reply:
		if !isPlain(e.Err) {
			return fmt.Errorf("%s (the answer is redacted, %s)", authresilience.Classify(e).Describe().Meaning,
				g.because())
		}
	}
	return nil
}

// redacted is a status of which nothing has to be taken out any more.
type redacted struct{ *apierrors.StatusError }

func (e *redacted) Unwrap() error { return e.StatusError }

// isPlain reports whether the text of a failed request comes only from this program and its libraries, so that no
// server or proxy can put a value into it: how a connection failed, what a certificate lacks, and that time is up.
func isPlain(err error) bool {
	if answer.IsNil(err) {
		return true
	}
	if inner := answer.Unwrap(err); len(inner) > 0 {
		for _, e := range inner {
			if !isPlain(e) {
				return false
			}
		}
		return true
	}
	switch e := err.(type) {
	case syscall.Errno, *net.DNSError, *net.AddrError, tls.AlertError, tls.RecordHeaderError,
		x509.CertificateInvalidError, x509.HostnameError, x509.UnknownAuthorityError, x509.SystemRootsError:
		return true
	case net.Error:
		return e.Timeout()
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF,
		net.ErrClosed, http.ErrSchemeMismatch} {
		if errors.Is(err, known) {
			return true
		}
	}
	return authresilience.Classify(err) == authresilience.ClassCredentialPlugin // it is asked before anything is sent
}
