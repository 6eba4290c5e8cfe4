package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/server"
)

var errNilAnswer = errors.New("the server that the planner was made for returned neither an object nor an error")

// abilities are what a server can do, and how.
type abilities struct {
	objects  func(kind server.Kind, namespace string) native.Objects
	lists    bool // whether the metadata of objects can be listed
	resolver native.Resolver
	// These are nil if the server can't do it.
	discoverer   server.Discoverer
	versioner    server.Versioner
	schemaReader server.SchemaReader
	// discover sends a request that isn't about an object.
	discover func(ctx context.Context, request func(context.Context) error) error
	lacks    []string // what the server can't do, and what that costs
}

// abilitiesOf returns what a server that the caller implements can do. The function discover sends the requests that
// aren't about an object.
func abilitiesOf(api server.Server, discover func(context.Context, func(context.Context) error) error) abilities {
	can := abilities{resolver: foreignResolver{api}, discover: discover}
	lister, lists := api.(server.Lister)
	whole, listsWhole := api.(server.ObjectLister)
	var discovers, versions, reads bool
	can.discoverer, discovers = api.(server.Discoverer)
	can.versioner, versions = api.(server.Versioner)
	can.schemaReader, reads = api.(server.SchemaReader)
	can.lists = lists
	for _, optional := range []struct {
		is    bool
		costs string
	}{
		{lists, "The server can't list objects (server.Lister): the contents of namespaces and CRDs aren't counted, " +
			"so a removal keeps " +
			"these, and remembered no-ops don't end when a webhook or an admission policy changes."},
		{listsWhole,
			"The server can't list whole objects (server.ObjectLister): PlanAll reads each object with a request of its own."},
		{discovers,
			"The server can't list its kinds (server.Discoverer): the contents of namespaces aren't counted, so a " +
				"removal keeps " +
				"these, and no kinds can be suggested after a typo."},
		{versions,
			"The versions of the server and of its schemas can't be read (server.Versioner): remembered no-ops don't " +
				"end when the " +
				"server is upgraded."},
		{reads, "The schemas of the server can't be read (server.SchemaReader): all values of a custom kind are " +
			"redacted if its CRD " +
			"can't be read or doesn't exist."},
	} {
		if !optional.is {
			can.lacks = append(can.lacks, optional.costs)
		}
	}
	can.objects = func(kind server.Kind, namespace string) native.Objects {
		one := &serverObjects{api: api, lister: lister, kind: kind, namespace: namespace}
		if listsWhole {
			return &serverPages{one, whole}
		}
		return one
	}
	return can
}

// foreignResolver checks what a server of the caller answers.
type foreignResolver struct{ api server.Server }

func (r foreignResolver) Resolve(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	found, err := r.api.Resolve(ctx, kind)
	switch {
	case meta.IsNoMatchError(err):
		return server.Kind{}, err
	case err != nil:
		return server.Kind{}, secrecy.Received(err)
	case kind.Version != "" && found.GroupVersionKind != kind:
		return server.Kind{}, fmt.Errorf("asked for %s, the server that the planner was made for resolves %s",
			foreign.Text(kind.String()), foreign.Text(found.String()))
	}
	return found, nil
}

// serverObjects are the objects of a kind, in a namespace if the kind has namespaces.
type serverObjects struct {
	api       server.Server
	lister    server.Lister // nil if the server isn't one
	kind      server.Kind
	namespace string
	unnoticed int // retries of the server since the last request
}

func (o *serverObjects) ref(name string, sub []string) server.Ref {
	return server.Ref{Kind: o.kind, Namespace: o.namespace, Name: name, Subresource: strings.Join(sub, "/")}
}

// answered returns the object of a response. It adds its warnings to those that are collected for the context, and
// counts the requests.
func (o *serverObjects) answered(ctx context.Context, response server.Response,
	err error) (*unstructured.Unstructured, error) {
	if collected := warnings.Of(ctx); collected != nil {
		for _, text := range response.Warnings {
			collected.Add(foreign.Text(text))
		}
	}
	o.unnoticed += max(response.Requests-1, 0)
	if err != nil {
		return nil, err
	}
	return response.Object, nil
}

// object does what answered does, for a request whose response must have an object. A response without an object is an
// error.
func (o *serverObjects) object(ctx context.Context, response server.Response,
	err error) (*unstructured.Unstructured, error) {
	obj, err := o.answered(ctx, response, err)
	if err == nil && (obj == nil || obj.Object == nil) {
		err = errNilAnswer
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// retries returns how many requests the server sent again since the last call of retries.
func (o *serverObjects) retries() int {
	n := o.unnoticed
	o.unnoticed = 0
	return n
}

func (o *serverObjects) Get(ctx context.Context, name string, _ metav1.GetOptions,
	sub ...string) (*unstructured.Unstructured, error) {
	response, err := o.api.Get(ctx, o.ref(name, sub))
	return o.object(ctx, response, err)
}

func (o *serverObjects) Patch(ctx context.Context, name string, pt types.PatchType, data []byte,
	options metav1.PatchOptions, sub ...string) (*unstructured.Unstructured, error) {
	response, err := o.api.Patch(ctx, o.ref(name, sub), pt, data, options)
	return o.object(ctx, response, err)
}

func (o *serverObjects) Create(ctx context.Context, in *unstructured.Unstructured, options metav1.CreateOptions,
	sub ...string) (*unstructured.Unstructured, error) {
	response, err := o.api.Create(ctx, o.ref(in.GetName(), sub), in, options)
	return o.object(ctx, response, err)
}

func (o *serverObjects) Update(ctx context.Context, in *unstructured.Unstructured, options metav1.UpdateOptions,
	sub ...string) (*unstructured.Unstructured, error) {
	response, err := o.api.Update(ctx, o.ref(in.GetName(), sub), in, options)
	return o.object(ctx, response, err)
}

func (o *serverObjects) Delete(ctx context.Context, name string, options metav1.DeleteOptions, sub ...string) error {
	response, err := o.api.Delete(ctx, o.ref(name, sub), options)
	_, err = o.answered(ctx, response, err)
	return err
}

func (o *serverObjects) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	page, err := o.lister.List(ctx, o.kind, o.namespace, options)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"kind": "PartialObjectMetadataList"}}
	list.SetContinue(page.Continue)
	if page.RemainingItemCount != nil {
		list.SetRemainingItemCount(page.RemainingItemCount)
	}
	for i := range page.Items {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&page.Items[i])
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, unstructured.Unstructured{Object: content})
	}
	return list, nil
}

// serverPages are objects that can be listed as a whole.
type serverPages struct {
	*serverObjects
	lister server.ObjectLister
}

var _ native.Pager = (*serverPages)(nil)

func (o *serverPages) Page(ctx context.Context, options metav1.ListOptions) (*native.Page, error) {
	list, err := o.lister.ListObjects(ctx, o.kind, o.namespace, options)
	if err != nil {
		return nil, err
	}
	p := &native.Page{Next: list.GetContinue()}
	if left := list.GetRemainingItemCount(); left != nil {
		p.Left = int(*left)
	}
	for i := range list.Items {
		p.Items = append(p.Items,
			native.Listed{Namespace: list.Items[i].GetNamespace(), Name: list.Items[i].GetName(),
				Object: &list.Items[i]})
	}
	return p, nil
}

func (o *serverPages) Keep(_ context.Context, l native.Listed) (*unstructured.Unstructured, bool) {
	return l.Object, l.Object != nil
}
