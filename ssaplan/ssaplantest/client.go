package ssaplantest

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// client is a dynamic client of a server.
type client struct{ server handler }

func (c client) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return resourceClient{server: c.server, resource: resource}
}

type resourceClient struct {
	server    handler
	resource  schema.GroupVersionResource
	namespace string
}

func (r resourceClient) Namespace(namespace string) dynamic.ResourceInterface {
	r.namespace = namespace
	return r
}

// request returns a request of this client.
func (r resourceClient) request(verb, name string, subresources []string) (message, error) {
	out := message{Request: Request{Verb: verb, Resource: r.resource, Namespace: r.namespace, Name: name}}
	switch {
	case name == "" && verb != "create" && verb != "list":
		return out, errors.New("name is required")
	case len(subresources) > 1:
		return out, apierrors.NewMethodNotSupported(r.resource.GroupResource(), verb)
	case len(subresources) == 1:
		out.Subresource = subresources[0]
	}
	if out.Subresource != "" && (verb == "create" || verb == "delete") {
		return out, apierrors.NewMethodNotSupported(r.resource.GroupResource(), verb)
	}
	return out, nil
}

func (r resourceClient) Get(ctx context.Context, name string, _ metav1.GetOptions,
	subresources ...string) (*unstructured.Unstructured, error) {
	request, err := r.request("get", name, subresources)
	if err != nil {
		return nil, err
	}
	return r.server.handle(ctx, request)
}

func (r resourceClient) Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions,
	subresources ...string) (*unstructured.Unstructured, error) {
	sent := message{validation: options.FieldValidation, wrong: validation.ValidateCreateOptions(&options)}
	sent.FieldManager, sent.DryRun = options.FieldManager, len(options.DryRun) > 0
	return r.write(ctx, "create", obj, sent, subresources)
}

func (r resourceClient) Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions,
	subresources ...string) (*unstructured.Unstructured, error) {
	sent := message{validation: options.FieldValidation, wrong: validation.ValidateUpdateOptions(&options)}
	sent.FieldManager, sent.DryRun = options.FieldManager, len(options.DryRun) > 0
	return r.write(ctx, "update", obj, sent, subresources)
}

func (r resourceClient) UpdateStatus(ctx context.Context, obj *unstructured.Unstructured,
	options metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return r.Update(ctx, obj, options, "status")
}

// write sends an object. It goes through JSON as on the way to a server, so that the server shares nothing with the
// caller.
func (r resourceClient) write(
	ctx context.Context, verb string, obj *unstructured.Unstructured, sent message, subresources []string,
) (*unstructured.Unstructured, error) {
	request, err := r.request(verb, obj.GetName(), subresources)
	if err != nil {
		return nil, err
	}
	request.FieldManager, request.DryRun = sent.FieldManager, sent.DryRun
	request.validation, request.wrong = sent.validation, sent.wrong
	if request.body, err = json.Marshal(obj.Object); err != nil {
		return nil, err
	}
	return r.server.handle(ctx, request)
}

func (r resourceClient) Patch(ctx context.Context, name string, form types.PatchType, data []byte,
	options metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error) {
	request, err := r.request("patch", name, subresources)
	if err != nil {
		return nil, err
	}
	request.PatchType, request.FieldManager, request.body = form, options.FieldManager, data
	request.DryRun, request.Force = len(options.DryRun) > 0, options.Force != nil && *options.Force
	request.validation, request.wrong = options.FieldValidation, validation.ValidatePatchOptions(&options, form)
	return r.server.handle(ctx, request)
}

func (r resourceClient) Apply(ctx context.Context, name string, obj *unstructured.Unstructured,
	options metav1.ApplyOptions, subresources ...string) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	return r.Patch(ctx, name, types.ApplyPatchType, body, options.ToPatchOptions(), subresources...)
}

func (r resourceClient) ApplyStatus(ctx context.Context, name string, obj *unstructured.Unstructured,
	options metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	return r.Apply(ctx, name, obj, options, "status")
}

func (r resourceClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions,
	subresources ...string) error {
	request, err := r.request("delete", name, subresources)
	if err != nil {
		return err
	}
	request.DryRun, request.deletion = len(options.DryRun) > 0, options
	request.wrong = validation.ValidateDeleteOptions(&options)
	_, err = r.server.handle(ctx, request)
	return err
}

func (r resourceClient) DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error {
	return apierrors.NewMethodNotSupported(r.resource.GroupResource(), "deletecollection")
}

func (r resourceClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, apierrors.NewMethodNotSupported(r.resource.GroupResource(), "watch")
}

// List returns a page if there is a limit. Field selectors may name metadata.name and metadata.namespace.
func (r resourceClient) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	selected, err := selector(options)
	if err != nil {
		return nil, err
	}
	request, err := r.request("list", "", nil)
	if err != nil {
		return nil, err
	}
	return r.server.list(ctx, request, options, selected)
}

// selector returns what a list's options select.
func selector(options metav1.ListOptions) (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(options.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(options.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(obj *unstructured.Unstructured) bool {
		known := fields.Set{"metadata.name": obj.GetName(), "metadata.namespace": obj.GetNamespace()}
		return byLabel.Matches(labels.Set(obj.GetLabels())) && byField.Matches(known)
	}, nil
}
