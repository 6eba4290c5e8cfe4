package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
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
	wrote    error // what was carried out and was only to be tried
}

// Wrote returns an error if the server carried out a create, an update or a JSON patch that it was only to try.
func (r *Resource) Wrote() error { return r.wrote }

// GroupVersionResource returns the resource.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource { return r.resource }

// GroupResource returns the resource, as errors name it.
func (r *Resource) GroupResource() schema.GroupResource { return r.resource.GroupResource() }

// Requests returns how many requests were sent.
func (r *Resource) Requests() int { return *r.requests }

// AddRequests adds requests to those that were sent.
func (r *Resource) AddRequests(n int) { *r.requests += n }

// Beside gives access to the same objects, at the same time and with a number of requests of its own.
func (r *Resource) Beside() *Resource { return r.server.Resource(r.kind, r.object) }

// In gives access to all objects of the kind in a namespace, or in all namespaces if that is empty. Its requests don't
// count as those of r.
func (r *Resource) In(namespace string) *Resource {
	return r.server.Resource(r.kind, identity.Identity{APIVersion: r.object.APIVersion, Kind: r.object.Kind, Namespace: namespace})
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

// Definitions gives access to the definitions of custom resources.
func (s *Server) Definitions() *Resource {
	kind := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	return s.cluster(server.Kind{GroupVersionKind: kind, Resource: "customresourcedefinitions"})
}

// cluster gives access to objects that are in no namespace.
func (s *Server) cluster(kind server.Kind) *Resource {
	return s.Resource(kind, identity.Identity{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind})
}

func (r *Resource) send(ctx context.Context, verb, name string, dryRun []string, request func(context.Context) error) error {
	object := r.object
	object.Name = name
	sent, err := r.server.sender.send(ctx, server.Observation{Verb: verb, DryRun: len(dryRun) > 0, Object: object}, request)
	*r.requests += sent
	if uncounted, ok := r.objects.(interface{ retries() int }); ok {
		*r.requests += uncounted.retries()
	}
	if verb == "get" || verb == "list" || len(dryRun) > 0 { // what became of a write is another question
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

// Apply sends a server-side apply. If the answer is byte for byte that of the [Resource.Get] right before, as that of a
// dry run that would write nothing is, both return the same object. Other clients than that of package client usually
// return two. Before a dry run is sent, the server may be asked whether it gets that it is one.
func (r *Resource) Apply(ctx context.Context, name string, body []byte,
	options metav1.PatchOptions, sub ...string) (obj *unstructured.Unstructured, err error) {
	if isTry(options) {
		if err := r.checkApply(ctx, name, body, options, sub); err != nil {
			return nil, err
		}
	}
	err = r.send(ctx, "patch", name, options.DryRun, func(ctx context.Context) error {
		obj, err = r.objects.Patch(ctx, name, types.ApplyPatchType, body, options, sub...)
		return err
	})
	return obj, err
}

// isTry reports whether a patch is a dry run of one, and not the question whether a server gets that.
func isTry(options metav1.PatchOptions) bool {
	return slices.Equal(options.DryRun, []string{metav1.DryRunAll})
}

// JSONPatch sends a JSON patch. Before a dry run is sent, the server may be asked as for that of [Resource.Apply].
func (r *Resource) JSONPatch(ctx context.Context, name string, patch []byte,
	options metav1.PatchOptions) (obj *unstructured.Unstructured, err error) {
	if isTry(options) {
		if err := r.checkJSONPatch(ctx, name, options); err != nil {
			return nil, err
		}
	}
	err = r.send(ctx, "patch", name, options.DryRun, func(ctx context.Context) error {
		obj, err = r.objects.Patch(ctx, name, types.JSONPatchType, patch, options)
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

// tried returns the answer to a create or an update of in, and an error in its place if it was carried out and was only
// to be tried.
func (r *Resource) tried(in, answer *unstructured.Unstructured, err error, dryRun []string) (*unstructured.Unstructured, error) {
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

// Count returns how many objects there are, and whether there are more that the server didn't count. It reads one of
// them.
func (r *Resource) Count(ctx context.Context) (n int, more bool, err error) {
	list, err := r.list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, false, err
	}
	n = len(list.Items)
	if remaining := list.GetRemainingItemCount(); remaining != nil {
		return n + int(*remaining), false, nil
	}
	return n, list.GetContinue() != "", nil
}

// First returns the metadata of the first objects, no more than n, and whether there are more.
func (r *Resource) First(ctx context.Context, n int64) (objects []unstructured.Unstructured, more bool, err error) {
	list, err := r.list(ctx, metav1.ListOptions{Limit: n})
	if err != nil {
		return nil, false, err
	}
	return list.Items, list.GetContinue() != "", nil
}

// Versions returns a text that is another one after each change of the objects. It reads the metadata of all.
func (r *Resource) Versions(ctx context.Context) (string, error) {
	const page, pages = 250, 1000 // the metadata of an object can take some 10 KB
	digest := sha256.New()
	options := metav1.ListOptions{Limit: page}
	for range pages {
		list, err := r.list(ctx, options)
		if err != nil {
			return "", err
		}
		for _, item := range list.Items {
			digest.Write([]byte(string(item.GetUID()) + " " + item.GetResourceVersion() + "\n"))
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return hex.EncodeToString(digest.Sum(nil)), nil
		}
	}
	return "", fmt.Errorf("the list of %s has no end", foreign.Text(r.object.Kind))
}

// list reads the metadata of objects.
func (r *Resource) list(ctx context.Context, options metav1.ListOptions) (list *unstructured.UnstructuredList, err error) {
	if !r.server.lists {
		return nil, ErrNoLister
	}
	err = r.send(ctx, "list", "", nil, func(ctx context.Context) error {
		list, err = r.objects.List(ctx, options)
		return err
	})
	if err == nil && !strings.HasSuffix(list.GetKind(), "List") {
		return nil, secrecy.Quoting(fmt.Sprintf("the answer is no list of %s: check the server's address", foreign.Text(r.object.Kind)), "kind %q", list.GetKind())
	}
	return list, err
}
