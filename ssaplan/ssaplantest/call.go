package ssaplantest

import (
	"net/http"
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
	message
	kind     Kind
	fields   *managedfields.FieldManager
	scale    *unstructured.Unstructured // if this is about the scale of an object: the scale
	warnings []string
}

// start finds out what a request is for.
func (c *cluster) start(r message) (*call, error) {
	kind, served := c.kinds[r.Resource]
	if !served || r.Verb != "list" && kind.ClusterScoped != (r.Namespace == "") || kind.ClusterScoped &&
		r.Namespace != "" {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Verb, r.Resource.GroupResource(), r.Name,
			"404 page not found", 0, true)
	}
	out := &call{cluster: c, message: r, kind: kind}
	if !kind.serves(r.Subresource) {
		return nil, out.notSupported(r.Verb)
	}
	if out.FieldManager == "" {
		out.FieldManager, _, _ = strings.Cut(rest.DefaultKubernetesUserAgent(), "/")
	}
	var err error
	if r.Subresource == "scale" {
		kind = scaleKind
	}
	out.fields, err = c.fieldManager(r.Resource, kind, r.Subresource)
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
	if c.scale != nil {
		return c.scale.DeepCopy()
	}
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
