package authresilience

import (
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Redact returns err if its text is made of what an API server, client-go, the Go library and the caller say. If there
// is text of somebody else in it, Redact returns an error that says the class instead, and wraps err. So it is of the
// same class, and can be printed. In what it says, characters that can't be seen are escaped, lines are joined, and what is
// longer than [foreign.Limit] is cut.
//
// Somebody else is a proxy or login page, whose page client-go quotes and which may repeat the request with its token;
// a credential plugin, whose output client-go quotes; and an address with a password in it. What an API server says of
// an invalid object is its own words, and may quote values of the object.
func Redact(err error) error {
	if !answer.Walk(err, holdsForeignText) {
		return answer.Visible(err)
	}
	text := Classify(err).Describe().Meaning
	answer.Walk(err, func(node error) bool {
		status, ok := node.(apierrors.APIStatus)
		if ok {
			text = fmt.Sprintf("%s (HTTP %d)", text, status.Status().Code)
		}
		return ok
	})
	return answer.Redacted(err, foreign.Text(text))
}

// ShownAddress returns the address of a server or proxy as it may be printed: what stands before the last @, if there is one, can be a
// user and a password. It needn't be an address that can be parsed.
func ShownAddress(address string) foreign.Text {
	at := strings.LastIndex(address, "@")
	if at < 0 {
		return foreign.Text(address)
	}
	scheme, _, found := strings.Cut(address[:at], "://")
	if !found {
		return foreign.Text("…" + address[at:])
	}
	return foreign.Text(scheme + "://…" + address[at:])
}

// holdsForeignText reports whether the text of err itself, not of what it wraps, was written by somebody else.
func holdsForeignText(err error) bool {
	switch e := err.(type) {
	case apierrors.APIStatus:
		_, foreign := answer.Foreign(e.Status())
		return foreign
	case *url.Error:
		return strings.Contains(e.URL, "@")
	}
	if strings.Contains(err.Error(), "@") && Classify(err) == ClassConfiguration { // as in https://user:password@host
		return true
	}
	if len(answer.Unwrap(err)) > 0 {
		return false
	}
	switch leafClass(err) {
	case ClassUnexpectedResponse:
		return true
	case ClassCredentialPlugin:
		text := strings.TrimPrefix(err.Error(), "getting credentials: ")
		return !strings.HasPrefix(text, "exec: ") // how the program fared, not what it said
	}
	return false
}
