package authresilience

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"time"
)

// A format is how a credential is written, as far as that tells something.
type format string

const (
	formatJWT         format = "JWT"
	formatEKS         format = "EKS token"
	formatOpaque      format = "opaque token"
	formatCertificate format = "X.509"
)

// facts are what a credential says about itself. There is no secret in them.
type facts struct {
	format    format
	window    window
	chain     window // of the certificates that come with a client certificate
	subject   string
	issuer    string
	audiences []string
	problem   string // why it can't be used or read; then nothing else counts
}

// A window is a span of time. A zero bound is none.
type window struct {
	notBefore, notAfter time.Time
}

// narrow returns the part that two windows share.
func (w window) narrow(other window) window {
	if other.notBefore.After(w.notBefore) {
		w.notBefore = other.notBefore
	}
	if w.notAfter.IsZero() || !other.notAfter.IsZero() && other.notAfter.Before(w.notAfter) {
		w.notAfter = other.notAfter
	}
	return w
}

// validity says where now lies, where the clock of the server may differ by [ClockSkew] from ours.
func (w window) validity(now time.Time) Validity {
	switch {
	case !w.notAfter.IsZero() && now.After(w.notAfter.Add(ClockSkew)):
		return ValidityExpired
	case !w.notBefore.IsZero() && now.Before(w.notBefore.Add(-ClockSkew)):
		return ValidityNotYet
	case !w.notAfter.IsZero() && now.After(w.notAfter.Add(-ClockSkew)):
		return ValidityUnknown
	}
	return ValidityValid
}

// readCredential reads a token or certificate file as client-go does.
func readCredential(file string) (content []byte, problem string) {
	content, err := os.ReadFile(file)
	content = bytes.TrimSpace(content)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "the file doesn't exist"
	case errors.Is(err, fs.ErrPermission):
		return nil, "the file may not be read"
	case err != nil:
		return nil, "the file can't be read"
	case len(content) == 0:
		return nil, "the file is empty"
	}
	return content, ""
}
