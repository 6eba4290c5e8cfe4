package ssaplantest

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
)

// call is a request being worked on. The server is locked.
type call struct {
	server *Server
	Request
	kind   Kind
	fields *managedfields.FieldManager
}

// start finds out what a request is for.
func (s *Server) start(r Request) (*call, error) {
	kind, served := s.kinds[r.Resource]
	if !served || r.Verb != "list" && kind.ClusterScoped != (r.Namespace == "") || kind.ClusterScoped && r.Namespace != "" {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Verb, r.Resource.GroupResource(), r.Name, "404 page not found", 0, true)
	}
	c := &call{server: s, Request: r, kind: kind}
	if r.Subresource != "" && (r.Subresource != "status" || !kind.StatusSubresource) {
		return nil, c.notSupported(r.Verb)
	}
	if c.FieldManager == "" {
		c.FieldManager, _, _ = strings.Cut(rest.DefaultKubernetesUserAgent(), "/")
	}
	var err error
	c.fields, err = s.fieldManager(kind, r.Subresource)
	return c, err
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
	obj := c.server.objects[c.key()]
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

// status returns the error as a client gets it. A server answers errors that it has no status for with the code 500 and
// no reason, manifests that don't fit the schema among them.
func status(err error) error {
	if err == nil || errors.As(err, new(apierrors.APIStatus)) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// checkOptions checks the options of a write.
func checkOptions(kind string, dryRun []string, errs ...*field.Error) error {
	for _, text := range dryRun {
		if text != metav1.DryRunAll {
			errs = append(errs, field.NotSupported(field.NewPath("dryRun"), dryRun, []string{metav1.DryRunAll}))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}
