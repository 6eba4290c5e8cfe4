// Package server answers: what must a client do so that a Planner can use it? The client reads objects, asks for dry
// runs and writes; see ssaplan.New. It isn't for programs that use client-go: packages client and dynclient implement
// it for them.
//
//	kind, err := api.Resolve(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
//	if err != nil {
//		log.Fatal(err)
//	}
//	answer, err := api.Get(ctx, server.Ref{Kind: kind, Namespace: "default", Name: "web"})
//
// [Server] is all that a Planner needs. A server that can do more has the methods of [Lister], [ObjectLister],
// [Discoverer], [Versioner], [SchemaReader] or [Credentialed], too. A server without one of these abilities must not
// have the method for it. A type that embeds the interface Server has only the methods of Server: a Planner then can't
// use the optional methods of the embedded server.
package server

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Server is a Kubernetes API server. Its methods must be safe for concurrent use, and must return when ctx ends.
//
// Options and the bodies of patches must be sent unchanged, including a dryRun with an unknown value. A write may be
// retried only if the server rejected it with Retry-After. If the server rejects a request, the error must contain the
// status: errors.As finds an apierrors.APIStatus in it. Neither the Server nor the Planner modifies a returned object.
type Server interface {
	// Resolve returns the resource, the scope and the complete name of a kind. Without a version it returns the
	// server's preferred version. Without a group it may return the kind of any group. If the kind isn't served,
	// meta.IsNoMatchError must hold for the error. A served kind may be cached until the server answers a request for
	// it with "page not found". A missing kind must not be cached, as it may be installed at any time.
	Resolve(ctx context.Context, kind schema.GroupVersionKind) (Kind, error)
	// Get reads an object from the API server, never from a cache. of.Subresource is empty.
	Get(ctx context.Context, of Ref) (Response, error)
	// Patch sends body to the object or to its subresource. The type is types.ApplyPatchType or types.JSONPatchType.
	Patch(ctx context.Context, of Ref, as types.PatchType, body []byte, options metav1.PatchOptions) (Response, error)
	// Create creates an object. The Planner only sends dry runs of it.
	Create(ctx context.Context, of Ref, obj *unstructured.Unstructured, options metav1.CreateOptions) (Response, error)
	// Update replaces the content of an object. The Planner only sends dry runs of it.
	Update(ctx context.Context, of Ref, obj *unstructured.Unstructured, options metav1.UpdateOptions) (Response, error)
	// Delete deletes an object. options.Preconditions has its UID.
	Delete(ctx context.Context, of Ref, options metav1.DeleteOptions) (Response, error)
}

// Kind is a kind that the server serves, with its resource and scope.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the plural name in URLs, such as deployments.
	Resource string
	// Namespaced is true if the objects are in namespaces.
	Namespaced bool
}

// GroupVersionResource returns the resource with its group and version.
func (k Kind) GroupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.Resource)
}

// Ref names an object or one of its subresources.
type Ref struct {
	Kind Kind
	// Namespace is empty if the kind isn't namespaced.
	Namespace, Name string
	// Subresource is the name of a subresource, such as scale, and empty for the object itself.
	Subresource string
}

// Response is the answer to a request. With an error, it still has the warnings and the number of requests.
type Response struct {
	// Object is nil with an error and after a Delete.
	Object *unstructured.Unstructured
	// Warnings are the texts of the warning headers.
	Warnings []string
	// Requests is the number of requests that were sent, including retries. 0 means 1.
	Requests int
}

// A Lister lists the metadata of objects.
type Lister interface {
	// List returns one page. An empty namespace means all namespaces. Only Limit and Continue of options are set.
	List(ctx context.Context, kind Kind, namespace string,
		options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error)
}

// An ObjectLister lists whole objects.
type ObjectLister interface {
	// ListObjects returns one page, as [Lister] does. Each object has its apiVersion and kind.
	ListObjects(ctx context.Context, kind Kind, namespace string,
		options metav1.ListOptions) (*unstructured.UnstructuredList, error)
}

// A Discoverer can list all kinds that the server serves.
type Discoverer interface {
	// Kinds returns the kinds whose objects can be listed and deleted, each in the server's preferred version.
	// unanswered are the groups and versions with unknown kinds, because their server didn't answer.
	Kinds(ctx context.Context) (kinds []Kind, unanswered []schema.GroupVersion, err error)
}

// A Versioner can detect an upgrade of the server and changes of its schemas.
type Versioner interface {
	// Versions returns two results. The result server is a text that changes when the version of the server changes. It
	// is empty if the caller may not read the version. The result schemas has a text for each group and version, which
	// changes when its schemas change. It is nil if the caller may not read the schemas.
	Versions(ctx context.Context) (server string, schemas map[schema.GroupVersion]string, err error)
}

// A SchemaReader reads schemas.
type SchemaReader interface {
	// Schemas returns the OpenAPI v3 document of a group and version as JSON, and nil if the server has none.
	Schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error)
}
