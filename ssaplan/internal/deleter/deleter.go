// Package deleter deletes one object, and no other object with the same name: each delete has the UID of the object.
// The package sends the requests for a plan of package deletion, and the requests that carry out the plan.
package deleter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/redact"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Target is an object in a cluster.
type Target struct {
	Identity identity.Identity // with the namespace resolved
	Resource *wire.Resource
	// Live returns the object as it is, nil if there is none.
	Live func(context.Context) (*unstructured.Unstructured, error)
}

// Deleter deletes one object. It is not for concurrent use.
type Deleter struct {
	Request deletion.Request
	Options deletion.Options
	Server  *wire.Server
	// Find looks the object up. A kind that isn't served is an error for which meta.IsNoMatchError holds.
	Find func(context.Context) (Target, error)
	// If Count is true, plans have the number of objects in a namespace, or of a CRD.
	Count bool

	// Redactor returns the redactor for texts about the objects, such as errors of the server that quote sensitive
	// values. If Redactor is nil, nothing is redacted.
	Redactor func(...*unstructured.Unstructured) redact.Redactor

	Seen       *unstructured.Unstructured // at the last look
	Accepted   bool                       // by the server
	Outcome    write.Outcome              // of the delete; empty if it wasn't sent
	Finalizers []string                   // that it waits for

	isGone   bool // the server answered that the object doesn't exist, and doesn't serve its kind any more
	target   *Target
	warned   []foreign.Text // the warnings that Options.Warning was called with
	counting int            // requests that counted contents
}

// Look returns the live object, or nil if it no longer exists. It fails if the name belongs to another object now, with
// another UID. It also fails if the request has no UID, since the live object may be another one then.
func (d *Deleter) Look(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := d.read(ctx)
	if err != nil || live == nil {
		return nil, err
	}
	if d.Request.UID == "" {
		return nil, fmt.Errorf("the UID of the object to delete is unknown, so nothing is deleted: "+
			"read it, and put %q into the state if it is the one that is meant", foreign.Text(live.GetUID()))
	}
	return live, deletion.Of(d.Request, live).Refusal
}

func (d *Deleter) read(ctx context.Context) (*unstructured.Unstructured, error) {
	if d.target == nil {
		target, err := d.Find(ctx)
		if err != nil {
			return nil, err
		}
		d.target, d.Request.Object = &target, target.Identity
	}
	live, err := d.target.Live(ctx)
	if err == nil {
		err = precondition.Another(d.Seen, live)
	}
	if err != nil {
		return nil, err
	}
	if live != nil {
		d.Seen = live
	}
	return live, nil
}

// Plan finds out what deleting the object will do. It changes nothing. A rejection of the delete is a part of the plan.
// An error means that there is no plan, and says nothing about the object.
func (d *Deleter) Plan(ctx context.Context) (*deletion.Plan, error) {
	attempts := applier.NewAttempts(ctx)
	for {
		live, err := d.read(ctx)
		switch class := authresilience.Classify(err); {
		case err == nil:
		case meta.IsNoMatchError(err), class == authresilience.ClassTypeNotServed:
			return d.finish(deletion.Unread(d.Request, d.redacted(err))), nil
		case class == authresilience.ClassAuthorization && d.target != nil:
			return d.planUnread(ctx, err)
		default:
			return nil, err
		}
		plan, err := d.PlanFor(ctx, live)
		if !applier.Moved(err) {
			return plan, err
		}
		if !attempts.Again(live) {
			return nil, cmp.Or(ctx.Err(), applier.ErrRestless)
		}
	}
}

// PlanFor returns the plan for the object as it was just read, nil if there is none. It sends a dry run of the delete,
// unless the object is already being deleted. It fails if the object was deleted or replaced since it was read.
func (d *Deleter) PlanFor(ctx context.Context, live *unstructured.Unstructured) (*deletion.Plan, error) {
	plan := deletion.Of(d.Request, live)
	if plan.Action == deletion.ActionDelete {
		if err := d.try(ctx, plan, "the server would delete it"); err != nil {
			return nil, err
		}
	}
	if d.Count && plan.Deletes() {
		plan.Contents = d.contents(ctx, live)
	}
	return d.finish(plan), nil
}

