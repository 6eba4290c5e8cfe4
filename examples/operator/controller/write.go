package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/ssaplan"
)

// carryOut does what the plan says, and remembers what was applied.
func (r *Reconciler) carryOut(ctx context.Context, website *v1alpha1.Website, c *child) {
	if c.plan == nil {
		r.delete(ctx, website, c)
		return
	}
	obj, err := r.write(ctx, c)
	if err != nil {
		c.fail(err)
		return
	}
	if c.verdict == asDeclared && r.states.of(website, c.kind.Kind) != nil {
		return
	}
	state, err := ssaplan.NewState(obj, FieldManager)
	if err != nil {
		c.fail(err)
		return
	}
	r.states.set(website, c.kind.Kind, state)
}

// write sends what the plan says, and nothing if that is nothing.
func (r *Reconciler) write(ctx context.Context, c *child) (*unstructured.Unstructured, error) {
	c.text = c.plan.Reason
	switch c.plan.Action {
	case ssaplan.NoOp:
		c.verdict = asDeclared
	case ssaplan.Create:
		c.verdict = created
	case ssaplan.Update:
		c.verdict, c.text, c.repaired = updated, lines(c.plan.Changes), drift(c.plan)
	case ssaplan.Replace:
		c.verdict = replaced
		ctx, cancel := context.WithTimeout(ctx, r.options.ReplaceTimeout)
		defer cancel()
		return c.planner.Replace(ctx, c.plan, ssaplan.ReplaceOptions{})
	}
	return c.planner.Apply(ctx, c.plan)
}

// delete deletes a child that is no longer wanted, if it still is the one that was looked at.
func (r *Reconciler) delete(ctx context.Context, website *v1alpha1.Website, c *child) {
	uid, version := c.live.GetUID(), c.live.GetResourceVersion()
	err := r.writer.Delete(ctx, c.live, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &version}))
	if client.IgnoreNotFound(err) != nil {
		c.fail(fmt.Errorf("delete: %w", err))
		return
	}
	r.states.set(website, c.kind.Kind, nil)
	c.verdict, c.text = deleted, "no longer part of the Website"
}
