package wire

import (
	"cmp"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Resource is access to the objects of one resource that counts and reports the requests. It is not for concurrent use.
//
// What Get and Apply return may share memory, so it must not be modified.
type Resource struct {
	server   *Server
	objects  native.Objects
	kind     server.Kind
	resource schema.GroupVersionResource
	object   identity.Identity
	requests *int
	wrote    error // a dry run that the server carried out
}

// Resource gives access to the objects of a kind in the namespace of an identity. The requests are reported to be about
// this identity, each with the name in the request.
func (s *Server) Resource(kind server.Kind, object identity.Identity) *Resource {
	return &Resource{
		server: s, objects: s.objects(kind, object.Namespace), kind: kind, resource: kind.GroupVersionResource(),
		object:   object,
		requests: new(int),
	}
}

// Definitions gives access to the definitions of custom resources.
func (s *Server) Definitions() *Resource {
	kind := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	return s.cluster(server.Kind{GroupVersionKind: kind, Resource: "customresourcedefinitions"})
}

// cluster gives access to objects that are in no namespace.
func (s *Server) cluster(kind server.Kind) *Resource {
	return s.Resource(kind, identity.Identity{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind})
}

// namespaceKind is how a server serves namespaces.
var namespaceKind = server.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"},
	Resource: "namespaces"}

// Wrote returns an error if the server carried out the dry run of a create, an update or a JSON patch.
func (r *Resource) Wrote() error { return r.wrote }

// GroupVersionResource returns the resource in its version.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource { return r.resource }

// GroupResource returns the resource without a version, as errors name it.
func (r *Resource) GroupResource() schema.GroupResource { return r.resource.GroupResource() }

// Requests returns how many requests were sent.
func (r *Resource) Requests() int { return *r.requests }

// AddRequests adds requests to those that were sent.
func (r *Resource) AddRequests(n int) { *r.requests += n }

// Beside gives access to the same objects for concurrent requests. It counts its own requests.
func (r *Resource) Beside() *Resource { return r.server.Resource(r.kind, r.object) }

// In gives access to all objects of the kind in a namespace, or in all namespaces if that is empty. Its requests don't
// count as those of r.
func (r *Resource) In(namespace string) *Resource {
	return r.server.Resource(r.kind,
		identity.Identity{APIVersion: r.object.APIVersion, Kind: r.object.Kind, Namespace: namespace})
}

// IPAddresses gives access to the objects by which a server keeps track of the cluster IPs of Services. Its requests
// count as those of r.
func (r *Resource) IPAddresses() *Resource {
	kind := schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress"}
	return r.counting(r.server.cluster(server.Kind{GroupVersionKind: kind, Resource: "ipaddresses"}))
}

// Definitions gives access to the definitions of custom resources. Its requests count as those of r.
func (r *Resource) Definitions() *Resource { return r.counting(r.server.Definitions()) }

// Namespaces gives access to the namespaces. Its requests count as those of r.
func (r *Resource) Namespaces() *Resource { return r.counting(r.server.cluster(namespaceKind)) }

// counting returns access to other objects whose requests count as those of r.
func (r *Resource) counting(other *Resource) *Resource {
	other.requests = r.requests
	return other
}

// send sends a request about the object of that name, and counts how often it was sent.
func (r *Resource) send(ctx context.Context, verb, name string, dryRun []string,
	request func(context.Context) error) error {
	object := r.object
	object.Name = name
	sent, err := r.server.sender.send(ctx, server.Observation{Verb: verb, DryRun: len(dryRun) > 0, Object: object},
		request)
	*r.requests += sent
	if uncounted, ok := r.objects.(interface{ retries() int }); ok {
		*r.requests += uncounted.retries()
	}
	if verb == "get" || verb == "list" || len(dryRun) > 0 { // a broken write may have been carried out
		err = r.server.whetherBrokenOff(ctx, err)
	}
	return err
}

// Get reads an object.
func (r *Resource) Get(ctx context.Context, name string, options metav1.GetOptions,
	sub ...string) (obj *unstructured.Unstructured, err error) {
	err = r.send(ctx, "get", name, nil, func(ctx context.Context) error {
		obj, err = r.objects.Get(ctx, name, options, sub...)
		return err
	})
	return obj, err
}

// patch sends a patch.
func (r *Resource) patch(ctx context.Context, name string, as types.PatchType, body []byte, options metav1.PatchOptions,
	sub ...string) (obj *unstructured.Unstructured, err error) {
	err = r.send(ctx, "patch", name, options.DryRun, func(ctx context.Context) error {
		obj, err = r.objects.Patch(ctx, name, as, body, options, sub...)
		return err
	})
	return obj, err
}

// Create creates an object.
func (r *Resource) Create(ctx context.Context, in *unstructured.Unstructured, options metav1.CreateOptions,
	sub ...string) (obj *unstructured.Unstructured, err error) {
	err = r.send(ctx, "create", in.GetName(), options.DryRun, func(ctx context.Context) error {
		obj, err = r.objects.Create(ctx, in, options, sub...)
		return err
	})
	return r.tried(in, obj, err, options.DryRun)
}

// Update replaces the content of an object.
func (r *Resource) Update(ctx context.Context, in *unstructured.Unstructured, options metav1.UpdateOptions,
	sub ...string) (obj *unstructured.Unstructured, err error) {
	err = r.send(ctx, "update", in.GetName(), options.DryRun, func(ctx context.Context) error {
		obj, err = r.objects.Update(ctx, in, options, sub...)
		return err
	})
	return r.tried(in, obj, err, options.DryRun)
}

// tried returns the answer to a create or an update of in. It returns an error instead if the request was a dry run and
// the server carried it out.
func (r *Resource) tried(in, answer *unstructured.Unstructured, err error,
	dryRun []string) (*unstructured.Unstructured, error) {
	if err == nil {
		err = precondition.CheckDryRun(in, answer, dryRun)
		r.wrote = cmp.Or(r.wrote, err)
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Delete deletes an object.
func (r *Resource) Delete(ctx context.Context, name string, options metav1.DeleteOptions) (err error) {
	err = r.send(ctx, "delete", name, options.DryRun, func(ctx context.Context) error {
		err = r.objects.Delete(ctx, name, options)
		return err
	})
	return err
}
