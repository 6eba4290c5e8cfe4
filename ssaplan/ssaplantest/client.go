package ssaplantest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// client is a dynamic client of a server.
type client struct{ server *Server }

func (c client) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return resourceClient{server: c.server, resource: resource}
}

type resourceClient struct {
	server    *Server
	resource  schema.GroupVersionResource
	namespace string
}

func (r resourceClient) Namespace(namespace string) dynamic.ResourceInterface {
	r.namespace = namespace
	return r
}

// request returns a request of this client.
func (r resourceClient) request(verb, name string, subresources []string) (Request, error) {
	out := Request{Verb: verb, Resource: r.resource, Namespace: r.namespace, Name: name}
	switch {
	case name == "" && verb != "create" && verb != "list":
		return out, errors.New("name is required")
	case len(subresources) > 1:
		return out, apierrors.NewMethodNotSupported(r.resource.GroupResource(), verb)
	case len(subresources) == 1:
		out.Subresource = subresources[0]
	}
	return out, nil
}

// do has the server work on a request, unless its answer is set. One that is invalid for its options is refused,
// whatever the answer.
func (r resourceClient) do(ctx context.Context, request Request, invalid error, work func(*call) (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if invalid == nil {
		if err := r.server.begin(request); err != nil {
			return nil, err
		}
	}
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	call, err := r.server.start(request)
	if err == nil {
		err = invalid
	}
	if err != nil {
		return nil, err
	}
	obj, err := work(call)
	return obj, status(err)
}

func (r resourceClient) Get(ctx context.Context, name string, _ metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error) {
	request, err := r.request("get", name, subresources)
	if err != nil {
		return nil, err
	}
	return r.do(ctx, request, nil, func(c *call) (*unstructured.Unstructured, error) {
		if live := c.live(); live != nil {
			return live, nil
		}
		return nil, c.notFound()
	})
}

func (r resourceClient) Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	request, err := r.request("create", obj.GetName(), subresources)
	if err == nil && request.Subresource != "" {
		err = apierrors.NewMethodNotSupported(r.resource.GroupResource(), "create")
	}
	if err != nil {
		return nil, err
	}
	request.FieldManager, request.DryRun = options.FieldManager, len(options.DryRun) > 0
	return r.write(ctx, request, obj, checkOptions("CreateOptions", options.DryRun), (*call).create)
}

func (r resourceClient) Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error) {
	request, err := r.request("update", obj.GetName(), subresources)
	if err != nil {
		return nil, err
	}
	request.FieldManager, request.DryRun = options.FieldManager, len(options.DryRun) > 0
	return r.write(ctx, request, obj, checkOptions("UpdateOptions", options.DryRun), (*call).update)
}

func (r resourceClient) UpdateStatus(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return r.Update(ctx, obj, options, "status")
}

// write sends an object. It goes through JSON as on the way to a server, so that the server shares nothing with the
// caller.
func (r resourceClient) write(ctx context.Context, request Request, obj *unstructured.Unstructured, invalid error,
	work func(*call, *unstructured.Unstructured) (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	return r.do(ctx, request, invalid, func(c *call) (*unstructured.Unstructured, error) {
		content, err := decode(body)
		if err != nil {
			return nil, err
		}
		return work(c, &unstructured.Unstructured{Object: content})
	})
}

// decode reads an object from JSON or YAML.
func decode(body []byte) (map[string]any, error) {
	text, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	var content map[string]any
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return content, nil
}

func (r resourceClient) Patch(ctx context.Context, name string, form types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error) {
	request, err := r.request("patch", name, subresources)
	if err != nil {
		return nil, err
	}
	request.PatchType, request.FieldManager = form, options.FieldManager
	request.DryRun, request.Force = len(options.DryRun) > 0, options.Force != nil && *options.Force
	return r.do(ctx, request, checkPatchOptions(form, options), func(c *call) (*unstructured.Unstructured, error) {
		return c.decodeAndPatch(data)
	})
}

func checkPatchOptions(form types.PatchType, options metav1.PatchOptions) error {
	var errs []*field.Error
	switch {
	case form == types.ApplyPatchType && options.FieldManager == "":
		errs = append(errs, field.Required(field.NewPath("fieldManager"), "is required for apply patch"))
	case form != types.ApplyPatchType && options.Force != nil:
		errs = append(errs, field.Forbidden(field.NewPath("force"), "may not be specified for non-apply patch"))
	}
	return checkOptions("PatchOptions", options.DryRun, errs...)
}

func (c *call) decodeAndPatch(data []byte) (*unstructured.Unstructured, error) {
	switch c.PatchType {
	case types.ApplyPatchType, types.MergePatchType, types.StrategicMergePatchType:
	case types.JSONPatchType:
		data = slices.Concat([]byte(`{"operations": `), data, []byte("}"))
	default:
		return nil, c.unsupportedPatch()
	}
	content, err := decode(data)
	if err != nil {
		return nil, err
	}
	if c.PatchType == types.ApplyPatchType {
		return c.apply(&unstructured.Unstructured{Object: content})
	}
	return c.patch(content)
}

func (r resourceClient) Apply(ctx context.Context, name string, obj *unstructured.Unstructured, options metav1.ApplyOptions, subresources ...string) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	return r.Patch(ctx, name, types.ApplyPatchType, body, options.ToPatchOptions(), subresources...)
}

func (r resourceClient) ApplyStatus(ctx context.Context, name string, obj *unstructured.Unstructured, options metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	return r.Apply(ctx, name, obj, options, "status")
}

func (r resourceClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error {
	request, err := r.request("delete", name, subresources)
	if err == nil && request.Subresource != "" {
		err = apierrors.NewMethodNotSupported(r.resource.GroupResource(), "delete")
	}
	if err != nil {
		return err
	}
	request.DryRun = len(options.DryRun) > 0
	_, err = r.do(ctx, request, checkOptions("DeleteOptions", options.DryRun), func(c *call) (*unstructured.Unstructured, error) {
		return nil, c.delete(options.Preconditions)
	})
	return err
}

func (r resourceClient) DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error {
	return apierrors.NewMethodNotSupported(r.resource.GroupResource(), "deletecollection")
}

func (r resourceClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, apierrors.NewMethodNotSupported(r.resource.GroupResource(), "watch")
}

// List returns all objects at once, whatever the limit. Of the fields it selects by name and namespace.
func (r resourceClient) List(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	selected, err := selector(options)
	if err != nil {
		return nil, err
	}
	request, err := r.request("list", "", nil)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	_, err = r.do(ctx, request, nil, func(c *call) (*unstructured.Unstructured, error) {
		c.list(list, selected)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
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

// list fills list with the objects, in the order of their names.
func (c *call) list(list *unstructured.UnstructuredList, selected func(*unstructured.Unstructured) bool) {
	list.SetGroupVersionKind(c.kind.GroupVersion().WithKind(c.kind.Kind + "List"))
	list.SetResourceVersion(strconv.FormatInt(c.server.version, 10))
	var keys []key
	for k, obj := range c.server.objects {
		if k.resource == c.resource() && (c.Namespace == "" || k.namespace == c.Namespace) && selected(obj) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.compare)
	for _, k := range keys {
		list.Items = append(list.Items, *c.versioned(c.server.objects[k]))
	}
}
