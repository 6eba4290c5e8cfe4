package authresilience

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ClockSkew is how far the clocks of this machine and of the server may be apart. A credential that expires within this
// time, or has expired within it, counts neither as valid nor as expired.
const ClockSkew = 5 * time.Minute

// Validity says whether a credential is valid now, by its dates.
type Validity string

// The values of Validity. ValidityExpired and ValidityNotYet are only used if they hold even for clocks that differ by
// [ClockSkew].
const (
	// ValidityUnknown: the end of the credential isn't known, or is too near to now.
	ValidityUnknown Validity = "unknown"
	// ValidityValid: not expired, or without an end. The server may refuse it on other grounds.
	ValidityValid Validity = "valid"
	// ValidityExpired: it was valid until NotAfter.
	ValidityExpired Validity = "expired"
	// ValidityNotYet: it will be valid from NotBefore on, or the clock of this machine is wrong.
	ValidityNotYet Validity = "not yet valid"
	// ValidityMalformed: it can't be read or used; Problem says why.
	ValidityMalformed Validity = "malformed"
)

// Finding is what one credential says about itself. It holds no secret.
type Finding struct {
	Kind      CredentialKind
	Name      string // path of the file, name of the plugin, or otherwise the subject of the token or certificate
	Validity  Validity
	NotBefore time.Time // zero if it has no such date
	NotAfter  time.Time // zero if it has no such date: then a valid credential doesn't expire by itself
	Issuer    string    // of a JWT, or of a client certificate
	Audiences []string  // of a JWT
	Problem   string    // what is wrong with it, or unknown about it
	unsent    bool      // client-go leaves it out, silently
}

// Diagnosis is what is known at a time about the credentials of a client: whether they have expired, and until when
// they are valid. It holds no secret. The zero value says that nothing is known.
type Diagnosis struct {
	At       time.Time
	Findings []Finding // one for each credential that is sent; one for a certificate without a key; one for [NoCredential]
	custom   bool
}

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

// finding judges what the credential tells about itself.
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

// Expired reports whether a request with these credentials can only fail, because all credentials that are sent have
// expired, and since when. It is false if that isn't certain: within [ClockSkew] of the end, for credentials without
// dates, and if the caller wraps the transport and may send others. A certificate without a key isn't sent and doesn't
// count.
func (d Diagnosis) Expired() (since time.Time, ok bool) {
	if d.custom {
		return time.Time{}, false
	}
	for _, f := range d.Findings {
		if f.unsent {
			continue
		}
		if f.Validity != ValidityExpired {
			return time.Time{}, false
		}
		if f.NotAfter.After(since) {
			since = f.NotAfter
		}
		ok = true
	}
	return since, ok
}

// Err returns an error if a request with these credentials can only fail, see [Diagnosis.Expired], and nil otherwise.
// Its class is Authentication. So a caller can skip a read that would only fail, and pass this error to [Degrade].
func (d Diagnosis) Err() error {
	if _, expired := d.Expired(); !expired {
		return nil
	}
	return &ExpiredError{Diagnosis: d}
}

// Diagnosed returns the error of a request. If the server didn't accept the credentials, the error also says what is
// known of them, such as when they expired.
func Diagnosed(err error, credential Credential, now time.Time) error {
	var notSent *ExpiredError // which tells it
	class := Classify(err)
	if !class.Degradable() || class == ClassAuthorization || errors.As(err, &notSent) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, Diagnose(credential, now))
}

// ExpiredError is the error of a request that was not sent because its credentials have expired.
type ExpiredError struct {
	Diagnosis Diagnosis
}

// Error returns one line: which credential expired, and when.
func (e *ExpiredError) Error() string {
	return "authresilience: request not sent: " + e.Diagnosis.String()
}

// String returns the diagnosis as one sentence without a full stop: "the bearer token (…) expired 3 h ago
// (2026-08-01T09:00:00Z)".
func (d Diagnosis) String() string {
	if len(d.Findings) == 0 {
		return "nothing is known about the credentials"
	}
	texts := make([]string, len(d.Findings))
	for i, f := range d.Findings {
		texts[i] = f.text(d.At)
	}
	return strings.Join(texts, "; ")
}

// text describes the finding as a sentence.
func (f Finding) text(now time.Time) string {
	if f.Kind == NoCredential {
		return "the client sends no credentials"
	}
	return "the " + f.subject() + f.predicate(now)
}

// subject names the credential. What it says about itself is quoted, since it can be anything.
func (f Finding) subject() string {
	var about []string
	if f.Name != "" {
		about = append(about, quote(f.Name))
	}
	if f.Issuer != "" {
		about = append(about, "issued by "+quote(f.Issuer))
	}
	if len(f.Audiences) > 0 {
		quoted := slices.Clone(f.Audiences)
		for i := range quoted {
			quoted[i] = quote(quoted[i])
		}
		about = append(about, "for "+strings.Join(quoted, ", "))
	}
	if len(about) == 0 {
		return string(f.Kind)
	}
	return fmt.Sprintf("%s (%s)", f.Kind, strings.Join(about, ", "))
}

func (f Finding) predicate(now time.Time) string {
	switch {
	case f.Validity == ValidityMalformed:
		return " can't be used: " + f.Problem
	case f.Validity == ValidityExpired:
		return " expired " + ago(f.NotAfter, now)
	case f.Validity == ValidityNotYet:
		return " is not valid before " + when(f.NotBefore, now)
	case f.Validity == ValidityValid && f.NotAfter.IsZero():
		return " is not expired: it doesn't expire by itself"
	case f.Validity == ValidityValid:
		return " is not expired: it is valid until " + when(f.NotAfter, now)
	case f.Problem != "":
		return " may be expired or not: " + f.Problem
	case !f.NotAfter.IsZero():
		return " may be expired or not, depending on the server's clock: it ends " + when(f.NotAfter, now)
	}
	return ": it isn't known whether the credentials expired"
}

// quote quotes a text of unknown origin, and cuts one that is too long to be a name.
func quote(s string) string {
	const limit = 200
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// ago says a time in the past as people and as machines do: "3 h ago (2026-08-01T09:00:00Z)".
func ago(t, now time.Time) string {
	return fmt.Sprintf("%s ago (%s)", span(now.Sub(t)), t.UTC().Format(time.RFC3339))
}

// when says a time as machines and as people do: "2026-08-04T12:00:00Z (in 3 days)".
func when(t, now time.Time) string {
	relative := span(now.Sub(t)) + " ago"
	if t.After(now) {
		relative = "in " + span(t.Sub(now))
	}
	return fmt.Sprintf("%s (%s)", t.UTC().Format(time.RFC3339), relative)
}

// span rounds a duration down to the unit in which it is said.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/day)
}
