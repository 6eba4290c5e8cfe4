package answer

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

func statusOf(message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Message: message}}
}

// ownStatus is a status that isn't client-go's type.
type ownStatus struct{ message string }

func (s ownStatus) Error() string         { return s.message }
func (s ownStatus) Status() metav1.Status { return metav1.Status{Message: s.message} }

func TestStatuses(t *testing.T) {
	a, b := statusOf("a"), ownStatus{"b"}
	for _, tt := range []struct {
		why  string
		err  error
		want []string
	}{
		{"no error", nil, nil},
		{"an error without a status", errors.New("a"), nil},
		{"a nil pointer, whose method would panic", (*apierrors.StatusError)(nil), nil},
		{"the same, wrapped", fmt.Errorf("x: %w", (*apierrors.StatusError)(nil)), nil},
		{"a status", a, []string{"a"}},
		{"of another type", b, []string{"b"}},
		{"wrapped twice", fmt.Errorf("x: %w", fmt.Errorf("y: %w", a)), []string{"a"}},
		{"two with %w", fmt.Errorf("%w, %w", a, b), []string{"a", "b"}},
		{"joined, in order", errors.Join(b, errors.New("x"), a), []string{"b", "a"}},
		{"an Aggregate, which has no Unwrap", utilerrors.NewAggregate([]error{a, b}), []string{"a", "b"}},
		{"an Aggregate in a join", errors.Join(utilerrors.NewAggregate([]error{a}), b), []string{"a", "b"}},
	} {
		var got []string
		for _, s := range Statuses(tt.err) {
			got = append(got, s.Message)
		}
		assert.Equal(t, tt.want, got, tt.why)
	}
}

func TestWalk(t *testing.T) {
	inner := errors.New("inner")
	err := fmt.Errorf("outer: %w", errors.Join(inner, errors.New("last")))
	var seen []string
	assert.True(t, Walk(err, func(e error) bool {
		seen = append(seen, e.Error())
		return e == inner
	}))
	assert.Equal(t, []string{"outer: inner\nlast", "inner\nlast", "inner"}, seen, "outermost first, up to what was looked for")
	assert.False(t, Walk(err, func(error) bool { return false }))
	assert.False(t, Walk(nil, func(error) bool { return true }), "nothing to visit")
	assert.False(t, Walk((*apierrors.StatusError)(nil), func(error) bool { return true }), "nor here")
}

func TestUnwrapLeavesTheErrorAlone(t *testing.T) {
	joined := errors.Join(errors.New("a"), (*apierrors.StatusError)(nil), errors.New("b"))
	assert.Len(t, Unwrap(joined), 2, "without nil pointers")
	assert.Len(t, joined.(interface{ Unwrap() []error }).Unwrap(), 3)
}

func TestRedacted(t *testing.T) {
	secret := errors.New("canary")
	err := Redacted(secret, "hidden")
	for _, verb := range []string{"%v", "%+v", "%s", "%q", "%#v", "%d", "%x"} {
		assert.NotContains(t, fmt.Sprintf(verb, err), "canary", verb)
	}
	assert.Equal(t, "hidden", err.Error())
	assert.ErrorIs(t, err, secret)
}

func TestVisible(t *testing.T) {
	plain, hidden := errors.New("a"), errors.New("a\x1b[2K\nb")
	assert.Equal(t, plain, Visible(plain), "as it is")
	assert.NoError(t, Visible(nil))
	shown := Visible(hidden)
	assert.EqualError(t, shown, `a\x1b[2K b`)
	assert.ErrorIs(t, shown, hidden)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		assert.Equal(t, `a\x1b[2K b`, fmt.Sprintf(verb, shown), verb)
	}
}

func TestWorded(t *testing.T) {
	silent := func(code int32, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason}}
	}
	for _, row := range []struct {
		why      string
		err      error
		want     string
		wordless bool
	}{
		{"a message", statusOf("no"), "no", false},
		{"no status", errors.New("reset"), "reset", false},
		{"code and reason", silent(403, metav1.StatusReasonForbidden), wordless + " (HTTP 403, Forbidden)", true},
		{"a code", silent(422, ""), wordless + " (HTTP 422)", true},
		{"a reason", silent(0, metav1.StatusReasonConflict), wordless + " (Conflict)", true},
		{"nothing at all", silent(0, ""), wordless + " (nor a code)", true},
		{"of another type", ownStatus{}, wordless + " (nor a code)", true},
	} {
		worded := Worded(row.err)
		assert.EqualError(t, worded, row.want, row.why)
		if statuses := Statuses(worded); len(statuses) > 0 {
			assert.Equal(t, row.wordless, IsWordless(statuses[0]), row.why)
			assert.Equal(t, row.wordless, IsWordless(Statuses(row.err)[0]), "%s: before, too", row.why)
		}
	}
	assert.NoError(t, Worded(nil))
}
