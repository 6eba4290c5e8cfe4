package ctrlssaplan

import (
	"context"
	"errors"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client has the requests that the kit needs in addition to the Planner. If an object doesn't exist,
// apierrors.IsNotFound must hold for the error of a read.
type Client interface {
	// Cached reads an object from the informers' cache. into has its kind, name and namespace.
	Cached(ctx context.Context, into client.Object) error
	// Read does the same from the server.
	Read(ctx context.Context, into client.Object) error
	// Owned returns the objects of a kind that an owner controls, from the informers' cache. The caller must not modify
	// them.
	Owned(ctx context.Context, owner client.Object, kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error)
	// Delete deletes an object, with the preconditions in options.
	Delete(ctx context.Context, obj *unstructured.Unstructured, options metav1.DeleteOptions) error
	// ApplyStatus applies the status of an owner as a field manager, and takes over fields that others own. It sets
	// owner to the server's answer. If the owner has another UID or resourceVersion now, apierrors.IsConflict must hold
	// for the error.
	ApplyStatus(ctx context.Context, owner *unstructured.Unstructured, manager string) error
	// PatchStatus sends a JSON patch to the status of an owner, and sets the object to the server's answer. If the
	// owner has another version than the patch names, apierrors.IsConflict must hold for the error.
	PatchStatus(ctx context.Context, owner client.Object, patch []byte, manager string) error
}

// ErrFakeClient says that the client is controller-runtime's fake client. It can't be used: it doesn't keep
// managedFields as a server does, and supports no dry run.
var ErrFakeClient = errors.New(
	"this is the fake client of controller-runtime, which doesn't apply as a server does, so that no plan could be true: " +
		"test with the server in memory of package ssaplantest and NewForDynamic, or with a real API server")

// OwnerIndex is the name of the cache index with which [FromClient] finds the children of an owner, by the UID of their
// controller. [New] adds the index; see [ControllerOf].
const OwnerIndex = "ctrlssaplan.controller"

// ControllerOf returns the UID of an object's controller, if it has one. It is the index function of [OwnerIndex].
func ControllerOf(obj client.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// OfKind returns an object that only has its kind. Pass it to Owns of a builder, and to the options of a cache: it
// names the informer from which a kit reads. A typed object has another informer, whose event may come before the kit
// can read the change; then the change stays until the next event.
func OfKind(kind schema.GroupVersionKind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	return obj
}

// FromClient returns a Client that reads from the cache of informers (cached) and from the server, and writes with
// writer.
func FromClient(cached, server client.Reader, writer client.Client) (Client, error) {
	for _, c := range []any{cached, server, writer} {
		if isFake(c) {
			return nil, ErrFakeClient
		}
	}
	return &managed{cached, server, writer}, nil
}

// isFake reports whether a client is one of controller-runtime's package fake, or has one in it, as one with
// interceptors or a field owner does.
func isFake(c any) bool { return hasFake(reflect.ValueOf(c), mostWrapped) }

// mostWrapped is how many clients may be in one another, so that looking for a fake one ends.
const mostWrapped = 8

var readers = reflect.TypeFor[client.Reader]()

func hasFake(c reflect.Value, most int) bool {
	for c.Kind() == reflect.Pointer || c.Kind() == reflect.Interface {
		c = c.Elem()
	}
	if most == 0 || !c.IsValid() {
		return false
	}
	if strings.HasSuffix(c.Type().PkgPath(), "controller-runtime/pkg/client/fake") {
		return true
	}
	for i := 0; c.Kind() == reflect.Struct && i < c.NumField(); i++ {
		if c.Field(i).Type().Implements(readers) && hasFake(c.Field(i), most-1) {
			return true
		}
	}
	return false
}

type managed struct {
	cached, server client.Reader
	writer         client.Client
}

func (m *managed) Cached(ctx context.Context, into client.Object) error {
	return m.cached.Get(ctx, client.ObjectKeyFromObject(into), into)
}

func (m *managed) Read(ctx context.Context, into client.Object) error {
	return m.server.Get(ctx, client.ObjectKeyFromObject(into), into)
}

func (m *managed) Owned(ctx context.Context, owner client.Object,
	kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	options := []client.ListOption{client.MatchingFields{OwnerIndex: string(owner.GetUID())},
		client.UnsafeDisableDeepCopy}
	if owner.GetNamespace() != "" {
		options = append(options, client.InNamespace(owner.GetNamespace()))
	}
	if err := m.cached.List(ctx, list, options...); err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

func (m *managed) Delete(ctx context.Context, obj *unstructured.Unstructured, options metav1.DeleteOptions) error {
	return m.writer.Delete(ctx, obj,
		&client.DeleteOptions{Preconditions: options.Preconditions, PropagationPolicy: options.PropagationPolicy})
}

func (m *managed) ApplyStatus(ctx context.Context, owner *unstructured.Unstructured, manager string) error {
	return m.writer.Status().Patch(ctx, owner, client.Apply, client.ForceOwnership, client.FieldOwner(manager))
}

func (m *managed) PatchStatus(ctx context.Context, owner client.Object, patch []byte, manager string) error {
	return m.writer.Status().Patch(ctx, owner, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(manager))
}
