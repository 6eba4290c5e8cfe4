package authresilience

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Redact returns err if all of its text comes from an API server, client-go, the Go library or the caller. Otherwise it
// returns an error that wraps err and prints its class instead. Both errors have the same class. In the printed text,
// invisible characters are escaped, lines are joined, and text longer than [foreign.Limit] is cut.
//
// Three kinds of text count as text of another origin: a proxy or login page that client-go quotes, which may repeat
// the request with its token; the output of a credential plugin; and an address with a password in it. Addresses of
// requests are printed as [RedactAddress] returns them. The message of an API server about an invalid object is
// printed, and may quote values of the object.
func Redact(err error) error {
	if !answer.Walk(err, holdsForeignText) {
		return answer.Visible(withRedactedAddresses(err))
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

// withRedactedAddresses returns err with the addresses of its requests as [RedactAddress] returns them.
func withRedactedAddresses(err error) error {
	if answer.IsNil(err) {
		return err
	}
	text := err.Error()
	answer.Walk(err, func(node error) bool {
		if request, ok := node.(*url.Error); ok {
			text = strings.ReplaceAll(text, strconv.Quote(request.URL),
				strconv.Quote(string(RedactAddress(request.URL))))
		}
		return false
	})
	if text == err.Error() {
		return err
	}
	return answer.Redacted(err, foreign.OfError(errors.New(text)))
}

// RedactAddress returns the address of a server or proxy as it may be printed: without query and fragment, and without
// the part before the last @, which can be a user and a password. The address needn't be a valid URL. The encoded forms
// %40, %3F and %23 count as @, ? and #. If an address without @ has a port that doesn't begin with a digit, the text
// from there on counts as a password.
func RedactAddress(address string) foreign.Text {
	address = decoded.Replace(address)
	at := strings.LastIndex(address, "@")
	hidden, shown := address[:at+1], address[at+1:]
	if end := strings.IndexAny(shown, "?#"); end >= 0 {
		shown = shown[:end]
	}
	if at < 0 {
		if port := noPort.FindStringSubmatchIndex(shown); port != nil {
			shown = shown[:port[2]] + "…"
		}
		return foreign.Text(shown)
	}
	scheme, rest, found := strings.Cut(hidden, "://")
	switch {
	case !found:
		scheme, rest = "", hidden
	default:
		scheme += "://"
	}
	if strings.ContainsAny(rest, "?#") { // so the last @ may stand in the query
		return foreign.Text(scheme + "…")
	}
	return foreign.Text(scheme + "…@" + shown)
}

var (
	decoded = strings.NewReplacer("%40", "@", "%3f", "?", "%3F", "?", "%23", "#")
	// noPort finds a password in an address whose host was forgotten, as in https://user:password.
	noPort = regexp.MustCompile(`^(?:[^:/]*://)?[^/:\[]*:([^0-9/:])`)
)

// holdsForeignText reports whether the text of err itself, not of what it wraps, was written by somebody else.
func holdsForeignText(err error) bool {
	switch e := err.(type) {
	case apierrors.APIStatus:
		_, foreign := answer.Foreign(e.Status())
		return foreign
	case *url.Error:
		return strings.Contains(e.URL, "@")
	}
	if secretPart.MatchString(err.Error()) && Classify(err) == ClassConfiguration {
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

// secretPart finds where a text may have an address with a user, a query or a fragment in it, plain or encoded, as in
// https://user:password@host?token=x, or with a port that is none.
var secretPart = regexp.MustCompile(`(?i)[@?#]|%40|%3f|%23|//[^/:"\s\[]*:[^0-9/:"\s]`)
