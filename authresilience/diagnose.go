package authresilience

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Diagnose reads the dates of a JSON Web Token, of an EKS token and of a client certificate. For other credentials
// (opaque tokens, plugins, passwords) the result says that nothing is known. Files are read each time, since they are
// rotated. No request is sent, and no plugin is started. A file that can't be read is a finding, not an error.
func Diagnose(credential Credential, now time.Time) Diagnosis {
	d := Diagnosis{At: now, custom: credential.custom}
	for _, s := range credential.sources {
		d.Findings = append(d.Findings, s.finding(now))
	}
	return d
}

// finding judges what the credential says about itself now.
func (s source) finding(now time.Time) Finding {
	says := s.current()
	f := says.Finding
	f.Kind, f.Name, f.Validity = s.kind, cmp.Or(s.name, f.Name), ValidityUnknown
	switch {
	case f.Problem != "":
		f.Validity = ValidityMalformed
	case says.format == formatOpaque:
		f.Problem = "it is opaque and doesn't say when it expires"
	case says.format != "":
		f.Validity = window{f.NotBefore, f.NotAfter}.validity(now)
	}
	if f.Validity == ValidityValid && says.chain.validity(now) == ValidityExpired {
		f.Validity, f.Problem = ValidityUnknown, "a certificate of its chain expired "+ago(says.chain.notAfter, now)
	}
	return f
}

// Diagnosed returns the error of a request. If the server didn't accept the credentials, the error also says what is
// known of them, such as when they expired.
func Diagnosed(err error, credential Credential, now time.Time) error {
	var notSent *ExpiredError // which has the diagnosis in its text
	class := Classify(err)
	if !class.Degradable() || class == ClassAuthorization || errors.As(err, &notSent) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, Diagnose(credential, now))
}
