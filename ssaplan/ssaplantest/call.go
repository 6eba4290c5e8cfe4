package ssaplantest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
)

// call is a request being worked on. The cluster is locked.
type call struct {
	cluster *cluster
	Request
	kind   Kind
	fields *managedfields.FieldManager
}

// start finds out what a request is for.
func (c *cluster) start(r Request) (*call, error) {
	kind, served := c.kinds[r.Resource]
	if !served || r.Verb != "list" && kind.ClusterScoped != (r.Namespace == "") || kind.ClusterScoped && r.Namespace != "" {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Verb, r.Resource.GroupResource(), r.Name, "404 page not found", 0, true)
	}
	out := &call{cluster: c, Request: r, kind: kind}
	if r.Subresource != "" && (r.Subresource != "status" || !kind.StatusSubresource) {
		return nil, out.notSupported(r.Verb)
	}
	if out.FieldManager == "" {
		out.FieldManager, _, _ = strings.Cut(rest.DefaultKubernetesUserAgent(), "/")
	}
	var err error
	out.fields, err = c.fieldManager(kind, r.Subresource)
	return out, err
}

func (c *call) resource() schema.GroupResource { return c.Resource.GroupResource() }

func (c *call) key() key { return key{c.resource(), c.Namespace, c.Name} }

func (c *call) notSupported(verb string) error {
	return apierrors.NewMethodNotSupported(c.resource(), verb)
}

func (c *call) notFound() error { return apierrors.NewNotFound(c.resource(), c.Name) }

// conflict returns the answer to a request that is about another version of the object.
func (c *call) conflict(why error) error { return apierrors.NewConflict(c.resource(), c.Name, why) }

// invalid returns the answer to a request for something that no object can be.
func (c *call) invalid(errs ...*field.Error) error {
	return apierrors.NewInvalid(c.kind.GroupKind(), c.Name, errs)
}

// live returns a copy of the object in the version that was asked for, or nil if there is none.
func (c *call) live() *unstructured.Unstructured {
	obj := c.cluster.objects[c.key()]
	if obj == nil {
		return nil
	}
	return c.versioned(obj)
}

func (c *call) versioned(obj *unstructured.Unstructured) *unstructured.Unstructured {
	out := obj.DeepCopy()
	out.SetAPIVersion(c.kind.GroupVersion().String())
	return out
}

// checkSchema checks that the object has only fields that the kind has, with values of their types.
func (c *call) checkSchema(obj *unstructured.Unstructured) error {
	if _, err := c.cluster.converter(c.kind).ObjectToTyped(obj); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("strict decoding error: %v", err))
	}
	return nil
}

// get returns the object.
func (c *call) get() (*unstructured.Unstructured, error) {
	if live := c.live(); live != nil {
		return live, nil
	}
	return nil, c.notFound()
}

// list returns the objects that are selected, in the order of their names.
func (c *call) list(selected func(*unstructured.Unstructured) bool) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(c.kind.GroupVersion().WithKind(c.kind.Kind + "List"))
	list.SetResourceVersion(strconv.FormatInt(c.cluster.version, 10))
	var keys []key
	for k, obj := range c.cluster.objects {
		if k.resource == c.resource() && (c.Namespace == "" || k.namespace == c.Namespace) && selected(obj) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.compare)
	for _, k := range keys {
		list.Items = append(list.Items, *c.versioned(c.cluster.objects[k]))
	}
	return list
}
