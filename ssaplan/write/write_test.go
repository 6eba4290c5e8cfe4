package write_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/write"
)

func ExampleOutcomeOf() {
	err := fmt.Errorf("set: %w", &write.ApplyError{Outcome: write.OutcomeRefused, Err: errors.New("not on a Friday")})
	fmt.Println(write.OutcomeOf(nil), write.OutcomeOf(err), write.OutcomeOf(errors.New("something else")))
	// Output: Done Refused Unknown
}

var (
	errCause = errors.New("reset")
	a        = identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}
	b        = identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "b"}
)

func TestOutcomes(t *testing.T) {
	refused := &write.ApplyError{Outcome: write.OutcomeRefused, Err: errCause}
	for _, row := range []struct {
		why  string
		err  error
		want write.Outcome
	}{
		{"of an apply", refused, write.OutcomeRefused},
		{"the outermost knows most", &write.ReplaceError{Outcome: write.OutcomeNotSent, Err: refused}, write.OutcomeNotSent},
		{"an error that somebody made without one", &write.ApplyError{Err: errCause}, write.OutcomeUnknown},
		{"of one branch", errors.Join(errCause, refused), write.OutcomeRefused},
	} {
		assert.Equal(t, row.want, write.OutcomeOf(row.err), row.why)
	}
}

func TestTexts(t *testing.T) {
	for want, err := range map[string]error{
		"reset":             &write.ApplyError{Err: errCause},
		"reset; plan again": &write.ApplyError{Err: errCause, Advice: "plan again"},
		"v1/ConfigMap a: replace stopped while checking: reset; nothing was changed": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageChecking, Err: errCause,
		},
		"v1/ConfigMap b: replace of v1/ConfigMap a stopped while deleting: reset; " +
			"the old object may still be there: plan again, then replace again": &write.ReplaceError{
			Old: a, New: b, Stage: write.StageDeleting, Outcome: write.OutcomeNotSent, Err: errCause,
		},
		"v1/ConfigMap a: replace stopped while deleting: reset; the old object is still there: plan again, then replace again": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageDeleting, Outcome: write.OutcomeRefused, Err: errCause,
		},
		"v1/ConfigMap a: replace stopped while waiting: the delete waits for finalizers x, y: reset; " +
			"the old object is being deleted: replace again to continue waiting": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageWaiting, Finalizers: []string{"x", "y"}, Err: errCause,
		},
		"v1/ConfigMap a: replace stopped while creating: reset; " +
			"the old object is gone and the new one not created: replace again to create it": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageCreating, Outcome: write.OutcomeRefused, Err: errCause,
		},
		"v1/ConfigMap a: replace stopped while creating: reset; " +
			"the old object is gone, and it is unknown whether the new one was created: replace again to find out": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageCreating, Outcome: write.OutcomeUnknown, Err: errCause,
		},
		"v1/ConfigMap a: replace stopped while creating: reset; ask": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageCreating, Err: errCause, Advice: "ask",
		},
		"v1/ConfigMap a: replace stopped while deleting: the object was re-created; " +
			"the old object is gone: plan without the prior state to adopt the one that is there": &write.ReplaceError{
			Old: a, New: a, Stage: write.StageDeleting, Err: write.ErrRecreated,
		},
	} {
		assert.EqualError(t, err, want)
		assert.True(t, errors.Is(err, errCause) || errors.Is(err, write.ErrRecreated))
	}
}
