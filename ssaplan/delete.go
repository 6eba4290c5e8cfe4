package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity"
)

// ErrRecreated says that the object of an identity is not the one that was meant: somebody deleted that one and created
// another, which was left as it is.
var ErrRecreated = errors.New("somebody re-created the object")

// DeleteError says why a remembered object is still there, as far as is known.
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
	// Propagation says what happens to the object's dependents. Default: what the server does by default for the kind.
	Propagation metav1.DeletionPropagation
	// Progress is told each time a look at the old object finds it still there. Default: nobody is.
	Progress func(old identity.Identity, finalizers []string)
	// PollInterval is the time between two looks at the old object. Default: a second.
	PollInterval time.Duration
}

// Delete deletes the object that prior remembers, guarded by its UID, and returns when it is gone; an object that is
// gone already is no error. The deadline is that of ctx; without one it waits as long as the finalizers take. An error
// is a [DeleteError]; it wraps [ErrRecreated] if the remembered object is gone and there is another one in its place.
func (p *Planner) Delete(ctx context.Context, prior *State, options DeleteOptions) error {
	if prior == nil {
		return errors.New("ssaplan: no state that says what to delete")
	}
	plan := &Plan{Object: prior.Identity, Replacement: &Replacement{Old: prior.Identity, UID: prior.UID}}
	r := &replacer{planner: p, plan: plan, options: options, stage: Deleting}
	if err := r.deleteOld(ctx); err != nil {
		return &DeleteError{prior.Identity, r.stage == Waiting, r.finalizers, p.failure(prior.Identity, "delete", err)}
	}
	return nil
}

func (r *replacer) deleteOld(ctx context.Context) error {
	if err := r.planner.expired(); err != nil {
		return err
	}
	old, err := r.planner.locate(ctx, r.plan.Replacement.Old)
	if err != nil {
		return err
	}
	return r.delete(ctx, old)
}
