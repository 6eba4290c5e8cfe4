package ssaplantest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// cluster is the kinds that a server serves, and its objects. Its methods are called while mu is locked.
type cluster struct {
	builtin managedfields.TypeConverter
	mapper  *mapper

	mu       sync.Mutex
	kinds    map[schema.GroupVersionResource]Kind
	custom   managedfields.TypeConverter
	managers map[managed]*managedfields.FieldManager
	objects  map[key]*unstructured.Unstructured // never changed once they are in
	version  int64
	past     []past // the latest that a list stopped in
}

// key describes where an object is. All versions of its kind lead to it.
type key struct {
	resource        schema.GroupResource
	namespace, name string
}

func (k key) compare(other key) int { return strings.Compare(k.path(), other.path()) }

func (k key) path() string { return k.namespace + "/" + k.name }

// past is what was there at a version.
type past struct {
	version int64
	objects map[key]*unstructured.Unstructured
}

// managed is what has a field manager of its own.
type managed struct {
	resource    schema.GroupVersionResource
	subresource string
}

// newCluster returns a cluster that serves the built-in kinds and CustomResourceDefinition, and has no object.
func newCluster() (*cluster, error) {
	c := &cluster{
		builtin: applyconfigurations.NewTypeConverter(scheme.Scheme),
		mapper:  &mapper{},
		kinds:   map[schema.GroupVersionResource]Kind{},
		objects: map[key]*unstructured.Unstructured{},
	}
	for _, kind := range builtinKinds() {
		c.kinds[kind.resource()] = kind
	}
	return c, c.register([]Kind{definitions})
}

// addNamespace adds a namespace that was there before all managers.
func (c *cluster) addNamespace(name string) {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	obj.SetName(name)
	initialize(obj, c.kinds[namespaces])
	obj.SetResourceVersion(c.nextVersion())
	c.objects[key{namespaces.GroupResource(), "", name}] = obj
}

func (c *cluster) register(kinds []Kind) error {
	all := maps.Clone(c.kinds)
	for _, kind := range kinds {
		complete, err := kind.complete()
		if err != nil {
			return err
		}
		all[complete.resource()] = complete
	}
	return c.serve(all)
}

// define stores the definition of a kind that was registered, as if it was there before all managers. It says which
// fields are passwords. A definition that was written by a client stays.
func (c *cluster) define(kind Kind) error {
	kind, err := kind.complete()
	if err != nil || kind.Group == "" {
		return err
	}
	at := key{definitions.resource().GroupResource(), "", kind.resource().GroupResource().String()}
	obj, err := kind.definition(c.objects[at])
	if err != nil || obj == nil {
		return err
	}
	obj.SetResourceVersion(c.nextVersion())
	c.objects[at] = obj
	return nil
}

// serve makes these the kinds that the server serves.
func (c *cluster) serve(kinds map[schema.GroupVersionResource]Kind) error {
	var custom []Kind
	for _, kind := range kinds {
		if !kind.builtin {
			custom = append(custom, kind)
		}
	}
	slices.SortFunc(custom, func(a, b Kind) int { return strings.Compare(a.String(), b.String()) })
	schemas := []map[string]any{scaleKind.document()}
	for _, kind := range custom {
		schemas = append(schemas, kind.document())
	}
	converter, err := newConverter(schemas)
	if err != nil {
		return err
	}
	c.kinds, c.custom = kinds, converter
	c.mapper.serve(kinds)
	c.managers = map[managed]*managedfields.FieldManager{}
	return nil
}

// fieldManager returns the field manager for a resource.
func (c *cluster) fieldManager(
	resource schema.GroupVersionResource, kind Kind, subresource string,
) (*managedfields.FieldManager, error) {
	id := managed{resource, subresource}
	if c.managers[id] == nil {
		manager, err := newFieldManager(kind, subresource, c.converter(kind))
		if err != nil {
			return nil, fmt.Errorf("ssaplantest: %s: %w", kind.GroupVersionKind, err)
		}
		c.managers[id] = manager
	}
	return c.managers[id], nil
}

func (c *cluster) converter(kind Kind) managedfields.TypeConverter {
	if kind.builtin && kind.Schema == nil {
		return c.builtin
	}
	return c.custom
}

// nextVersion returns a resourceVersion that no object had before.
func (c *cluster) nextVersion() string {
	c.version++
	return strconv.FormatInt(c.version, 10)
}

// put stores an object, and does what follows from it.
func (c *cluster) put(k key, obj *unstructured.Unstructured) error {
	if k.resource == definitions.resource().GroupResource() {
		kinds, err := KindsOf(obj)
		if err != nil {
			return err
		}
		if err := c.register(kinds); err != nil {
			return err
		}
		if err := establish(obj); err != nil {
			return err
		}
	}
	obj.SetResourceVersion(c.nextVersion())
	c.objects[k] = obj
	return nil
}

// remove removes an object with all that can't be without it.
func (c *cluster) remove(k key) error {
	gone := c.objects[k]
	delete(c.objects, k)
	c.version++
	switch k.resource {
	case namespaces.GroupResource():
		maps.DeleteFunc(c.objects,
			func(other key, _ *unstructured.Unstructured) bool { return other.namespace == k.name })
	case definitions.resource().GroupResource():
		return c.unserve(gone)
	}
	return nil
}

// unserve stops to serve what a CustomResourceDefinition defines.
func (c *cluster) unserve(definition *unstructured.Unstructured) error {
	kinds, err := KindsOf(definition)
	if err != nil {
		return err
	}
	left := maps.Clone(c.kinds)
	for _, kind := range kinds {
		delete(left, kind.resource())
		maps.DeleteFunc(c.objects,
			func(k key, _ *unstructured.Unstructured) bool { return k.resource == kind.resource().GroupResource() })
	}
	return c.serve(left)
}
