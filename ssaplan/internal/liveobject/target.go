// Package liveobject is about one object on a server: it finds out where the object is, reads it or takes it from lists
// that are read for many objects, tries applies and patches in dry runs, and sends them.
package liveobject

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Target is an object in the cluster, or a subresource of it: its identity with the namespace resolved, and access to
// it.
type Target struct {
	*wire.Resource
	Identity identity.Identity
	Scope    identity.Scope
	// Warnings are about the namespace.
	Warnings []foreign.Text

	passwords   *passwords.Fields
	subresource string
	replicas    scale.Places // of a scale
	wrote       error        // set if the server carried out a dry run
	// unrecorded is the object of the last call of [Target.Recorded], and recorded is the result of that call.
	unrecorded, recorded *unstructured.Unstructured
}

// Live returns the object as it is, or nil if it doesn't exist. Only an answer of the API server counts for that: a
// proxy's 404 is an error. A subresource is read through the object.
func (t *Target) Live(ctx context.Context) (*unstructured.Unstructured, error) {
	obj, err := t.Resource.Get(ctx, t.Identity.Name, metav1.GetOptions{})
	switch authresilience.Classify(err) {
	case authresilience.ClassNotFound:
		return nil, absent(t.Identity.Name, err)
	case authresilience.ClassNamespaceNotFound:
		return nil, nil
	}
	if obj, err = answered(t.Identity, obj, err); err == nil {
		err = precondition.Complete(obj)
	}
	if err != nil {
		return nil, err
	}
	t.passwords.LearnCarried(ctx, obj)
	return t.seen(obj), nil
}

// seen returns the scale of a live object if the target is a scale, and otherwise the object itself. Other subresources
// are parts of the object.
func (t *Target) seen(live *unstructured.Unstructured) *unstructured.Unstructured {
	if _, _, other := facts.OfSubresource(t.subresource); other {
		return scale.Of(live, t.replicas)
	}
	return live
}

// answered returns the object in the answer to a request if it is the one of that identity. A proxy in front of a
// server can answer 200 with something else.
func answered(want identity.Identity, obj *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	if id, err := identity.Of(obj.Object); err != nil || id != want {
		return nil, secrecy.Quoting("the answer is another object: check the server's address", "%q, kind %q",
			obj.GetName(), obj.GetKind())
	}
	return obj, nil
}

// absent returns an error if a 404 names another object. A cache or a proxy may have mixed up two answers.
func absent(name string, err error) error {
	var missing apierrors.APIStatus
	if !errors.As(err, &missing) || missing.Status().Details == nil {
		return nil
	}
	if other := missing.Status().Details.Name; other != "" && other != name {
		return secrecy.Quoting(fmt.Sprintf(
			"the server was asked for %q and answers that another object isn't there: check the proxies in front "+
				"of the server", foreign.Text(name)), "%q", other)
	}
	return nil
}

// Wrote returns an error if the server carried out the dry run of a create, an update or a JSON patch.
func (t *Target) Wrote() error { return cmp.Or(t.wrote, t.Resource.Wrote()) }

// NotFound returns the error that the object isn't there, as a server words it.
func (t *Target) NotFound() error {
	return apierrors.NewNotFound(t.GroupResource(), t.Identity.Name)
}

// WithNamespace reports whether an object that is gone went with its namespace. A caller who may not read namespaces
// doesn't learn that.
func (t *Target) WithNamespace(ctx context.Context) bool {
	if t.Identity.Namespace == "" {
		return false
	}
	namespaces := t.Resource.Namespaces()
	_, err := namespaces.Get(ctx, t.Identity.Namespace, metav1.GetOptions{})
	class := authresilience.Classify(err)
	return class == authresilience.ClassNotFound || class == authresilience.ClassNamespaceNotFound
}
