package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// ErrRecreated says that the object of an identity is not the one that was meant: somebody deleted that one and created
// another, which was left as it is.
var ErrRecreated = errors.New("somebody re-created the object")

// DeleteError describes why [Planner.Delete] did not end with the object gone: it is still there, as far as is known, or, if it
// wraps [ErrRecreated], another one has taken its place.
type DeleteError struct {
	Object identity.Identity
	// Accepted says that the server accepted the delete, and Finalizers what it waits for.
	Accepted   bool
	Finalizers []string
	Err        error
}

func (e *DeleteError) Error() string {
	switch {
	case len(e.Finalizers) > 0:
		return fmt.Sprintf("%v: the delete waits for finalizers %s; see who should remove them, then delete again to wait on",
			e.Err, strings.Join(e.Finalizers, ", "))
	case e.Accepted:
		return fmt.Sprintf("%v: the server accepted the delete, and the object is still there; delete again to wait on", e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *DeleteError) Unwrap() error { return e.Err }

// DeleteOptions say how [Planner.Replace] and [Planner.Delete] delete, and wait for it. The zero value works.
type DeleteOptions struct {
	// Propagation is what happens to the object's dependents. Default: what the server does by default for the kind.
	Propagation metav1.DeletionPropagation
	// Progress is told each time a look at the old object finds it still there. Default: nobody is.
	Progress func(old identity.Identity, finalizers []string)
	// PollInterval is the time between two looks at the old object. Default: a second.
	PollInterval time.Duration
}

// Delete deletes the object that prior remembers, guarded by its UID, and returns when it is gone; an object that is
// gone already is no error. The deadline is that of ctx; without one it waits as long as the finalizers take. Without a
// known UID nothing is deleted.
//
// Every error but that of a nil prior is a [DeleteError]; it wraps [ErrRecreated] if the remembered object is gone and
// there is another one in its place.
func (p *Planner) Delete(ctx context.Context, prior *explain.State, options DeleteOptions) error {
	if prior == nil {
		return errors.New("ssaplan: no state that says what to delete")
	}
	d := &deletion{planner: p, id: prior.Identity, uid: prior.UID, options: options}
	if err := d.run(ctx); err != nil {
		err = secrecy.Hide(p.failure(prior.Identity, "delete", err), d.seen)
		return &DeleteError{prior.Identity, d.accepted, d.finalizers, err}
	}
	return nil
}

// deletion deletes one object, guarded by its UID.
type deletion struct {
	planner *Planner
	id      identity.Identity
	uid     string
	options DeleteOptions

	target     *target
	seen       *unstructured.Unstructured // at the last look
	accepted   bool                       // by the server
	finalizers []string                   // that it waits for
}

func (d *deletion) run(ctx context.Context) error {
	if err := d.planner.expired(); err != nil {
		return err
	}
	live, err := d.look(ctx)
	if err != nil {
		return err
	}
	return d.finish(ctx, live)
}

// look returns the object if it is there, and nil if it is gone. Another one in its place is an error.
func (d *deletion) look(ctx context.Context) (_ *unstructured.Unstructured, err error) {
	if d.target == nil {
		if d.target, err = d.planner.locate(ctx, d.id); err != nil {
			return nil, err
		}
	}
	live, err := d.target.live(ctx)
	if err != nil || live == nil {
		return nil, err
	}
	d.seen = live
	switch uid := string(live.GetUID()); {
	case d.uid == "":
		return nil, fmt.Errorf("the uid of the object to delete isn't known, so nothing is deleted: read it, and put %q into the state if it is the one that is meant", uid)
	case uid != d.uid:
		return nil, fmt.Errorf("%w: its uid was %q and is %q", ErrRecreated, d.uid, uid)
	}
	return live, nil
}

// finish deletes the object that was just seen, unless that has happened, and returns when it is gone.
func (d *deletion) finish(ctx context.Context, live *unstructured.Unstructured) (err error) {
	for live != nil {
		if live.GetDeletionTimestamp() == nil && !d.accepted {
			err = d.send(ctx, live.GetUID())
		} else {
			err = d.wait(ctx, live.GetFinalizers())
		}
		if err != nil {
			return err
		}
		if live, err = d.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *deletion) send(ctx context.Context, uid types.UID) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if d.options.Propagation != "" {
		options.PropagationPolicy = &d.options.Propagation
	}
	if err := d.target.resource.Delete(ctx, d.target.identity.Name, options); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	d.accepted = true
	return nil
}

// wait reports that the object is still there, and waits before the next look.
func (d *deletion) wait(ctx context.Context, finalizers []string) error {
	d.accepted, d.finalizers = true, finalizers
	if d.options.Progress != nil {
		d.options.Progress(d.target.identity, finalizers)
	}
	interval := d.options.PollInterval
	if interval <= 0 {
		interval = time.Second
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
		return nil
	}
}
