package authresilience

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A CredentialKind is a way to authenticate to a server.
type CredentialKind string

// The ways that a client's configuration offers.
const (
	BearerToken       CredentialKind = "bearer token"
	TokenFile         CredentialKind = "token file"
	ClientCertificate CredentialKind = "client certificate"
	BasicAuth         CredentialKind = "user name and password"
	ExecPlugin        CredentialKind = "exec plugin"
	AuthProvider      CredentialKind = "auth provider"
	CustomTransport   CredentialKind = "custom transport"
	NoCredential      CredentialKind = "no credentials"
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
