package applier

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// LookTimeout bounds the look at an object after a write whose answer was lost, which doesn't end when the caller gives up.
const LookTimeout = 5 * time.Second

// Target is an object that can be read and applied, such as a [wire.Target].
type Target interface {
	Live(ctx context.Context) (*unstructured.Unstructured, error)
	Apply(ctx context.Context, live *unstructured.Unstructured, body []byte, options metav1.PatchOptions,
		dryRun ...string) (*unstructured.Unstructured, error)
}

// Write is an apply that was reviewed.
type Write struct {
	Target  Target
	Body    []byte
	Options metav1.PatchOptions
	// Subresource is what of the object it applies, empty for the object itself.
	Subresource string
	// Live is the object in the version that the write is for, nil if it is for none.
	Live *unstructured.Unstructured
}

// Failure is why a write isn't known to be done.
type Failure struct {
	Outcome write.Outcome // not Done
	Err     error
	// Advice is what is known, and what to do.
	Advice string
}

func (f *Failure) Error() string { return fmt.Sprintf("%s; %s", foreign.OfError(f.Err), f.Advice) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// NotSent returns the failure of what was to be done before a write was sent.
func NotSent(err error) *Failure { return &Failure{write.OutcomeNotSent, err, Advice(err)} }

// Send sends the write, once, and returns the object as the server made it. If the answer was lost, or says that the object
// changed, it looks whether the object is what this write makes of it.
func (w *Write) Send(ctx context.Context) (*unstructured.Unstructured, *Failure) {
	if err := ctx.Err(); err != nil {
		return nil, NotSent(err)
	}
	body, err := wire.Guarded(w.Body, w.Live)
	if err != nil {
		return nil, NotSent(err)
	}
	obj, err := w.Target.Apply(ctx, w.Live, body, w.Options)
	if err == nil {
		err = w.check(obj)
	}
	outcome := Of(err)
	switch {
	case outcome == write.OutcomeDone:
		return obj, nil
	case outcome == write.OutcomeNotSent, outcome == write.OutcomeRefused && !Outrun(err):
		return nil, &Failure{outcome, err, Advice(err)}
	}
	found := w.Look(ctx)
	if found.Made != nil {
		return found.Made, nil
	}
	return nil, found.failure(outcome, err)
}

// Try has the server try the write, which is for no object that is there.
func (w *Write) Try(ctx context.Context) error {
	body, err := wire.Guarded(w.Body, nil)
	if err != nil {
		return err
	}
	obj, err := w.Target.Apply(ctx, nil, body, w.Options, metav1.DryRunAll)
	if err == nil && obj.GetResourceVersion() != wire.AbsentVersion && obj.GetResourceVersion() != "" {
		return secrecy.Quoting("the dry run created the object: something in front of the server drops dryRun", "resourceVersion %q", obj.GetResourceVersion())
	}
	return err
}

// check returns an error if an answer that says success is not the one to this write.
func (w *Write) check(obj *unstructured.Unstructured) error {
	switch err := wire.Complete(obj); {
	case err != nil:
		return err
	case w.Live == nil:
		return nil
	case obj.GetUID() != w.Live.GetUID():
		return secrecy.Quoting("the answer is another object", "its uid is %q and not %q", obj.GetUID(), w.Live.GetUID())
	case obj.GetResourceVersion() == w.Live.GetResourceVersion() && w.Live.GetDeletionTimestamp() == nil:
		// An object that is being deleted goes with its last finalizer, and is answered with in its last version.
		return errors.New("the answer is the object as it was before")
	}
	return nil
}

// Found is what a look at the object shows of a write.
type Found struct {
	// Made is the object if it is what the write makes of it, under the name of its manager; otherwise nil.
	Made *unstructured.Unstructured
	// State tells in a few words what is there, and Untouched that this is what was there before.
	State     string
	Untouched bool
	// Touched says that somebody applied to a new object under the name of the write's manager.
	Touched bool
	// Err is why the look failed.
	Err error
}

// Look looks at the object: a read, and a dry run that tells whether the write would still change something. It goes on for a
// while when ctx has ended.
func (w *Write) Look(ctx context.Context) Found {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), LookTimeout)
	defer cancel()
	ctx, _ = wire.CollectWarnings(ctx) // the plan had them
	now, err := w.Target.Live(ctx)
	switch {
	case err != nil:
		return Found{Err: err}
	case now == nil:
		return Found{State: "the object isn't there", Untouched: w.Live == nil}
	}
	found := w.compare(now)
	owned, err := w.owned(now)
	if err != nil || !owned {
		return found
	}
	found.Touched = w.Live == nil
	body, err := wire.Guarded(w.Body, now)
	if err != nil {
		return Found{Err: err}
	}
	tried, err := w.Target.Apply(ctx, now, body, w.Options, metav1.DryRunAll)
	if err == nil && (tried.GetUID() != now.GetUID() || tried.GetResourceVersion() != now.GetResourceVersion()) {
		err = errors.New("the dry run was answered with another object, or another version of it")
	}
	switch {
	case err == nil && explain.Equal(now.Object, tried.Object):
		return Found{Made: now}
	case err != nil && !Outrun(err) && !found.Untouched: // a refusal for another reason doesn't tell how the object differs
		found.Err = err
	}
	return found
}

// compare tells how the object differs from what the write was for, as far as the metadata show.
func (w *Write) compare(now *unstructured.Unstructured) Found {
	switch {
	case w.Live == nil:
		return Found{State: "an object is there, which isn't what was sent"}
	case now.GetUID() != w.Live.GetUID():
		return Found{State: "somebody re-created the object"}
	case now.GetResourceVersion() == w.Live.GetResourceVersion():
		return Found{State: "the object is as it was", Untouched: true}
	}
	return Found{State: "the object has changed, and isn't what was sent"}
}

// owned reports whether the object has fields that the write's manager applied.
func (w *Write) owned(now *unstructured.Unstructured) (bool, error) {
	owners, err := fieldowner.Read(now.Object)
	applier := fieldowner.Applier{Manager: w.Options.FieldManager, Subresource: w.Subresource}
	return !owners.Fields(applier.Is).Empty(), err
}

// failure returns what follows from what was found after a write that was refused, or whose answer was lost.
func (f Found) failure(outcome write.Outcome, err error) *Failure {
	state := f.State
	if f.Err != nil {
		state = fmt.Sprintf("a look at the object failed, too (%s)", authresilience.Classify(f.Err))
	}
	switch {
	case f.Err != nil || outcome == write.OutcomeUnknown && !f.Untouched || f.Touched:
		return &Failure{write.OutcomeUnknown, err, "whether it was written isn't known: " + state + ": plan again, which tells"}
	case outcome == write.OutcomeRefused:
		return &Failure{outcome, err, Advice(err)}
	case MayArrive(err):
		return &Failure{outcome, err, "nothing was written so far: " + state + ", and the request may still arrive: plan again"}
	}
	return &Failure{write.OutcomeNotSent, err, "nothing was written: " + state + ": try again"}
}
