// Package native is what package client and a Planner agree on beyond package server. A Planner is faster with it, and
// says more about each request. It isn't exported, since a mistake in it would forge the proof that a plan is a no-op.
package native

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Send sends a request, and again if the server has no time for it.
type Send func(ctx context.Context, o server.Observation, request func(context.Context) error) error

// open is the function of package client, nil in a program without it: a Planner doesn't import that package.
var open func(api server.Server, send Send) Access

// Register makes [Open] use a function of package client, which calls it once at the start.
func Register(function func(api server.Server, send Send) Access) { open = function }

// Open returns the access to a server of package client, and nil for any other. A type that embeds such a server counts
// as another one: it may have methods of its own, which must be called. Requests that aren't about an object are sent
// with send.
func Open(api server.Server, send Send) Access {
	if open == nil {
		return nil
	}
	return open(api, send)
}

// Access is a client of one Planner.
type Access interface {
	Resolver
	server.Discoverer
	server.Versioner
	server.SchemaReader
	// Forget makes the kinds of a group and version be looked up again.
	Forget(schema.GroupVersion)
	// Alive reports whether the server answers at all.
	Alive(ctx context.Context) bool
	// Objects returns access to objects, for one plan and not for concurrent use. Each request is sent once. It is a
	// [Pager]. If the answer to a patch is byte for byte that of the Get right before, both return the same object.
	Objects(kind server.Kind, namespace string) Objects
	// ShareRecords returns a context in which objects that are read, listed or tried share their records of
	// managedFields with those of other requests.
	ShareRecords(ctx context.Context) context.Context
	// Records returns the fields of shared records.
	Records() fieldowner.Records
}

// Resolver is a part of [server.Server].
type Resolver interface {
	Resolve(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error)
}

// Objects is access to the objects of one resource, in one namespace if the resource has namespaces. The method List
// returns at least the metadata of the objects.
type Objects interface {
	Get(ctx context.Context, name string, options metav1.GetOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error
	List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error)
}

// Pager lists whole objects. Page may leave them undecoded; Keep then decodes one.
type Pager interface {
	Page(ctx context.Context, options metav1.ListOptions) (*Page, error)
	// Keep returns the object of an entry of a list, as a read would return it. It reports false if the entry holds no
	// object.
	Keep(ctx context.Context, l Listed) (*unstructured.Unstructured, bool)
}

// Page is a part of a list of objects.
type Page struct {
	Items []Listed
	Next  string // the continue token; empty after the last page
	Left  int    // how many objects come after this page, 0 if the server doesn't say
}

// Listed is an object as a list has it.
type Listed struct {
	Namespace, Name string
	// Either the object, or the text that a read of it would be answered with.
	Object *unstructured.Unstructured
	Text   []byte
}

// decodedSize is an estimate of the size of an object that is already decoded.
const decodedSize = 8 << 10

// Size returns the length of the object in the answer in bytes, or an estimate if the object is already decoded.
func (l Listed) Size() int {
	if l.Object != nil {
		return decodedSize
	}
	return len(l.Text)
}
