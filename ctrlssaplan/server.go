package ctrlssaplan

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// ServerOptions are the options of [NewServer]. The zero value works for a client without a cache.
type ServerOptions struct {
	// Reader reads from the API server, as GetAPIReader of a manager does. Set it if the client of [NewServer] may read
	// from a cache. Default: that client.
	Reader client.Reader
	// Discovery makes the server a [server.Discoverer], [server.Versioner] and [server.SchemaReader]; see
	// [dynclient.Options]. Default: the server is none of these.
	Discovery dynclient.RESTClienter
}

// NewServer returns the server that a client of controller-runtime leads to, for ssaplan.New. It is a
// [server.Lister] and [server.ObjectLister]. Plans have the server's warnings only if the config of the client has a
// [server.WarningHandler]. It fails with [ErrFakeClient] for the fake client.
//
// A client of controller-runtime remembers how a kind is served, and doesn't notice if a CRD is replaced by another one
// for the same kind. It also gives each answer the kind that was asked for, so that an answer of another kind isn't
// noticed, except for a scale.
func NewServer(c client.Client, options ServerOptions) (server.Server, error) {
	if c == nil {
		return nil, errors.New("ctrlssaplan: no client")
	}
	if options.Reader == nil {
		options.Reader = c
	}
	if isFake(c) || isFake(options.Reader) {
		return nil, ErrFakeClient
	}
	one := &objects{server.Mapped{Mapper: c.RESTMapper()}, c, options.Reader}
	if discovery := dynclient.NewDiscovery(options.Discovery); discovery != nil {
		return &discovering{one, discovery}, nil
	}
	return one, nil
}

// discovering is a server with a discovery client.
type discovering struct {
	*objects
	*dynclient.Discovery
}

// objects is a server without a discovery client.
type objects struct {
	server.Mapped
	client client.Client
	reader client.Reader
}

// named returns an object that has nothing but what a request is about.
func named(of server.Ref) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(of.Kind.GroupVersionKind)
	obj.SetNamespace(of.Namespace)
	obj.SetName(of.Name)
	return obj
}

// send sends a request, which sets obj to the answer.
func (o *objects) send(ctx context.Context, obj *unstructured.Unstructured,
	request func(context.Context) error) (server.Response, error) {
	ctx, warnings := server.CollectWarnings(ctx)
	err := request(ctx)
	if err != nil {
		obj = nil
	}
	return server.Response{Object: obj, Warnings: warnings()}, o.Answered(err)
}

func (o *objects) Get(ctx context.Context, of server.Ref) (server.Response, error) {
	obj := named(of)
	return o.send(ctx, obj, func(ctx context.Context) error {
		return o.reader.Get(ctx, client.ObjectKeyFromObject(obj),
			obj)
	})
}

func (o *objects) Patch(ctx context.Context, of server.Ref, as types.PatchType, body []byte,
	options metav1.PatchOptions) (server.Response, error) {
	// All fields are set beside Raw, as controller-runtime overwrites those of Raw with them.
	patch, obj := client.RawPatch(as, body), named(of)
	with := client.PatchOptions{
		DryRun: options.DryRun, Force: options.Force, FieldManager: options.FieldManager,
		FieldValidation: options.FieldValidation, Raw: &options,
	}
	if of.Subresource == "" {
		return o.send(ctx, obj, func(ctx context.Context) error { return o.client.Patch(ctx, obj, patch, &with) })
	}
	answer := named(of) // of its own, so that it keeps the kind that the server says
	return o.send(ctx, answer, func(ctx context.Context) error {
		return o.client.SubResource(of.Subresource).Patch(ctx, obj, patch,
			&client.SubResourcePatchOptions{PatchOptions: with, SubResourceBody: answer})
	})
}

func (o *objects) Create(ctx context.Context, of server.Ref, in *unstructured.Unstructured,
	options metav1.CreateOptions) (server.Response, error) {
	obj := placed(in, of)
	return o.send(ctx, obj, func(ctx context.Context) error {
		return o.client.Create(ctx, obj, &client.CreateOptions{
			DryRun: options.DryRun, FieldManager: options.FieldManager, FieldValidation: options.FieldValidation,
			Raw: &options,
		})
	})
}

func (o *objects) Update(ctx context.Context, of server.Ref, in *unstructured.Unstructured,
	options metav1.UpdateOptions) (server.Response, error) {
	obj := placed(in, of)
	return o.send(ctx, obj, func(ctx context.Context) error {
		return o.client.Update(ctx, obj, &client.UpdateOptions{
			DryRun: options.DryRun, FieldManager: options.FieldManager, FieldValidation: options.FieldValidation,
			Raw: &options,
		})
	})
}

// placed returns a copy of an object, which becomes the answer. Its namespace and kind decide where it is sent.
func placed(in *unstructured.Unstructured, of server.Ref) *unstructured.Unstructured {
	obj := in.DeepCopy()
	obj.SetGroupVersionKind(of.Kind.GroupVersionKind)
	obj.SetNamespace(of.Namespace)
	return obj
}

func (o *objects) Delete(ctx context.Context, of server.Ref, options metav1.DeleteOptions) (server.Response, error) {
	return o.send(ctx, nil, func(ctx context.Context) error {
		return o.client.Delete(ctx, named(of), &client.DeleteOptions{
			GracePeriodSeconds: options.GracePeriodSeconds, Preconditions: options.Preconditions,
			PropagationPolicy: options.PropagationPolicy, DryRun: options.DryRun, Raw: &options,
		})
	})
}

// List implements [server.Lister]. It lists whole objects, as a client may answer a list of metadata from its cache.
func (o *objects) List(ctx context.Context, kind server.Kind, namespace string,
	options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return server.ListMetadata(ctx, o, kind, namespace, options)
}

// ListObjects implements [server.ObjectLister].
func (o *objects) ListObjects(ctx context.Context, kind server.Kind, namespace string,
	options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	// Limit and Continue are set beside Raw, as controller-runtime overwrites those of Raw with them.
	err := o.reader.List(ctx, list, &client.ListOptions{
		Namespace: namespace, Limit: options.Limit, Continue: options.Continue, Raw: &options,
	})
	if o.Answered(err) != nil {
		return nil, err
	}
	return list, nil
}
