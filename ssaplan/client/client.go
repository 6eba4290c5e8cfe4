// Package client answers: how does a Planner reach the API server of a rest.Config of client-go? Its client is the
// fastest one that a Planner can have. It isn't for a program that has a dynamic client to share: package dynclient is.
//
//	api, err := client.New(config, client.Options{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool"})
//
// It sends each request once, and leaves retries to the Planner. It decodes what a Planner needs of an answer, limits
// the size of an answer, and follows no redirect to another host.
package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/ssaplan/internal/discovery"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options are the options of [New]. The zero value works.
type Options struct {
	// HTTPClient sends the requests with its own credentials. An example is the HTTP client of a manager of
	// controller-runtime. A copy with a wrapped transport is used, and HTTPClient isn't modified. Default: a client
	// made from the config.
	HTTPClient *http.Client
}

// Client is a [server.Server] with all optional interfaces. It is safe for concurrent use. The zero Client can't be
// used: see [New].
type Client struct {
	rest       rest.Interface
	documents  *discovery.Documents
	credential authresilience.Credential
}

var _ interface {
	server.Server
	server.Lister
	server.ObjectLister
	server.Discoverer
	server.Versioner
	server.SchemaReader
	server.Credentialed
} = (*Client)(nil)

// New returns a client for the cluster in config. It sends nothing yet. The config is copied. If it sets no QPS,
// requests aren't throttled by the client; client-go's default would be 5 requests a second. The retries of client-go
// are switched off. Warnings of requests for a plan are added to the plan. Warnings of other requests go to the handler
// in the config.
func New(config *rest.Config, options Options) (*Client, error) {
	if config == nil {
		return nil, errors.New("client: no config")
	}
	credential := restconfig.Credential(config)
	config = rest.CopyConfig(config)
	if config.QPS == 0 {
		config.QPS = -1
	}
	config.WarningHandlerWithContext = server.WarningHandler{Others: otherWarnings(config)}
	api, err := newRESTClient(config, options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", authresilience.RedactAddress(config.Host),
			authresilience.Redact(err))
	}
	return &Client{rest: api, documents: discovery.New(api, nil), credential: credential}, nil
}

// Credential implements [server.Credentialed]. It describes the credentials in the config.
func (c *Client) Credential() authresilience.Credential { return c.credential }

// Resolve implements [server.Server].
func (c *Client) Resolve(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	return c.documents.Resolve(ctx, kind)
}

// Kinds implements [server.Discoverer].
func (c *Client) Kinds(ctx context.Context) (kinds []server.Kind, unanswered []schema.GroupVersion, err error) {
	return c.documents.Kinds(ctx)
}

// Versions implements [server.Versioner].
func (c *Client) Versions(ctx context.Context) (server string, schemas map[schema.GroupVersion]string, err error) {
	return c.documents.Versions(ctx)
}

// Schemas implements [server.SchemaReader].
func (c *Client) Schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	return c.documents.Schemas(ctx, gv)
}

// answered returns err, the error of a request. If the server no longer serves the kind, the cached kinds of its group
// and version are dropped.
func (c *Client) answered(kind server.Kind, err error) error {
	if authresilience.Classify(err) == authresilience.ClassTypeNotServed {
		c.documents.Forget(kind.GroupVersion())
	}
	return err
}

// send sends a request about an object or its subresource.
func (c *Client) send(ctx context.Context, to server.Ref,
	request func(ctx context.Context, of *directObjects, sub ...string) (*unstructured.Unstructured,
		error)) (server.Response, error) {
	var sub []string
	if to.Subresource != "" {
		sub = []string{to.Subresource}
	}
	ctx, warnings := server.CollectWarnings(ctx)
	obj, err := request(ctx, newDirectObjects(c.rest, to.Kind, to.Namespace), sub...)
	if err != nil {
		obj = nil
	}
	return server.Response{Object: obj, Warnings: warnings()}, c.answered(to.Kind, err)
}

// Get implements [server.Server].
func (c *Client) Get(ctx context.Context, to server.Ref) (server.Response, error) {
	return c.send(ctx, to, func(ctx context.Context, of *directObjects, sub ...string) (*unstructured.Unstructured,
		error) {
		return of.Get(ctx, to.Name, metav1.GetOptions{}, sub...)
	})
}

// Patch implements [server.Server].
func (c *Client) Patch(ctx context.Context, to server.Ref, as types.PatchType, body []byte,
	options metav1.PatchOptions) (server.Response, error) {
	return c.send(ctx, to, func(ctx context.Context, of *directObjects, sub ...string) (*unstructured.Unstructured,
		error) {
		return of.Patch(ctx, to.Name, as, body, options, sub...)
	})
}

// Create implements [server.Server].
func (c *Client) Create(ctx context.Context, to server.Ref, obj *unstructured.Unstructured,
	options metav1.CreateOptions) (server.Response, error) {
	return c.send(ctx, to, func(ctx context.Context, of *directObjects, sub ...string) (*unstructured.Unstructured,
		error) {
		return of.Create(ctx, obj, options, sub...)
	})
}

// Update implements [server.Server].
func (c *Client) Update(ctx context.Context, to server.Ref, obj *unstructured.Unstructured,
	options metav1.UpdateOptions) (server.Response, error) {
	return c.send(ctx, to, func(ctx context.Context, of *directObjects, sub ...string) (*unstructured.Unstructured,
		error) {
		return of.Update(ctx, obj, options, sub...)
	})
}

// Delete implements [server.Server]. If a proxy drops the body of the request, the server rejects the request.
func (c *Client) Delete(ctx context.Context, to server.Ref, options metav1.DeleteOptions) (server.Response, error) {
	return c.send(ctx, to, func(ctx context.Context, of *directObjects, sub ...string) (*unstructured.Unstructured,
		error) {
		return nil, of.Delete(ctx, to.Name, options, sub...)
	})
}

// List implements [server.Lister].
func (c *Client) List(ctx context.Context, kind server.Kind, namespace string,
	options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	if err := newDirectObjects(c.rest, kind, namespace).list(ctx, options, metadataOnly, list); c.answered(kind,
		err) != nil {
		return nil, err
	}
	return list, nil
}

// ListObjects implements [server.ObjectLister].
func (c *Client) ListObjects(ctx context.Context, kind server.Kind, namespace string,
	options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	if err := newDirectObjects(c.rest, kind, namespace).list(ctx, options, "application/json", list); c.answered(kind,
		err) != nil {
		return nil, err
	}
	return list, nil
}
