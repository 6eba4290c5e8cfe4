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
	// Subresource is the subresource to apply, empty for the object itself.
	Subresource string
	// Live is the object in the version to which the write applies, nil if the write creates an object.
	Live *unstructured.Unstructured
	// AnyVersion sends the write for any version of the object with the UID in Live. The write then succeeds even if
	// other clients constantly write other fields. It takes no field from another manager: if another manager has
	// changed a field since, that is a conflict.
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

// IsAlone reports whether obj, which Send returned, is the version in Live with only this write. An object that a look
// found may contain later writes. A write without the resourceVersion as a precondition may follow other writes.
func (w *Write) IsAlone(obj *unstructured.Unstructured) bool {
	return obj != nil && obj == w.answer && !w.AnyVersion &&
		!precondition.Copied(w.Body, w.Live, w.Options.FieldManager)
}

// current reads the object, and returns a failure if it isn't the object in Live or has another version. With
// AnyVersion, another version is no failure. The failure is that of a write that the server refuses. This check
// replaces the preconditions in the body, since the server would copy these into the object.
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

// Try sends a write that creates an object as a dry run.
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

// check returns an error if a successful answer doesn't belong to this write, or shows that it had no effect.
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

// Made returns the live object if it is as the write makes it. It returns nil if it isn't, or if that is unknown.
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
	// after another error, it is unknown whether the object differs from the result of the write
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