// planUnread returns the plan for an object that the caller may not read. If the request has the UID of the object, a
// dry run of the delete shows whether the caller may delete the object.
func (d *Deleter) planUnread(ctx context.Context, cause error) (*deletion.Plan, error) {
	plan := deletion.Unread(d.Request, d.redacted(cause))
	if d.Request.UID == "" {
		return d.finish(plan), nil
	}
	if err := d.try(ctx, plan, plan.Reason); err != nil && !applier.Moved(err) {
		return nil, err
	}
	return d.finish(plan), nil
}

// try sends a dry run of the delete. If the server rejects the delete, try writes the rejection into the plan;
// otherwise it writes the reason. If the server can't do the dry run, the plan gets a warning. Any other failure is
// returned as an error.
func (d *Deleter) try(ctx context.Context, plan *deletion.Plan, reason string) error {
	if err := d.target.Resource.CheckDelete(ctx); err != nil {
		return err
	}
	listening, collected := warnings.Collect(ctx)
	err := d.target.Resource.Delete(listening, plan.Object.Name, d.options(plan.UID, metav1.DryRunAll))
	plan.Warnings = append(plan.Warnings, d.warn(collected)...)
	switch {
	case err == nil:
		plan.Reason = reason
		return d.checkDryRun(ctx, plan.UID)
	case slices.ContainsFunc(answer.Statuses(err), answer.NoDryRun):
		plan.Reason = "is there"
		plan.Warnings = append(plan.Warnings,
			foreign.Textf("unknown whether the server would delete it: %v", d.redacted(err)))
	case applier.Denied(err):
		plan.Refusal = d.redacted(err)
		plan.Action, plan.Reason = deletion.ActionRefused, plan.Refusal.Error()
	default:
		return err
	}
	return nil
}

// checkDryRun returns an error if the dry run deleted the object. It reads the object again: the object must exist,
// with the same UID and without a time of deletion. If the object wasn't read before, checkDryRun repeats the dry run,
// which fails for a deleted object.
func (d *Deleter) checkDryRun(ctx context.Context, uid string) error {
	ctx, _ = warnings.Collect(ctx) // they are known
	var live *unstructured.Unstructured
	var err error
	if d.Seen != nil {
		live, err = d.target.Live(ctx)
	} else {
		err = d.target.Resource.Delete(ctx, d.Request.Object.Name, d.options(uid, metav1.DryRunAll))
	}
	switch isGone := live == nil || string(live.GetUID()) != uid || live.GetDeletionTimestamp() != nil; {
	case err == nil && (d.Seen == nil || !isGone):
		return nil
	case err == nil, applier.Moved(err):
		return errDeletedMeanwhile
	}
	return err
}

// errDeletedMeanwhile is an error of a plan only. [Deleter.Delete] plans again after this error: it doesn't matter who
// deleted the object.
var errDeletedMeanwhile = errors.New(
	"the dry run deleted the object, or another client did at that moment: if something in front of the server " +
		"drops dryRun, nothing can be planned through it")

func (d *Deleter) finish(plan *deletion.Plan) *deletion.Plan {
	if d.target != nil {
		plan.Requests = d.target.Resource.Requests() + d.counting
	}
	return plan
}

// redacted returns err without sensitive values, so that it can be printed.
func (d *Deleter) redacted(err error) error { return d.redactor().Error(err) }

// redactor returns the redactor for the object as it was last read. If it wasn't read, the kind alone decides what is
// sensitive.
func (d *Deleter) redactor() redact.Redactor {
	if d.Redactor == nil {
		return redact.Redactor{}
	}
	return d.Redactor(d.Seen, secrecy.Remembered(d.Request.Object, nil))
}

// warn calls Options.Warning with each warning of the server that is new. It returns all warnings without sensitive
// values.
func (d *Deleter) warn(collected *warnings.Warnings) []foreign.Text {
	texts := d.redactor().Warnings(collected.All())
	for _, text := range texts {
		if d.Options.Warning != nil && !slices.Contains(d.warned, text) {
			d.warned = append(d.warned, text)
			d.Options.Warning(d.Request.Object, text)
		}
	}
	return texts
}

