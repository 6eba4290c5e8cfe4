package liveobject

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// ErrNoNamespace says that an object of a kind with namespaces names none, and there is no default.
var ErrNoNamespace = errors.New(
	"metadata.namespace: missing, and there is no default namespace: name the one that the object is meant to be in")

// Locator finds out where objects are.
type Locator struct {
	Server    *wire.Server
	Passwords *passwords.Fields
	// DefaultNamespace is the namespace of namespaced objects that name none. Empty means that there is no default.
	DefaultNamespace string
}

// Locate finds out where an object is. A namespaced object without a namespace is in the default namespace; if there is
// no default, the error is [ErrNoNamespace]. For a kind that the server doesn't serve, meta.IsNoMatchError holds for
// the error.
func (l Locator) Locate(ctx context.Context, id identity.Identity, subresource string) (*Target, error) {
	gvk := schema.GroupVersionKind{Group: id.Group(), Version: id.Version(), Kind: id.Kind}
	kind, err := l.Passwords.Find(ctx, gvk)
	if err != nil {
		return nil, err
	}
	t := &Target{passwords: l.Passwords, Scope: identity.ScopeCluster, subresource: subresource}
	if kind.Namespaced {
		t.Scope = identity.ScopeNamespaced
	}
	var warning string
	t.Identity, warning = id.Resolve(t.Scope, l.DefaultNamespace)
	if kind.Namespaced && t.Identity.Namespace == "" {
		return nil, ErrNoNamespace
	}
	if warning != "" {
		t.Warnings = append(t.Warnings, foreign.Text(warning))
	}
	t.Resource = l.Server.Resource(kind, t.Identity)
	if err := t.findReplicas(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// Remembered returns the object of a stored UID, nil if it doesn't exist or can't be read, and how many requests that
// took.
func (l Locator) Remembered(ctx context.Context, id identity.Identity, uid string) (*unstructured.Unstructured, int) {
	target, err := l.Locate(ctx, id, "")
	if err != nil {
		return nil, 0
	}
	live, err := target.Live(ctx)
	if err != nil || live == nil || string(live.GetUID()) != uid {
		return nil, target.Requests()
	}
	return live, target.Requests()
}

// findReplicas finds out in which field the objects have their number of replicas, if the target is a scale. The CRD of
// a custom resource says so. If there is no CRD, or the caller may not read it, the field is taken to be spec.replicas.
func (t *Target) findReplicas(ctx context.Context) error {
	if t.subresource != "scale" || facts.IsBuiltin(map[string]any{"apiVersion": t.Identity.APIVersion}) {
		return nil
	}
	definition, err := t.Definitions().Get(ctx, t.GroupResource().String(), metav1.GetOptions{})
	switch class := authresilience.Classify(err); {
	case err == nil:
		t.replicas = scale.Defined(definition)
	case class == authresilience.ClassAuthorization || class == authresilience.ClassNotFound:
		t.Warnings = append(t.Warnings,
			"the CRD can't be read, so the number of replicas is taken to be at spec.replicas")
	default:
		return err
	}
	return nil
}
