package applier

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/write"
)

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
	// AnyVersion sends the write for the object in whatever version, so that it doesn't fail because somebody else
	// writes all the time what it has nothing to do with. It doesn't take fields from others then: one that somebody
	// has changed since is a conflict.
	AnyVersion bool

	answer *unstructured.Unstructured // of the server to the write
}

// Send sends the write, once, and returns the object as the server made it; see [Once].
func (w *Write) Send(ctx context.Context) (*unstructured.Unstructured, *Failure) {
	guarded, options := precondition.Guarded, w.Options
	if w.AnyVersion {
		force := false
		guarded, options.Force = precondition.GuardedByUID, &force
	}
	body, err := guarded(w.Body, w.Live, options.FieldManager)
	if err != nil {
		return nil, NotSent(err)
	}
	if precondition.Copied(w.Body, w.Live, options.FieldManager) {
		if failure := w.current(ctx); failure != nil {
			return nil, failure
		}
	}
	return Once(ctx, func(ctx context.Context) (*unstructured.Unstructured, error) {
		obj, err := w.Target.Apply(ctx, w.Live, body, options)
		if err == nil {
			err = w.check(obj)
		}
		w.answer = obj
		return obj, err
	}, w.look)
}

// IsAlone reports whether obj, which Send returned, is what the write alone made of the version that it is for. What a
// look at the object found may be of later, and a write without a guard for the version may come after others.
func (w *Write) IsAlone(obj *unstructured.Unstructured) bool {
	return obj != nil && obj == w.answer && !w.AnyVersion &&
		!precondition.Copied(w.Body, w.Live, w.Options.FieldManager)
}

// current reads the object, and returns a failure as of a server that refuses the write because the object isn't the
// one that it is for, or not in its version. It replaces the guards where the server would copy them into the object.
func (w *Write) current(ctx context.Context) *Failure {
	now, err := w.Target.Live(ctx)
	if err != nil {
		return NotSent(err)
	}
	found := Compare(w.Live, now)
	if found.Untouched || w.AnyVersion && now != nil && now.GetUID() == w.Live.GetUID() {
		return nil
	}
	return unseen(write.OutcomeRefused, precondition.Outdated(schema.GroupResource{}, found.State))
}

// Try has the server try the write, which is for no object that is there.
func (w *Write) Try(ctx context.Context) error {
	body, err := precondition.Guarded(w.Body, nil, w.Options.FieldManager)
	if err != nil {
		return err
	}
	obj, err := w.Target.Apply(ctx, nil, body, w.Options, metav1.DryRunAll)
	if err == nil && obj.GetResourceVersion() != precondition.AbsentVersion && obj.GetResourceVersion() != "" {
		return secrecy.Quoting("the dry run created the object: something in front of the server drops dryRun",
			"resourceVersion %q", obj.GetResourceVersion())
	}
	return err
}

// check returns an error if an answer that says success is not the one to this write.
func (w *Write) check(obj *unstructured.Unstructured) error {
	err := precondition.Written(w.Live, obj)
	if err != nil || w.Live == nil {
		return err
	}
	if obj.GetResourceVersion() == w.Live.GetResourceVersion() && !precondition.WentWith(w.Live, obj) {
		return write.ErrNoEffect
	}
	return nil
}

// Made returns what is there if it is what the write makes, nil if it isn't or can't be seen.
func (w *Write) Made(ctx context.Context) *unstructured.Unstructured {
	ctx, cancel := looking(ctx)
	defer cancel()
	return w.look(ctx).Made
}

// look takes a read, and a dry run that tells whether the write would still change something.
func (w *Write) look(ctx context.Context) Found {
	now, err := w.Target.Live(ctx)
	if err != nil {
		return Found{Err: err}
	}
	found := Compare(w.Live, now)
	if now == nil {
		return found
	}
	owned, err := w.owned(now)
	if err != nil || !owned {
		return found
	}
	found.Touched = w.Live == nil
	body, err := precondition.Guarded(w.Body, now, w.Options.FieldManager)
	if err != nil {
		return Found{Err: err}
	}
	tried, err := w.Target.Apply(ctx, now, body, w.Options, metav1.DryRunAll)
	if err == nil && (tried.GetUID() != now.GetUID() || tried.GetResourceVersion() != now.GetResourceVersion()) {
		err = errors.New("the server answered the dry run with a different object or resourceVersion")
	}
	switch {
	case err == nil && explain.Equal(now.Object, tried.Object):
		return Found{Done: true, Made: now}
	// a refusal for another reason doesn't tell how the object differs
	case err != nil && !LostRace(err) && !found.Untouched:
		found.Err = err
	}
	return found
}

// owned reports whether the object has fields that the write's manager applied.
func (w *Write) owned(now *unstructured.Unstructured) (bool, error) {
	owners, err := fieldowner.Read(now.Object)
	applier := fieldowner.Applier{Manager: w.Options.FieldManager, Subresource: w.Subresource}
	return !owners.Fields(applier.Is).Empty(), err
}