// Delete plans the delete, carries out the plan, and returns when the object is gone. If there is a reviewed plan that
// doesn't cover the new plan, Delete deletes nothing and returns a [deletion.ChangedError].
func (d *Deleter) Delete(ctx context.Context, reviewed *deletion.Plan) error {
	if reviewed == nil && d.Request.UID == "" {
		_, err := d.Look(ctx)
		return err
	}
	plan, err := d.Plan(ctx)
	switch {
	case errors.Is(err, errDeletedMeanwhile):
		return d.Delete(ctx, reviewed) // which finds no object, one that is being deleted, or another one
	case err != nil:
		return err
	case plan.Refusal != nil:
		if plan.Action == deletion.ActionRefused {
			d.Outcome = write.OutcomeRefused
		}
		return plan.Refusal
	case reviewed != nil && !reviewed.Covers(plan):
		return &deletion.ChangedError{Plan: plan}
	case !plan.Deletes():
		return nil
	}
	return d.Finish(ctx, d.Seen)
}

// Finish deletes the object that was just seen, unless that has happened, and returns when it is gone.
func (d *Deleter) Finish(ctx context.Context, live *unstructured.Unstructured) (err error) {
	for live != nil {
		switch {
		case live.GetDeletionTimestamp() != nil:
			err = d.wait(ctx, live.GetFinalizers())
		case d.Accepted: // an object that a server deletes is gone, or has a time of deletion
			d.Accepted, d.Outcome = false, write.OutcomeUnknown
			err = errors.New("the delete was answered with success, and the object is as it was: " +
				"check the proxies in front of the server")
		default:
			err = d.send(ctx, string(live.GetUID()))
		}
		if err != nil || d.isGone {
			return err
		}
		if live, err = d.Look(ctx); err != nil && !d.isRemoved(err) {
			return err
		}
	}
	return nil
}

// isRemoved reports whether the object is gone, given the error of the look after the delete: its kind isn't served any
// more, such as when the CRD is deleted at the same time. An object without finalizers is gone once its delete is
// accepted.
func (d *Deleter) isRemoved(err error) bool {
	return d.Accepted && d.Seen.GetDeletionTimestamp() == nil && len(d.Seen.GetFinalizers()) == 0 &&
		d.Request.Propagation != metav1.DeletePropagationForeground &&
		authresilience.Classify(err) == authresilience.ClassTypeNotServed
}

// send sends the delete of the object with that uid, and notes what became of it. The error is nil if it is done.
func (d *Deleter) send(ctx context.Context, uid string) error {
	var answered error
	_, failure := applier.Once(ctx, func(ctx context.Context) (*unstructured.Unstructured, error) {
		listening, collected := ctx, &warnings.Warnings{}
		if d.Options.Warning != nil || d.redactor().Redacts() { // or else they go where the client's other warnings go
			listening, collected = warnings.Collect(ctx)
		}
		answered = d.target.Resource.Delete(listening, d.Request.Object.Name, d.options(uid))
		d.warn(collected)
		return nil, answered
	}, func(ctx context.Context) applier.Found {
		live, err := d.read(ctx)
		if authresilience.Classify(err) == authresilience.ClassTypeNotServed && isAbsent(answered) {
			d.isGone, err = true, nil
		}
		isDone := live == nil || string(live.GetUID()) != uid || live.GetDeletionTimestamp() != nil
		return applier.Found{Done: err == nil && isDone, Made: live, State: "the object is as it was", Untouched: true,
			Err: err}
	})
	if d.Accepted = failure == nil; d.Accepted {
		d.Outcome = write.OutcomeDone
		return nil
	}
	d.Outcome = failure.Outcome
	if failure.Known == "" {
		return failure.Err
	}
	return fmt.Errorf("%w; %s", failure.Err, failure.Known)
}

// isAbsent reports whether the answer to a delete is that the object doesn't exist.
func isAbsent(err error) bool { return authresilience.Classify(err) == authresilience.ClassNotFound }

// options returns those of a delete. The propagation policy is always said: without one a server leaves behind what
// Jobs and ReplicationControllers started.
func (d *Deleter) options(uid string, dryRun ...string) metav1.DeleteOptions {
	policy := cmp.Or(d.Request.Propagation, metav1.DeletePropagationBackground)
	options := metav1.DeleteOptions{PropagationPolicy: &policy, DryRun: dryRun}
	if uid != "" {
		options.Preconditions = metav1.NewUIDPreconditions(uid)
	}
	return options
}

// wait reports that the object is still there, and waits before the next look.
func (d *Deleter) wait(ctx context.Context, finalizers []string) error {
	d.Accepted, d.Finalizers = true, finalizers
	if d.Options.Progress != nil {
		d.Options.Progress(d.Request.Object, finalizers)
	}
	interval := d.Options.PollInterval
	if interval <= 0 {
		interval = time.Second
	}
	return clock.Sleep(ctx, interval)
}
