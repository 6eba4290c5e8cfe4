package ctrlssaplan

import (
	"context"
	"errors"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is what the kit needs beside the Planner. A read of what isn't there is an error for which apierrors.IsNotFound holds.
type Client interface {
	// Cached reads an object that has its kind, name and namespace, as the informers have it.
	Cached(ctx context.Context, into client.Object) error
	// Read reads it from the server.
	Read(ctx context.Context, into client.Object) error
	// Owned returns the objects of a kind that an owner controls, as the informers have them. They are not modified.
	Owned(ctx context.Context, owner client.Object, kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error)
	// Delete deletes an object under the guard of preconditions.
	Delete(ctx context.Context, obj *unstructured.Unstructured, options metav1.DeleteOptions) error
	// UpdateStatus writes the status of an owner. A conflict is an error for which apierrors.IsConflict holds.
	UpdateStatus(ctx context.Context, owner client.Object) error
}

// ErrFakeClient says that a client can't be told from none: controller-runtime's fake client keeps no managedFields as a server does, and
// answers no dry run.
var ErrFakeClient = errors.New("this is the fake client of controller-runtime, which doesn't apply as a server does, so that no plan could be true: " +
	"test with the server in memory of package ssaplantest and NewForDynamic, or with a real API server")

// OwnerIndex is the name of the index by which [FromClient] finds the children of an owner, by the UID of their controller. [New] makes it.
const OwnerIndex = "ctrlssaplan.controller"

// ControllerOf is the function of that index.
func ControllerOf(obj client.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// FromClient returns a client that reads what informers have and what the server has, and writes with the rights of a controller.
func FromClient(cached, server client.Reader, writer client.Client) (Client, error) {
	for _, c := range []any{cached, server, writer} {
		if isFake(c) {
			return nil, ErrFakeClient
		}
	}
	return &managed{cached, server, writer}, nil
}

// isFake reports whether a client is one of controller-runtime's package fake.
func isFake(c any) bool {
	t := reflect.TypeOf(c)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && strings.HasSuffix(t.PkgPath(), "controller-runtime/pkg/client/fake")
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

func (m *managed) Owned(ctx context.Context, owner client.Object, kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	options := []client.ListOption{client.MatchingFields{OwnerIndex: string(owner.GetUID())}, client.UnsafeDisableDeepCopy}
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
	return m.writer.Delete(ctx, obj, &client.DeleteOptions{Preconditions: options.Preconditions, PropagationPolicy: options.PropagationPolicy})
}

func (m *managed) UpdateStatus(ctx context.Context, owner client.Object) error {
	return m.writer.Status().Update(ctx, owner)
}
