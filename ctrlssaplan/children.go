package ctrlssaplan

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// children returns the wanted children, followed by the other objects of the kit's kinds that the owner controls.
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

// child returns a child, with what the kit remembers of it.
func (k *Kit) child(owner client.Object, ownerKind string, obj *unstructured.Unstructured) (*child, error) {
	id, err := identity.Of(obj.Object)
	if err != nil {
		return nil, err
	}
	return &child{id: id, owner: owner, ownerKind: ownerKind, memory: k.memory.of(owner, id),
		outcome: outcome{child: nameOf(id, owner)}}, nil
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

// leftOver returns the objects of a kind that an owner controls and no longer wants.
func (k *Kit) leftOver(ctx context.Context, owner client.Object, kind schema.GroupVersionKind,
	seen map[identity.Identity]bool) (left []*child, err error) {
	owned, err := k.Client.Owned(ctx, owner, kind)
	switch {
	case meta.IsNoMatchError(err): // of a kind that isn't served there are none
		return nil, nil
	case err != nil:
		return nil, k.forcing.Redactor(OfKind(kind)).Error(err)
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
