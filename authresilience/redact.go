package authresilience

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Redact returns err if its text is made of what an API server, client-go, the Go library and the caller say. If there
// is text of somebody else in it, Redact returns an error that says the class instead, and wraps err. So it is of the
// same class, and can be printed. In what it says, characters that can't be seen are escaped, lines are joined, and
// what is longer than [foreign.Limit] is cut.
//
// Somebody else is a proxy or login page, whose page client-go quotes and which may repeat the request with its token;
// a credential plugin, whose output client-go quotes; and an address with a password in it. Addresses of requests are
// shown as [ShownAddress] returns them. What an API server says of
// an invalid object is its own words, and may quote values of the object.
func Redact(err error) error {
	if !answer.Walk(err, holdsForeignText) {
		return answer.Visible(withShownAddresses(err))
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

// withShownAddresses returns err with the addresses of its requests as [ShownAddress] returns them.
func withShownAddresses(err error) error {
	if answer.IsNil(err) {
		return err
	}
	text := err.Error()
	answer.Walk(err, func(node error) bool {
		if request, ok := node.(*url.Error); ok {
			text = strings.ReplaceAll(text, strconv.Quote(request.URL), strconv.Quote(string(ShownAddress(request.URL))))
		}
		return false
	})
	if text == err.Error() {
		return err
	}
	return answer.Redacted(err, foreign.OfError(errors.New(text)))
}

// ShownAddress returns the address of a server or proxy as it may be printed: without its query and fragment, and
// without what stands before the last @, which can be a user and a password. It needn't be an address that can be
// parsed.
func ShownAddress(address string) foreign.Text {
	at := strings.LastIndex(address, "@")
	hidden, shown := address[:at+1], address[at+1:]
	if end := strings.IndexAny(shown, "?#"); end >= 0 {
		shown = shown[:end]
	}
	if at < 0 {
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

// holdsForeignText reports whether the text of err itself, not of what it wraps, was written by somebody else.
func holdsForeignText(err error) bool {
	switch e := err.(type) {
	case apierrors.APIStatus:
		_, foreign := answer.Foreign(e.Status())
		return foreign
	case *url.Error:
		return strings.Contains(e.URL, "@")
	}
	if quotesAddress(err.Error()) && Classify(err) == ClassConfiguration {
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

// quotesAddress reports whether a text may have an address with a user, a query or a fragment in it, as in
// https://user:password@host?token=x.
func quotesAddress(text string) bool {
	_, address, found := strings.Cut(text, "://")
	return strings.Contains(text, "@") || found && strings.ContainsAny(address, "?#")
}
