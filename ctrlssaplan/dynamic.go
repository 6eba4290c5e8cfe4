package ctrlssaplan

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// FromDynamic returns a client on top of a dynamic one, without informers: each read is a request. It is for tests with
// package ssaplantest, and for programs that run once. The scheme has the kinds of typed owners.
func FromDynamic(of dynamic.Interface, mapper meta.RESTMapper, scheme *runtime.Scheme) Client {
	return &unmanaged{of, mapper, scheme}
}

type unmanaged struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	scheme *runtime.Scheme
}

// resource returns access to the objects of a kind in a namespace.
func (u *unmanaged) resource(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := u.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return u.client.Resource(mapping.Resource), nil
	}
	return u.client.Resource(mapping.Resource).Namespace(namespace), nil
}

func (u *unmanaged) of(obj client.Object) (dynamic.ResourceInterface, schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(obj, u.scheme)
	if err != nil {
		return nil, kind, err
	}
	resource, err := u.resource(kind, obj.GetNamespace())
	return resource, kind, err
}

func (u *unmanaged) Cached(ctx context.Context, into client.Object) error { return u.Read(ctx, into) }

func (u *unmanaged) Read(ctx context.Context, into client.Object) error {
	resource, _, err := u.of(into)
	if err != nil {
		return err
	}
	obj, err := resource.Get(ctx, into.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	return decodeInto(obj, into)
}

// decodeInto sets an object to what was read.
func decodeInto(obj *unstructured.Unstructured, into client.Object) error {
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = obj.Object
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into)
}

func (u *unmanaged) Owned(ctx context.Context, owner client.Object,
	kind schema.GroupVersionKind) (out []*unstructured.Unstructured, err error) {
	resource, err := u.resource(kind, owner.GetNamespace())
	if err != nil {
		return nil, err
	}
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], owner) {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

func (u *unmanaged) Delete(ctx context.Context, obj *unstructured.Unstructured, options metav1.DeleteOptions) error {
	resource, _, err := u.of(obj)
	if err != nil {
		return err
	}
	return resource.Delete(ctx, obj.GetName(), options)
}

func (u *unmanaged) ApplyStatus(ctx context.Context, owner *unstructured.Unstructured, manager string) error {
	resource, _, err := u.of(owner)
	if err != nil {
		return err
	}
	answer, err := resource.ApplyStatus(ctx, owner.GetName(), owner,
		metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		return err
	}
	owner.Object = answer.Object
	return nil
}

func (u *unmanaged) PatchStatus(ctx context.Context, owner client.Object, patch []byte, manager string) error {
	resource, _, err := u.of(owner)
	if err != nil {
		return err
	}
	answer, err := resource.Patch(ctx, owner.GetName(), types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: manager}, "status")
	if err != nil {
		return err
	}
	return decodeInto(answer, owner)
}
