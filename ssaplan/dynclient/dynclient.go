// Package dynclient answers: how does a Planner use an existing dynamic client of client-go? Without a discovery
// client, the Planner has fewer abilities; see [Options]. It isn't for a program that has only a rest.Config: package
// client is, and it is faster.
//
//	api := dynclient.New(client, mapper, dynclient.Options{})
//	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool"})
package dynclient

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/internal/discovery"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options are the options of [New]. The zero value works.
type Options struct {
	// Discovery makes the server a [server.Discoverer], [server.Versioner] and [server.SchemaReader]. Default: the
	// server is none of these.
	Discovery RESTClienter
}

// RESTClienter is implemented by the discovery clients of client-go. Only the REST client is used, not the cache of a
// discovery client. This package doesn't import client-go's package discovery, since that package imports all API
// types.
type RESTClienter interface{ RESTClient() rest.Interface }

// New returns a server that sends its requests with a dynamic client, and finds kinds with a mapper. It is a
// [server.Lister] and [server.ObjectLister]. A mapper with a Reset method is reset when it doesn't know a kind, or when
// the server no longer serves a kind. Plans have the server's warnings only if the client's config has a
// [server.WarningHandler]. A client of client-go retries requests after an answer with Retry-After. A request with its
// retries counts as one request. Without a client or a mapper, New returns nil.
func New(client dynamic.Interface, mapper meta.RESTMapper, options Options) server.Server {
	if client == nil || mapper == nil {
		return nil
	}
	one := &objects{server.Mapped{Mapper: mapper}, client}
	if documents := NewDiscovery(options.Discovery); documents != nil {
		return &discovering{one, documents}
	}
	return one
}

// Discovery is a [server.Discoverer], [server.Versioner] and [server.SchemaReader]. Embed it to implement a Server.
type Discovery struct{ documents *discovery.Documents }

// NewDiscovery returns a Discovery that uses the REST client of a discovery client. It returns nil without a REST
// client.
func NewDiscovery(client RESTClienter) *Discovery {
	if client == nil || client.RESTClient() == nil {
		return nil
	}
	return &Discovery{discovery.New(client.RESTClient(), nil)}
}

// Kinds implements [server.Discoverer].
func (d *Discovery) Kinds(ctx context.Context) ([]server.Kind, []schema.GroupVersion, error) {
	return d.documents.Kinds(ctx)
}

// Versions implements [server.Versioner].
func (d *Discovery) Versions(ctx context.Context) (string, map[schema.GroupVersion]string, error) {
	return d.documents.Versions(ctx)
}

// Schemas implements [server.SchemaReader].
func (d *Discovery) Schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	return d.documents.Schemas(ctx, gv)
}

// discovering is a server with a discovery client.
type discovering struct {
	*objects
	*Discovery
}

// objects is a server without a discovery client.
type objects struct {
	server.Mapped
	client dynamic.Interface
}

// of returns the dynamic client for the objects of a kind in a namespace.
func (o *objects) of(kind server.Kind, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return o.client.Resource(kind.GroupVersionResource())
	}
	return o.client.Resource(kind.GroupVersionResource()).Namespace(namespace)
}

// send sends a request about an object or its subresource.
func (o *objects) send(ctx context.Context, to server.Ref,
	request func(context.Context, dynamic.ResourceInterface, ...string) (*unstructured.Unstructured, error),
) (server.Response, error) {
	var sub []string
	if to.Subresource != "" {
		sub = []string{to.Subresource}
	}
	ctx, warnings := server.CollectWarnings(ctx)
	obj, err := request(ctx, o.of(to.Kind, to.Namespace), sub...)
	if err != nil {
		obj = nil
	}
	return server.Response{Object: obj, Warnings: warnings()}, o.Answered(err)
}

func (o *objects) Get(ctx context.Context, to server.Ref) (server.Response, error) {
	return o.send(ctx, to, func(ctx context.Context, of dynamic.ResourceInterface,
		sub ...string) (*unstructured.Unstructured, error) {
		return of.Get(ctx, to.Name, metav1.GetOptions{}, sub...)
	})
}

func (o *objects) Patch(ctx context.Context, to server.Ref, as types.PatchType, body []byte,
	options metav1.PatchOptions) (server.Response, error) {
	return o.send(ctx, to, func(ctx context.Context, of dynamic.ResourceInterface,
		sub ...string) (*unstructured.Unstructured, error) {
		return of.Patch(ctx, to.Name, as, body, options, sub...)
	})
}

func (o *objects) Create(ctx context.Context, to server.Ref, obj *unstructured.Unstructured,
	options metav1.CreateOptions) (server.Response, error) {
	return o.send(ctx, to, func(ctx context.Context, of dynamic.ResourceInterface,
		sub ...string) (*unstructured.Unstructured, error) {
		return of.Create(ctx, obj, options, sub...)
	})
}

func (o *objects) Update(ctx context.Context, to server.Ref, obj *unstructured.Unstructured,
	options metav1.UpdateOptions) (server.Response, error) {
	return o.send(ctx, to, func(ctx context.Context, of dynamic.ResourceInterface,
		sub ...string) (*unstructured.Unstructured, error) {
		return of.Update(ctx, obj, options, sub...)
	})
}

func (o *objects) Delete(ctx context.Context, to server.Ref, options metav1.DeleteOptions) (server.Response, error) {
	return o.send(ctx, to, func(ctx context.Context, of dynamic.ResourceInterface,
		sub ...string) (*unstructured.Unstructured, error) {
		return nil, of.Delete(ctx, to.Name, options, sub...)
	})
}

// List implements [server.Lister]. A dynamic client can only list whole objects.
func (o *objects) List(ctx context.Context, kind server.Kind, namespace string,
	options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return server.ListMetadata(ctx, o, kind, namespace, options)
}

// ListObjects implements [server.ObjectLister].
func (o *objects) ListObjects(ctx context.Context, kind server.Kind, namespace string,
	options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list, err := o.of(kind, namespace).List(ctx, options)
	return list, o.Answered(err)
}
