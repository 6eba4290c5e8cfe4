package ssaplan

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// target is an object in the cluster: its identity with the namespace resolved, and access to it.
type target struct {
	identity identity.Identity
	scope    identity.Scope
	resource *wire.Resource
	warnings []string
}

// locate finds out where the object lives. A kind that the server doesn't serve is an error for which
// meta.IsNoMatchError holds.
func (p *Planner) locate(ctx context.Context, id identity.Identity) (*target, error) {
	kind, err := p.server.Find(ctx, schema.GroupVersionKind{Group: id.Group(), Version: id.Version(), Kind: id.Kind})
	if err != nil {
		return nil, err
	}
	t := &target{scope: identity.ScopeCluster}
	if kind.Namespaced {
		t.scope = identity.ScopeNamespaced
	}
	var warning string
	t.identity, warning = id.Resolve(t.scope, p.options.DefaultNamespace)
	if warning != "" {
		t.warnings = append(t.warnings, warning)
	}
	t.resource = p.server.Resource(kind.Resource, t.identity)
	return t, nil
}

// supplied returns the live object that the host has, or nil if it has none that is of use: without managedFields, which
// some caches drop, it doesn't say who owns what.
func (t *target) supplied(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return nil, nil
	}
	id, err := identity.Of(live.Object)
	if err != nil {
		return nil, fmt.Errorf("supplied live object: %w", err)
	}
	if id != t.identity {
		return nil, fmt.Errorf("the supplied live object is another one: %s", id)
	}
	metadata, _ := live.Object["metadata"].(map[string]any)
	if entries, _ := metadata["managedFields"].([]any); len(entries) == 0 {
		return nil, nil
	}
	return live, nil
}

// live returns the object as it is, or nil if there is none. Only the API server's own word counts for that: a proxy's
// 404 is an error.
func (t *target) live(ctx context.Context) (*unstructured.Unstructured, error) {
	obj, err := t.resource.Get(ctx, t.identity.Name, metav1.GetOptions{})
	switch authresilience.Classify(err) {
	case authresilience.ClassNotFound, authresilience.ClassNamespaceNotFound:
		return nil, nil
	}
	return t.answer(obj, err)
}

// answer returns the object that a request was answered with, if it is that object: whatever stands in front of a server
// can answer 200 with something else.
func (t *target) answer(obj *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	if id, err := identity.Of(obj.Object); err != nil || id != t.identity {
		return nil, fmt.Errorf("the answer is not this object but %q, kind %q: check the server's address", obj.GetName(), obj.GetKind())
	}
	return obj, nil
}

// dryRun returns the object as the server would make it.
func (t *target) dryRun(ctx context.Context, patch Patch) (*unstructured.Unstructured, error) {
	options := patch.Options
	options.DryRun = []string{metav1.DryRunAll}
	return t.answer(t.resource.Apply(ctx, t.identity.Name, patch.Body, options))
}

// forgetKind makes a kind be looked up anew that the server turned out not to serve any more.
func (p *Planner) forgetKind(id identity.Identity) {
	p.server.Forget(schema.GroupVersion{Group: id.Group(), Version: id.Version()})
}
