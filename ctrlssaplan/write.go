package ctrlssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// carryOut does what the plan says, and remembers what was applied.
func (k *Kit) carryOut(ctx context.Context, c *child) {
	if c.plan == nil {
		k.delete(ctx, c)
		return
	}
	obj, err := k.write(ctx, c)
	if err != nil {
		c.failWrite(err, write.OutcomeOf(err))
		return
	}
	differences, err := c.plan.Differences(obj)
	if err != nil {
		c.fail(err)
		return
	}
	for _, d := range differences {
		c.text += "; not as planned: " + d.String()
	}
	if ready := k.options.Ready.Of(obj, c.planner); !ready.Ready {
		c.unready = cmp.Or(ready.String(), "isn't ready")
	}
	if c.repaired = drift(c.plan); c.putsBack() {
		c.memory.repairs = append(c.memory.repairs, time.Now())
	}
	if c.verdict == asDeclared && c.memory.applied != nil {
		return
	}
	if c.memory.applied, err = c.plan.State(obj); err != nil {
		c.fail(err)
	}
}

// write sends what the plan says, and nothing if that is nothing.
func (k *Kit) write(ctx context.Context, c *child) (*unstructured.Unstructured, error) {
	c.text = c.plan.Reason
	switch c.plan.Action {
	case ssaplan.ActionNoOp:
		c.verdict = asDeclared
	case ssaplan.ActionCreate:
		c.verdict, c.text = created, "was not there"
	case ssaplan.ActionUpdate:
		c.verdict, c.text = updated, lines(c.plan.Changes)
	case ssaplan.ActionReplace:
		c.verdict = replaced
		ctx, cancel := clock.WithTimeout(ctx, k.options.ReplaceTimeout)
		defer cancel()
		return c.planner.Replace(ctx, c.plan, deletion.Options{})
	}
	return c.planner.Apply(ctx, c.plan)
}

// delete deletes a child that is no longer wanted, if it still is the one that was looked at. What the server says of
// it, and what the delete waits for, is part of the outcome.
func (k *Kit) delete(ctx context.Context, c *child) {
	uid, version := c.live.GetUID(), c.live.GetResourceVersion()
	plan, err := k.forcing.PlanDelete(ctx, deletion.Request{Object: c.id, UID: string(uid)})
	if err == nil {
		err = plan.Refusal
	}
	if err != nil {
		c.fail(fmt.Errorf("delete: %w", err))
		return
	}
	if plan.Action != deletion.ActionDelete {
		c.memory.applied, c.verdict = nil, asDeclared // it is gone, or going, and the informer is late
		return
	}
	propagation := plan.Propagation
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
		PropagationPolicy: &propagation}
	if err = k.Client.Delete(ctx, c.live, options); client.IgnoreNotFound(err) != nil {
		c.failWrite(fmt.Errorf("delete: %w", k.forcing.Redactor(c.live).Error(err)), outcomeOfDelete(err))
		return
	}
	c.memory.applied = nil
	c.verdict, c.text = deleted, "no longer wanted"
	if notes := plan.Notes(immutability.HazardOwner, immutability.HazardInterruption,
		immutability.HazardDependents); len(notes) > 0 {
		c.text += ": " + strings.Join(notes, "; ")
	}
}

// outcomeOfDelete returns what became of a delete that ended with an error: a refusal says that nothing was deleted.
func outcomeOfDelete(err error) write.Outcome {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code >= http.StatusBadRequest &&
		status.Status().Code < http.StatusInternalServerError {
		return write.OutcomeRefused
	}
	return write.OutcomeUnknown
}
