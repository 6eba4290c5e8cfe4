package authresilience

import (
	"errors"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Warning informs a user that an object was not refreshed. Its fields are sentences without full stops.
type Warning struct {
	Object string // what was read, as in [ReadAttempt]
	Cause  string // why that failed
	Next   string // what to do
}

// Summary is one line, for the title of a diagnostic.
func (w Warning) Summary() string {
	return w.Object + " was not refreshed; its last known state is kept"
}

// Detail is the cause and the next step.
func (w Warning) Detail() string {
	return sentenceCase(w.Cause) + ". " + sentenceCase(w.Next) + "."
}

// String is summary and detail in one line.
func (w Warning) String() string {
	return w.Summary() + ". " + w.Detail()
}

// warningOf words the warning. It never takes over the text of err: an answer that came from a proxy can hold
// anything, and an address can hold a token.
func warningOf(class Class, err error, read ReadAttempt) Warning {
	w := Warning{Object: foreign.Text(read.Object).String(), Cause: class.Describe().Meaning}
	if w.Object == "" {
		w.Object = "an object"
	}
	d, denied := denialIn(err)
	switch {
	case denied && class == ClassAuthorization:
		w.Cause = foreign.Text(d.Text).String()
		w.Next = "ask for the right to " + foreign.Text(
			d.Action()).String() + " (RBAC), or use credentials of another user"
	case class == ClassAuthorization:
		w.Cause = "the server, or a gateway in front of it, answered 403 and doesn't say what is not allowed"
		w.Next = "ask for the right to get the object and to read the discovery documents of the API (RBAC), or log " +
			"in to the gateway"
	case isNotSent(err):
		w.Cause = "the read was not sent, since it could only fail: " + read.Credential.String()
		w.Next = read.Credential.advice()
	case len(read.Credential.Findings) > 0:
		w.Cause += ": " + read.Credential.String()
		w.Next = read.Credential.advice()
	default:
		w.Next = class.Describe().Advice
	}
	return w
}

func isNotSent(err error) bool {
	var expired *ExpiredError
	return errors.As(err, &expired)
}

// advice is what to do about credentials that the server refused. Where there are several, the first that is at fault
// counts.
func (d Diagnosis) advice() string {
	for _, wanted := range []Validity{ValidityMalformed, ValidityExpired, ValidityNotYet, ValidityUnknown,
		ValidityValid} {
		for _, f := range d.Findings {
			if f.Validity == wanted {
				return f.advice()
			}
		}
	}
	return ClassAuthentication.Describe().Advice
}

func (f Finding) advice() string {
	switch f.Kind {
	case NoCredential:
		return "check the client's configuration: it has no credentials"
	case ExecPlugin:
		return "run the exec plugin by hand or log in again, and check that the configuration belongs to this server"
	case AuthProvider, CustomTransport, BasicAuth:
		return ClassAuthentication.Describe().Advice
	}
	switch f.Validity {
	case ValidityMalformed:
		return "correct the " + string(f.Kind) + " in the client's configuration"
	case ValidityExpired:
		return "renew the " + string(f.Kind)
	case ValidityNotYet:
		return "check the clock of this machine, or wait until the " + string(f.Kind) + " is valid"
	case ValidityValid:
		return "check the configuration: the " + string(
			f.Kind) + " may have been revoked, or be meant for another server or audience"
	}
	return "renew the " + string(f.Kind) + ", or check that it is meant for this server"
}

// sentenceCase makes the first letter a capital one.
func sentenceCase(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
