package ctrlssaplan

import (
	"context"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Reconcile creates, updates and deletes the children of an owner, as far as the policy allows, and writes the owner's
// status and events. The status is the one in owner, with the kit's conditions. Status fields that only other field
// managers own stay, unless the caller has changed them. If owner is out of date, a difference in a status field may be
// the work of others. Then this field stays, too. The rest of the status is written, and Reconcile returns an error for
// which apierrors.IsConflict is true. After a write, owner is the object in the server's answer. For an owner that is
// being deleted it does nothing, so that deleted children don't come back. The result says when to reconcile again.
//
// All children are planned in their order before the first is written. If one child can't be written, the edits of all
// children wait. After a failed write, the remaining edits wait, too. Drift is repaired even then if [Policy].Drift is
// [DriftRepair], except after too many repairs in a short time.
func (k *Kit) Reconcile(ctx context.Context, owner client.Object, children []Child,
	policy Policy) (ctrl.Result, error) {
	if owner.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	got := k.got(ctx, owner)
	outcomes, err := k.sync(ctx, owner, children, policy)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := k.report(ctx, owner, got, outcomes); err != nil {
		return ctrl.Result{}, err
	}
	return k.next(outcomes)
}

// sync plans all the children, and then writes those that have to change. An error says that the informers have another
// owner than the server. Then there is nothing to report.
func (k *Kit) sync(ctx context.Context, owner client.Object, wanted []Child,
	policy Policy) (outcomes []outcome, err error) {
	children, err := k.children(ctx, owner, wanted)
	if err != nil {
		return []outcome{{verdict: failed, text: foreign.OfError(err).String(), err: err}}, nil
	}
	blocked := false
	for _, c := range children {
		k.look(ctx, c, policy)
		blocked = blocked || c.verdict.open()
	}
	if slices.ContainsFunc(children, func(c *child) bool { return c.writes(blocked) }) {
		switch err := k.confirm(ctx, owner); {
		case isOtherHistory(err):
			return nil, err
		case err != nil:
			return []outcome{{verdict: failed, text: foreign.OfError(err).String(), err: err}}, nil
		}
	}
	for _, c := range children {
		switch {
		case c.verdict != "":
		case blocked && c.edits():
			c.verdict, c.text = waiting, "its changes wait for the other children"
		default:
			k.carryOut(ctx, c)
			blocked = blocked || c.verdict.open()
		}
		outcomes = append(outcomes, c.outcome)
	}
	return outcomes, nil
}

// next says when to look again: as usual after an error, later if something else is in the way, and otherwise when the
// next event comes.
func (k *Kit) next(outcomes []outcome) (ctrl.Result, error) {
	var result ctrl.Result
	for _, o := range outcomes {
		if o.err != nil {
			return ctrl.Result{}, o.err
		}
		if o.verdict.open() {
			result.RequeueAfter = k.options.RetryAfter
		}
	}
	return result, nil
}
