package ctrlssaplan

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

// look plans a child, and judges the plan by what the policy allows.
func (k *Kit) look(ctx context.Context, c *child, policy Policy) {
	if c.isBeyondReach() {
		c.verdict = refused
		c.text = fmt.Sprintf(
			"can't be controlled by this %s, which is in the namespace %q: give it that namespace, or an owner "+
				"without one", c.ownerKind, foreign.Text(c.owner.GetNamespace()))
		return
	}
	var err error
	if c.live, err = k.read(ctx, c); err != nil {
		c.fail(err)
		return
	}
	ours := c.live != nil && metav1.IsControlledBy(c.live, c.owner)
	switch {
	case c.manifest == nil && (!ours || c.live.GetDeletionTimestamp() != nil):
		c.verdict = asDeclared // or will be, without another write
	case c.manifest == nil: // to be deleted
	case c.live != nil && !ours:
		c.verdict, c.text = refused,
			fmt.Sprintf("exists and is not controlled by this %s: rename one of them, or delete it", c.ownerKind)
	default:
		k.planApply(ctx, c, policy)
	}
}

// read returns the child as the informer has it, nil if there is none. The informer may have only some objects, and may
// be late. So a wanted child that the informer doesn't have is read from the server.
func (k *Kit) read(ctx context.Context, c *child) (*unstructured.Unstructured, error) {
	obj, err := k.readFrom(ctx, k.Client.Cached, c)
	if obj == nil && err == nil && c.manifest != nil {
		return k.readFrom(ctx, k.Client.Read, c)
	}
	return obj, err
}

// readFrom returns the child as the informer or the server has it, nil if there is none.
func (k *Kit) readFrom(ctx context.Context, read func(context.Context, client.Object) error,
	c *child) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(c.id.APIVersion)
	obj.SetKind(c.id.Kind)
	obj.SetNamespace(c.id.Namespace)
	obj.SetName(c.id.Name)
	err := read(ctx, obj)
	switch {
	case err == nil:
		return obj, nil
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err): // of a kind that isn't served there are none
		return nil, nil
	}
	return nil, k.forcing.Redactor(obj, c.manifest).Error(err)
}

// planApply plans the apply of a wanted child, and judges the plan.
func (k *Kit) planApply(ctx context.Context, c *child, policy Policy) {
	ignored, err := projection.ParsePatterns(c.wanted.Ignore...)
	if err != nil {
		c.verdict, c.text = refused, fmt.Sprintf("fields to ignore: %v", foreign.OfError(err))
		return
	}
	clear, err := projection.ParsePatterns(c.wanted.Clear...)
	if err != nil {
		c.verdict, c.text = refused, fmt.Sprintf("fields to clear: %v", foreign.OfError(err))
		return
	}
	c.planner = k.forcing
	if policy.RefuseConflicts {
		c.planner = k.asking
	}
	request := ssaplan.Request{Manifest: c.manifest, Live: c.live, Ignore: ignored, Clear: clear,
		ClearBlocking: c.wanted.ClearBlocking, LostVersions: c.wanted.LostVersions, Prior: c.memory.applied}
	if c.plan, err = c.planner.Plan(ctx, request); err != nil {
		if c.fail(err); authresilience.Classify(err) == authresilience.ClassLostVersion {
			c.text += "; the controller can have them moved to the version of the child (Child.LostVersions)"
		}
		return
	}
	isKnown := func(warning foreign.Text) bool { return slices.Contains(c.memory.warned, warning) }
	c.warnings = slices.DeleteFunc(slices.Clone(c.plan.Warnings), isKnown)
	c.memory.warned = c.plan.Warnings
	c.judge(policy)
}
