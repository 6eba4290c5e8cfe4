package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// verdict is what became of a child.
type verdict string

const (
	asDeclared verdict = "AsDeclared"
	created    verdict = "Created"
	updated    verdict = "Updated"
	replaced   verdict = "Replaced"
	deleted    verdict = "Deleted"

	drifted           verdict = "Drifted"
	conflicting       verdict = "Conflict"
	refused           verdict = "Refused"
	replacementNeeded verdict = "ReplacementNeeded"
	waiting           verdict = "Waiting"
	deferred          verdict = "Deferred"
	failed            verdict = "Failed"
)

// written reports whether something was written to the child.
func (v verdict) written() bool {
	return v == created || v == updated || v == replaced || v == deleted
}

// open reports whether the child is not what the Website declares, and known not to be.
func (v verdict) open() bool { return v != "" && v != asDeclared && !v.written() }

// outcome is what became of a child, and why.
type outcome struct {
	kind    string
	verdict verdict // empty as long as the plan is still to be carried out
	text    string
	// repaired are the changes of others that were put back.
	repaired []ssaplan.Change
	// err is what is worth another try at once.
	err error
}

// child is an object of a Website: what it has to be, what it is, and what is going to be done.
type child struct {
	manifest, live *unstructured.Unstructured // nil if it isn't wanted, or not there
	planner        *ssaplan.Planner
	plan           *ssaplan.Plan
	outcome
}

// fail takes an error for the outcome. A refusal stays one until something changes; anything else may pass.
func (c *child) fail(err error) {
	var refusal *ssaplan.RefusedError
	if errors.As(err, &refusal) {
		c.verdict, c.text = refused, err.Error()
		return
	}
	c.verdict, c.text, c.err = failed, err.Error(), err
}

// judge finds out whether the plan may be carried out, and if not why.
func (c *child) judge(spec v1alpha1.WebsiteSpec) {
	switch {
	case c.plan.Action == ssaplan.Conflict:
		c.verdict, c.text = conflicting, lines(c.plan.Conflicts)
	case c.plan.Action == ssaplan.Deferred:
		c.verdict, c.text = deferred, c.plan.Reason
	case c.plan.Action == ssaplan.Replace && c.plan.Replacement.UID != string(c.live.GetUID()):
		c.fail(errors.New("was created anew meanwhile, maybe by somebody else: looking again"))
	case c.plan.Action == ssaplan.Replace && spec.ReplacePolicy != v1alpha1.AllowReplace:
		c.verdict, c.text = replacementNeeded, replacement(c.plan)
	case c.plan.Action == ssaplan.Update && spec.DriftPolicy == v1alpha1.ReportDrift && !c.edits():
		c.verdict, c.text = drifted, lines(drift(c.plan))
	}
}

// edits reports whether the plan does more than to put something back. A child that isn't there is put back.
func (c *child) edits() bool {
	switch {
	case c.plan == nil, c.plan.Action == ssaplan.Replace:
		return true
	case c.plan.Action != ssaplan.Update:
		return false
	}
	for _, change := range c.plan.Changes {
		if change.Cause == ssaplan.Edited || change.Cause == ssaplan.Dropped {
			return true
		}
	}
	return len(drift(c.plan)) == 0
}

// drift returns what others changed.
func drift(plan *ssaplan.Plan) []ssaplan.Change {
	var out []ssaplan.Change
	for _, change := range plan.Changes {
		if change.Cause == ssaplan.Drifted {
			out = append(out, change)
		}
	}
	return out
}

func replacement(plan *ssaplan.Plan) string {
	text := plan.Reason
	if hazards := plan.Replacement.Hazards; len(hazards) > 0 {
		text += " (replacing it: " + lines(hazards) + ")"
	}
	return text + "; to have it deleted and created anew, set spec.replacePolicy to Allowed"
}

// lines says several things in one line.
func lines[T fmt.Stringer](things []T) string {
	texts := make([]string, len(things))
	for i, thing := range things {
		texts[i] = thing.String()
	}
	return strings.Join(texts, "; ")
}

// leftToOthers returns the fields of a child that the Website ignores and that others own. As long as nobody else owns
// such a field it stays declared: a field that is given up with no owner left is deleted or reset by the server.
func leftToOthers(website *v1alpha1.Website, c *child) (projection.Patterns, error) {
	var texts []string
	for _, ignored := range website.Spec.Ignore {
		if ignored.Kind == c.kind {
			texts = append(texts, ignored.Fields...)
		}
	}
	patterns, err := projection.ParsePatterns(texts...)
	if err != nil {
		return nil, fmt.Errorf("spec.ignore of %s: %w", c.kind, err)
	}
	if len(patterns) == 0 || c.live == nil {
		return nil, nil
	}
	owners, err := fieldowner.Read(c.live.Object)
	if err != nil {
		return nil, err
	}
	own := fieldowner.AppliedBy(FieldManager)
	others := owners.Fields(func(o fieldowner.Owner) bool { return !own(o) })
	_, ignored := patterns.Split(others.Leaves())
	texts = nil
	for path := range ignored.All() {
		texts = append(texts, path.String())
	}
	return projection.ParsePatterns(texts...)
}

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
	if c.verdict == asDeclared && r.states.of(website, c.kind) != nil {
		return
	}
	state, err := ssaplan.NewState(obj, FieldManager)
	if err != nil {
		c.fail(err)
		return
	}
	r.states.set(website, c.kind, state)
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
	r.states.set(website, c.kind, nil)
	c.verdict, c.text = deleted, "no longer part of the Website"
}
