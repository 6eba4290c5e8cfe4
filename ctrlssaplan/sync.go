package ctrlssaplan

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// sync plans all the children, and then writes those that have to change. The error says that the informers have
// another owner than the server, of which there is nothing to report.
func (k *Kit) sync(ctx context.Context, owner client.Object, wanted []Child, policy Policy) (outcomes []outcome, err error) {
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

// children returns what is wanted, and behind that what the owner controls besides.
func (k *Kit) children(ctx context.Context, owner client.Object, wanted []Child) (children []*child, err error) {
	kind, err := apiutil.GVKForObject(owner, k.scheme)
	if err != nil {
		return nil, err
	}
	seen := map[identity.Identity]bool{}
	for _, w := range wanted {
		obj, err := manifest.Of(w.Object, k.scheme)
		if err != nil {
			return nil, err
		}
		c, err := k.child(owner, kind.Kind, obj)
		if err != nil {
			return nil, err
		}
		object := c.id.Unversioned()
		if seen[object] {
			return nil, fmt.Errorf("%s is twice among the children", c.id)
		}
		if seen[object] = true; !w.Absent {
			c.manifest, c.wanted = obj, w
			control(obj, owner, kind)
		}
		children = append(children, c)
	}
	for _, kind := range k.options.Kinds {
		left, err := k.leftOver(ctx, owner, kind, seen)
		if err != nil {
			return nil, err
		}
		children = append(children, left...)
	}
	stays := map[identity.Identity]bool{}
	for _, c := range children {
		stays[c.id] = true
	}
	k.memory.keep(owner, stays)
	return children, nil
}

// child returns what is known of a child.
func (k *Kit) child(owner client.Object, ownerKind string, obj *unstructured.Unstructured) (*child, error) {
	id, err := identity.Of(obj.Object)
	if err != nil {
		return nil, err
	}
	return &child{id: id, owner: owner, ownerKind: ownerKind, memory: k.memory.of(owner, id), outcome: outcome{child: nameOf(id, owner)}}, nil
}

// nameOf names a child in texts about its owner.
func nameOf(id identity.Identity, owner client.Object) string {
	if id.Name == owner.GetName() {
		return id.Kind
	}
	return id.Kind + " " + id.Name
}

// control makes the owner the controller of a child.
func control(obj *unstructured.Unstructured, owner client.Object, kind schema.GroupVersionKind) {
	if metav1.GetControllerOf(obj) == nil {
		obj.SetOwnerReferences(append(obj.GetOwnerReferences(), *metav1.NewControllerRef(owner, kind)))
	}
}

// leftOver returns what an owner controls of a kind and no longer wants.
func (k *Kit) leftOver(ctx context.Context, owner client.Object, kind schema.GroupVersionKind, seen map[identity.Identity]bool) (left []*child, err error) {
	owned, err := k.Client.Owned(ctx, owner, kind)
	switch {
	case meta.IsNoMatchError(err): // of a kind that isn't served there are none
		return nil, nil
	case err != nil:
		return nil, k.forcing.Guard(OfKind(kind)).Shown(err)
	}
	for _, obj := range owned {
		c, err := k.child(owner, "", obj)
		if err != nil {
			return nil, err
		}
		if !seen[c.id.Unversioned()] && obj.GetDeletionTimestamp() == nil {
			left = append(left, c)
		}
	}
	return left, nil
}

// look plans a child, and judges the plan by what the policy allows.
func (k *Kit) look(ctx context.Context, c *child, policy Policy) {
	if c.isBeyondReach() {
		c.verdict = refused
		c.text = fmt.Sprintf("can't be controlled by this %s, which is in the namespace %q: give it that namespace, or an owner without one", c.ownerKind, foreign.Text(c.owner.GetNamespace()))
		return
	}
	var err error
	if c.live, err = k.live(ctx, c); err != nil {
		c.fail(err)
		return
	}
	ours := c.live != nil && metav1.IsControlledBy(c.live, c.owner)
	switch {
	case c.manifest == nil && (!ours || c.live.GetDeletionTimestamp() != nil):
		c.verdict = asDeclared // or will be, without anybody doing more
	case c.manifest == nil: // to be deleted
	case c.live != nil && !ours:
		c.verdict, c.text = refused, fmt.Sprintf("exists and is not controlled by this %s: rename one of them, or delete it", c.ownerKind)
	default:
		k.plan(ctx, c, policy)
	}
}

// live returns the child as the informer has it, nil if there is none. The informer may have only some objects, and may
// be late, so that for a child that is wanted its silence is no proof.
func (k *Kit) live(ctx context.Context, c *child) (*unstructured.Unstructured, error) {
	obj, err := c.read(ctx, k.Client.Cached, k.forcing.Guard)
	if obj == nil && err == nil && c.manifest != nil {
		return c.read(ctx, k.Client.Read, k.forcing.Guard)
	}
	return obj, err
}

// read returns the child as one of the reads has it, nil if it isn't there.
func (c *child) read(ctx context.Context, read func(context.Context, client.Object) error,
	guard func(...*unstructured.Unstructured) redact.Guard) (*unstructured.Unstructured, error) {
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
	return nil, guard(obj, c.manifest).Shown(err)
}

// plan plans a child and judges the plan.
func (k *Kit) plan(ctx context.Context, c *child, policy Policy) {
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
	request := ssaplan.Request{Manifest: c.manifest, Live: c.live, Ignore: ignored, Clear: clear, ClearBlocking: c.wanted.ClearBlocking, LostVersions: c.wanted.LostVersions, Prior: c.memory.applied}
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
