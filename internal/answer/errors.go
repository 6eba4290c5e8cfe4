package answer

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/projection/foreign"
)

// IsNil reports whether err is nil, or a nil pointer that was assigned to an error, whose methods would panic.
func IsNil(err error) bool {
	if err == nil {
		return true
	}
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Unwrap returns the errors that err wraps (%w), joins ([errors.Join]) or aggregates, as apimachinery's Aggregate does,
// which has no Unwrap. None of them is nil.
func Unwrap(err error) []error {
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	case interface{ Errors() []error }:
		inner = e.Errors()
	}
	return slices.DeleteFunc(slices.Clone(inner), IsNil)
}

// Walk visits the tree of err, depth first and outermost first, until visit returns true, and reports whether it did.
func Walk(err error, visit func(error) bool) bool {
	if IsNil(err) {
		return false
	}
	return visit(err) || slices.ContainsFunc(Unwrap(err), func(inner error) bool { return Walk(inner, visit) })
}

// Statuses returns the API statuses in the tree of err, depth first. A status is not searched for others.
func Statuses(err error) []metav1.Status {
	if IsNil(err) {
		return nil
	}
	if status, ok := err.(apierrors.APIStatus); ok { // not errors.As, which finds one at most, and none in an Aggregate
		return []metav1.Status{status.Status()}
	}
	var found []metav1.Status
	for _, inner := range Unwrap(err) {
		found = append(found, Statuses(inner)...)
	}
	return found
}

// wordless begins the message that [Worded] gives a status.
const wordless = "the server answered without a message"

// Worded returns the error of a request, with a message in place of an empty one if it is a status. API servers always
// send one; an error with an empty text is of no use to a user.
func Worded(err error) error {
	answered, isStatus := err.(apierrors.APIStatus)
	if !isStatus || answered.Status().Message != "" {
		return err
	}
	status := answered.Status()
	var known []string
	if status.Code != 0 {
		known = append(known, fmt.Sprintf("HTTP %d", status.Code))
	}
	if status.Reason != "" {
		known = append(known, string(status.Reason))
	}
	status.Message = fmt.Sprintf("%s (%s)", wordless, foreign.Text(cmp.Or(strings.Join(known, ", "), "nor a code")))
	return &apierrors.StatusError{ErrStatus: status}
}

// IsWordless reports whether a status has no message, or the one of [Worded]. No API server sends such a status.
func IsWordless(status metav1.Status) bool {
	return status.Message == "" || strings.HasPrefix(status.Message, wordless)
}

// Redacted wraps err in an error with another text. No verb of package fmt prints the text of err. The new text is
// printed with its unsafe characters escaped.
func Redacted(err error, text foreign.Text) error { return &redacted{text, err} }

// Visible returns err if its text can be printed safely. Otherwise it wraps err in an error that prints the same text
// with its unsafe characters escaped.
func Visible(err error) error {
	if IsNil(err) {
		return err
	}
	if text := foreign.OfError(err); text.String() != err.Error() {
		return Redacted(err, text)
	}
	return err
}

type redacted struct {
	text foreign.Text
	err  error
}

func (e *redacted) Error() string                 { return e.text.String() }
func (e *redacted) Unwrap() error                 { return e.err }
func (e *redacted) Format(f fmt.State, verb rune) { e.text.Format(f, verb) }
