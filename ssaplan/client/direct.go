package client

// This file sends requests for objects without the dynamic client, and decodes the answers.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/client/internal/jsondoc"
	"github.com/ssaplan/primitives/ssaplan/internal/discovery"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// directObjects sends the same requests as the dynamic client, but never retries. It decodes an answer only once. The
// dynamic client decodes an answer twice: the first time only to find the kind. directObjects doesn't decode the answer
// to a patch if the bytes are the same as in the read before: a server answers a dry run like this if it would write
// nothing. A directObjects is for one plan, and not for concurrent use.
type directObjects struct {
	client    rest.Interface
	resource  schema.GroupVersionResource
	namespace string

	// read is the answer to the last read, and live its object. The answer to a patch may have the same text, in part
	// or as a whole.
	read *jsondoc.Document
	live *unstructured.Unstructured
}

// newRESTClient returns a REST client that always requests JSON; the dynamic client may prefer another format. If
// client is nil, an HTTP client is made from the config.
func newRESTClient(config *rest.Config, client *http.Client) (rest.Interface, error) {
	if client == nil {
		config.Wrap(newMeter)
		made, err := rest.HTTPClientFor(config)
		if err != nil {
			return nil, err
		}
		client = made
	} else {
		metered := *client
		metered.Transport = newMeter(transportOf(client))
		client = &metered
	}
	bounded := boundedClient(config, client)
	config = dynamic.ConfigFor(config)
	config.AcceptContentTypes = runtime.ContentTypeJSON
	return rest.UnversionedRESTClientForConfigAndClient(config, bounded)
}

func newDirectObjects(client rest.Interface, kind server.Kind, namespace string) *directObjects {
	return &directObjects{client: client, resource: kind.GroupVersionResource(), namespace: namespace}
}

func (r *directObjects) Get(ctx context.Context, name string,
	options metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	r.read, r.live = nil, nil
	result := r.send(ctx, r.client.Get(), name, &options, sub)
	body, err := result.Raw()
	if err != nil {
		return nil, result.Error() // this error has the server's status
	}
	doc, plain := jsondoc.Decode(body, sharedRecords(ctx))
	if !plain || !isObject(doc.Object) {
		return into(result)
	}
	live := &unstructured.Unstructured{Object: doc.Object}
	if len(sub) == 0 {
		r.read, r.live = doc, live
	}
	return live, nil
}

// Patch drops the last read. Otherwise its memory would be used as long as the plan is kept.
func (r *directObjects) Patch(ctx context.Context, name string, pt types.PatchType,
	data []byte, options metav1.PatchOptions, sub ...string) (*unstructured.Unstructured, error) {
	defer func() { r.read, r.live = nil, nil }()
	result := r.send(ctx, r.client.Patch(pt).Body(data), name, &options, sub)
	body, err := result.Raw()
	switch {
	case err != nil:
		return nil, result.Error()
	case r.read.IsRepeatedBy(body):
		return r.live, nil
	}
	object, plain := r.read.DecodeLike(body, sharedRecords(ctx))
	if !plain || !isObject(object) {
		return into(result)
	}
	return &unstructured.Unstructured{Object: object}, nil
}

func (r *directObjects) Create(ctx context.Context, in *unstructured.Unstructured,
	options metav1.CreateOptions, sub ...string) (*unstructured.Unstructured, error) {
	return r.write(ctx, r.client.Post(), "", in, &options, sub)
}

func (r *directObjects) Update(ctx context.Context, in *unstructured.Unstructured,
	options metav1.UpdateOptions, sub ...string) (*unstructured.Unstructured, error) {
	return r.write(ctx, r.client.Put(), in.GetName(), in, &options, sub)
}

func (r *directObjects) write(ctx context.Context, request *rest.Request, name string, in *unstructured.Unstructured,
	options runtime.Object, sub []string) (*unstructured.Unstructured, error) {
	body, err := fastjson.Encode(in.Object)
	if err != nil {
		return nil, err
	}
	request = request.Body(body).SetHeader("Content-Type", runtime.ContentTypeJSON)
	return into(r.send(ctx, request, name, options, sub))
}

// bodyless is an invalid propagation policy for the URL of a delete. A server ignores the policy in the URL if the
// request has a body, and rejects it if the body is missing. Some proxies drop the body of a delete, with its dryRun
// and its UID precondition. Without this check, such a request could delete an object in a dry run, or the wrong
// object.
const bodyless = "the body of the request is missing"

func (r *directObjects) Delete(ctx context.Context, name string, options metav1.DeleteOptions, sub ...string) error {
	body, err := json.Marshal(options)
	if err != nil {
		return err
	}
	request := r.client.Delete().Body(body).SetHeader("Content-Type", runtime.ContentTypeJSON)
	answer, err := discovery.BodyOf(r.address(request, name, sub).Param("propagationPolicy", bodyless).Do(ctx))
	if err != nil {
		return err
	}
	return checkDeleted(answer, name)
}

// checkDeleted returns an error unless the answer to a delete is from an API server: a status Success, or the object. A
// proxy in front of the server can answer 200 with another body.
func checkDeleted(text []byte, name string) error {
	var answer struct {
		Kind     string
		Status   any
		Metadata struct{ Name string }
		Details  struct{ Name string }
	}
	err := json.Unmarshal(text, &answer)
	isSuccess := answer.Kind == "Status" && answer.Status == metav1.StatusSuccess &&
		(answer.Details.Name == "" || answer.Details.Name == name)
	isObject := answer.Kind != "Status" && answer.Kind != "" && answer.Metadata.Name == name
	if err != nil || !isSuccess && !isObject {
		return errors.New(
			"the answer to the delete says neither that it succeeded nor what was deleted: check the proxies in " +
				"front of the server")
	}
	return nil
}

// metadataOnly is the media type of a list with only the metadata of the objects.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// List lists the metadata of the objects.
func (r *directObjects) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list := &unstructured.UnstructuredList{}
	return list, r.list(ctx, options, metadataOnly, list)
}

// list reads a list in the format of the media type accept.
func (r *directObjects) list(ctx context.Context, options metav1.ListOptions, accept string,
	into runtime.Object) error {
	return discovery.Decode(r.send(ctx, r.client.Get().SetHeader("Accept", accept), "", &options, nil), into)
}

func (r *directObjects) send(ctx context.Context, request *rest.Request, name string,
	options runtime.Object, sub []string) rest.Result {
	return r.address(request, name, sub).SpecificallyVersionedParams(options, parameters, v1).Do(ctx)
}

// address sets the URL of a request.
func (r *directObjects) address(request *rest.Request, name string, sub []string) *rest.Request {
	root := []string{"apis", r.resource.Group, r.resource.Version}
	if r.resource.Group == "" {
		root = []string{"api", r.resource.Version}
	}
	request = request.MaxRetries(0).AbsPath(root...).NamespaceIfScoped(r.namespace, r.namespace != "").
		Resource(r.resource.Resource)
	if name != "" {
		request = request.Name(name)
	}
	return request.SubResource(sub...)
}

// isObject reports whether the decoded content is an object of the API, and not a Status.
func isObject(content map[string]any) bool {
	obj := unstructured.Unstructured{Object: content}
	return obj.GetKind() != "" && obj.GetKind() != "Status"
}

// into decodes an answer with client-go. It is for answers that jsondoc can't decode, or that are no objects.
func into(result rest.Result) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	return obj, discovery.Decode(result, obj)
}

var v1 = schema.GroupVersion{Version: "v1"}

// parameters encodes options as URL parameters.
var parameters = func() runtime.ParameterCodec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, v1)
	return runtime.NewParameterCodec(scheme)
}()
