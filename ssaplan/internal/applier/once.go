package applier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/write"
)

const (
	// lookTimeout limits the time of the looks at an object after the answer to a write was lost. These looks don't end
	// with the context of the caller.
	lookTimeout = 5 * time.Second
	// lookAgain is the pause before a second look, if the first look finds no effect of the write. A server, or a proxy
	// in front of it, may still process a request after the client has closed the connection.
	lookAgain = 500 * time.Millisecond
)

// Failure is why a write isn't known to be done.
type Failure struct {
	Outcome write.Outcome // not Done
	Err     error
	// Known is what a look at the object shows, empty if none was taken.
	Known string
	// Advice is what is known, and what to do.
	Advice string
}

func (f *Failure) Error() string { return fmt.Sprintf("%s; %s", foreign.OfError(f.Err), f.Advice) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// NotSent returns the failure of a write for an error that occurred before the write was sent.
func NotSent(err error) *Failure { return unseen(write.OutcomeNotSent, err) }

func unseen(outcome write.Outcome, err error) *Failure {
	return &Failure{Outcome: outcome, Err: err, Advice: Advice(err)}
}

// Found is the result of a look at the object after a write.
type Found struct {
	// Done says that the object is as the write makes it. Made is this object, if the look returns it.
	Done bool
	Made *unstructured.Unstructured
	// State describes the live object in a few words. Untouched says that the object is as it was before the write.
	State     string
	Untouched bool
	// Touched says that the object is new, and that the field manager of the write has applied it.
	Touched bool
	// Err is why the look failed.
	Err error
}

// Compare compares the metadata of the object before a write with the metadata of the object now. If no object existed
// before, was is nil. If no object exists now, now is nil.
func Compare(was, now *unstructured.Unstructured) Found {
	switch {
	case now == nil:
		return Found{State: "the object isn't there", Untouched: was == nil}
	case was == nil:
		return Found{State: "an object exists that differs from the one sent"}
	case now.GetUID() != was.GetUID():
		return Found{State: "the object was re-created"}
	case now.GetResourceVersion() == was.GetResourceVersion():
		return Found{State: "the object is as it was", Untouched: true}
	}
	return Found{State: "the object has changed, and differs from the one sent"}
}

// Once sends a write, once, unless ctx has ended, and returns the object as the server made it. If the answer was lost,
// or says that the object changed or is gone, Once looks whether the object is as the write makes it. If the answer was
// lost, and this look fails or finds the object untouched, Once looks a second time: the server may still process the
// write. The looks go on for a while when ctx has ended.
func Once(ctx context.Context, send func(context.Context) (*unstructured.Unstructured, error),
	look func(context.Context) Found) (*unstructured.Unstructured, *Failure) {
	if err := ctx.Err(); err != nil {
		return nil, NotSent(err)
	}
	obj, err := send(ctx)
	outcome := Of(err)
	switch {
	case outcome == write.OutcomeDone:
		return obj, nil
	case outcome == write.OutcomeNotSent, outcome == write.OutcomeRefused && !LostRace(err) && !absent(err):
		return nil, unseen(outcome, err)
	}
	ctx, cancel := looking(ctx)
	defer cancel()
	found := look(ctx)
	if outcome == write.OutcomeUnknown && found.isOpen() {
		_ = clock.Sleep(ctx, lookAgain) // if ctx ends before that, the second look fails
		found = look(ctx)
	}
	if found.Done {
		return found.Made, nil
	}
	return nil, found.failure(outcome, err)
}

// looking returns the context of looks after a write, which doesn't end with the caller's.
func looking(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := clock.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	ctx, _ = warnings.Collect(ctx) // drops the warnings, since the plan had them
	return ctx, cancel
}

// isOpen reports whether another look can show more of a write whose answer was lost.
func (f Found) isOpen() bool { return !f.Done && (f.Untouched || f.Err != nil) }

// failure returns the failure of a write that was refused, or whose answer was lost. It depends on the result of the
// look.
func (f Found) failure(outcome write.Outcome, err error) *Failure {
	known := f.State
	if f.Err != nil {
		known = fmt.Sprintf("a look at the object failed, too (%s)", authresilience.Classify(f.Err))
	}
	switch {
	case f.Err == nil && f.Untouched && errors.Is(err, write.ErrNoEffect):
		return &Failure{write.OutcomeDone, err, known,
			"whatever acts only outside of dry runs may have undone it, such as a webhook or a policy; or a proxy " +
				"answered in the server's place"}
	case f.Err == nil && f.Untouched && errors.Is(err, precondition.ErrOnlyTried):
		const advice = ": find out what in front of the server adds dryRun to writes"
		return &Failure{write.OutcomeNotSent, err, known, "nothing was written: " + known + advice}
	case f.Err != nil || outcome == write.OutcomeUnknown && !f.Untouched || f.Touched:
		return &Failure{write.OutcomeUnknown, err, known,
			"unknown whether it was written: " + known + ": plan again to find out"}
	case outcome == write.OutcomeRefused:
		return &Failure{outcome, err, known, Advice(err)}
	case mayArrive(err):
		known += ", and the request may still arrive"
		return &Failure{outcome, err, known, "nothing was written so far: " + known + ": plan again"}
	}
	return &Failure{write.OutcomeNotSent, err, known, "nothing was written: " + known + ": try again"}
}
