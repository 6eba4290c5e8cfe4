package proof_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// object is the one object that a case is about.
type object struct {
	cluster  *cluster
	name     string
	slot     int                     // of the cases that run at the same time, which this is
	gvk      schema.GroupVersionKind // of the case's manifests
	memory   map[string]*memory      // by subresource
	managers map[string]string       // see [Case]

	namespaced bool
	revision   int               // of the definition that is in force, if it changes
	redefined  []projection.Path // see isRedefined
	// unrecorded says that a server recorded no owner of what an update wrote: the object had something that no apply
	// can have, such as a set of maps; see docs/limits.md.
	unrecorded bool
}

// memory is what is remembered of the last apply of an object, or of a subresource of it.
type memory struct {
	state *explain.State
	last  *applied
}

// remembered returns the memory of a subresource.
func (o *object) remembered(subresource string) *memory {
	if o.memory[subresource] == nil {
		o.memory[subresource] = &memory{}
	}
	return o.memory[subresource]
}

// newObject is the object of a case. It doesn't exist yet.
func (c *cluster) newObject(the Case, name string, slot int) (*object, error) {
	o := &object{cluster: c, name: name, slot: slot, memory: map[string]*memory{}, managers: the.Managers}
	for _, s := range the.Steps {
		if body, ok := s.Body.(map[string]any); ok && body["kind"] != nil {
			o.gvk = (&unstructured.Unstructured{Object: o.fill(copyOf(body)).(map[string]any)}).GroupVersionKind()
			break
		}
	}
	mapping, err := c.Mapper.RESTMapping(o.gvk.GroupKind(), o.gvk.Version)
	if err != nil {
		return nil, err
	}
	o.namespaced = mapping.Scope.Name() == meta.RESTScopeNameNamespace
	return o, nil
}

// fill puts in what differs from object to object, since ports and addresses can't be used twice.
func (o *object) fill(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = o.fill(item)
		}
	case []any:
		for i, item := range v {
			v[i] = o.fill(item)
		}
	case string:
		switch {
		case v == "$nodePort":
			return int64(30000 + o.slot)
		case strings.HasPrefix(v, slotGroup):
			return strings.Replace(v, "$slot", fmt.Sprintf("slot%d", o.slot), 1)
		case strings.HasPrefix(v, "$clusterIP"):
			return strings.Replace(v, "$clusterIP", fmt.Sprintf("10.0.0.%d", 2+o.slot), 1)
		}
	}
	return v
}

// manifest is the body of a step with the object's name and namespace.
func (o *object) manifest(s Step) *unstructured.Unstructured {
	body, _ := o.fill(copyOf(s.Body)).(map[string]any)
	body, _ = put(body, place{"metadata", "name"}, o.name).(map[string]any)
	if o.namespaced {
		body, _ = put(body, place{"metadata", "namespace"}, namespaceOf(o.gvk.Kind)).(map[string]any)
	}
	return &unstructured.Unstructured{Object: body}
}

func (o *object) resource(gvk schema.GroupVersionKind) (dynamic.ResourceInterface, error) {
	if gvk.Kind != o.gvk.Kind || gvk.Group != o.gvk.Group {
		gvk = o.gvk
	}
	return o.cluster.resource(gvk)
}

// get returns the object in the version of a manifest, or nil if there is none.
func (o *object) get(ctx context.Context, m *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, err := o.resource(m.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	obj, err := resource.Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

func (o *object) remove(ctx context.Context) error {
	resource, err := o.cluster.resource(o.gvk)
	if err != nil {
		return err
	}
	return remove(ctx, resource, o.name)
}

// apply applies a manifest as the step says, with a client that knows nothing of plans. In courses a write comes in a
// later second than its dry run, so that what the server sets to the time of the write is another value.
func (o *object) apply(ctx context.Context, m *unstructured.Unstructured, s Step, dryRun ...string) (*unstructured.Unstructured, error) {
	resource, err := o.resource(m.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(m.Object)
	if err != nil {
		return nil, err
	}
	if o.cluster.isLater && len(dryRun) == 0 {
		lab.NextSecond()
	}
	options := metav1.PatchOptions{FieldManager: s.By, Force: &s.Force, DryRun: dryRun}
	return resource.Patch(ctx, o.name, types.ApplyPatchType, body, options, s.subresources()...)
}

// write does what a step says that isn't a trial.
func (o *object) write(ctx context.Context, s Step) error {
	switch s.Write {
	case "clientApply":
		return o.clientApply(ctx, s)
	case "apply", "create", "replace", "edit":
		return o.writeManifest(ctx, s)
	case "merge":
		return o.patch(ctx, types.MergePatchType, o.fill(copyOf(s.Body)), s)
	case "json":
		return o.patch(ctx, types.JSONPatchType, o.fill(copyOf(s.Body)), s)
	case "delete":
		return o.startDeleting(ctx)
	case "define":
		return o.revised(ctx, s)
	case "await":
		return o.await(ctx, s)
	case "forget":
		return o.patch(ctx, types.MergePatchType, map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}}}, s)
	}
	return fmt.Errorf("unknown write %q", s.Write)
}

// await waits until the object has all that the body has.
func (o *object) await(ctx context.Context, s Step) error {
	resource, err := o.cluster.resource(o.gvk)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, o.name, metav1.GetOptions{})
		return err == nil && isPart(s.Body, live.Object), err
	})
}

// startDeleting deletes the object, unless finalizers keep it.
func (o *object) startDeleting(ctx context.Context) error {
	resource, err := o.cluster.resource(o.gvk)
	if err != nil {
		return err
	}
	now := int64(0)
	return resource.Delete(ctx, o.name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

func (o *object) patch(ctx context.Context, kind types.PatchType, body any, s Step) error {
	resource, err := o.cluster.resource(o.gvk)
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = resource.Patch(ctx, o.name, kind, text, metav1.PatchOptions{FieldManager: s.By}, s.subresources()...)
	return err
}

func (o *object) writeManifest(ctx context.Context, s Step) error {
	m := o.manifest(s)
	resource, err := o.resource(m.GroupVersionKind())
	if err != nil {
		return err
	}
	switch s.Write {
	case "apply":
		_, err = o.apply(ctx, m, s)
		return err
	case "create":
		_, err = resource.Create(ctx, m, metav1.CreateOptions{FieldManager: s.By})
		return err
	}
	live, err := resource.Get(ctx, o.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if s.Write == "edit" {
		m.Object = merged(live.Object, m.Object).(map[string]any)
	}
	m.SetResourceVersion(live.GetResourceVersion())
	recorded, generation := live.GetManagedFields(), live.GetGeneration()
	made, err := resource.Update(ctx, m, metav1.UpdateOptions{FieldManager: s.By})
	if err == nil && made.GetGeneration() > generation && reflect.DeepEqual(made.GetManagedFields(), recorded) {
		o.unrecorded = true
	}
	return err
}

// merged puts a tree over another, map by map; lists are replaced.
func merged(v, over any) any {
	below, isMap := v.(map[string]any)
	above, wasMap := over.(map[string]any)
	if !isMap || !wasMap {
		return over
	}
	for name, item := range above {
		below[name] = merged(below[name], item)
	}
	return below
}
