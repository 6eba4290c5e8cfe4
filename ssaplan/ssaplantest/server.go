package ssaplantest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options adjust a [Server]. The zero value works.
type Options struct {
	// Kinds are custom kinds that are served from the start, in addition to the built-in kinds and
	// CustomResourceDefinition. Add more with [Server.Register], or by creating a CustomResourceDefinition. Default:
	// none.
	Kinds []Kind
	// Namespaces are more namespaces that exist from the start, in addition to default, kube-system, kube-public and
	// kube-node-lease.
	Namespaces []string
}

// Server is an API server in memory. It is safe for concurrent use. The zero value can't be used; see [NewServer].
type Server struct {
	builtin managedfields.TypeConverter

	mu       sync.Mutex
	kinds    map[schema.GroupVersionResource]Kind
	mapper   meta.RESTMapper
	custom   managedfields.TypeConverter
	managers map[managed]*managedfields.FieldManager
	objects  map[key]*unstructured.Unstructured // never changed once they are in
	version  int64
	answers  []*answer
	requests []Request
}

// key describes where an object is. All versions of its kind lead to it.
type key struct {
	resource        schema.GroupResource
	namespace, name string
}

func (k key) compare(other key) int {
	return strings.Compare(k.namespace+"/"+k.name, other.namespace+"/"+other.name)
}

// managed is what has a field manager of its own.
type managed struct {
	resource    schema.GroupVersionResource
	subresource string
}

// NewServer returns a server that has only namespaces. It needn't be stopped. It is an error if a schema in
// options.Kinds is invalid.
func NewServer(options Options) (*Server, error) {
	s := &Server{
		builtin: applyconfigurations.NewTypeConverter(scheme.Scheme),
		kinds:   map[schema.GroupVersionResource]Kind{},
		objects: map[key]*unstructured.Unstructured{},
	}
	for _, kind := range builtinKinds() {
		s.kinds[kind.resource()] = kind
	}
	if err := s.register([]Kind{definitions}); err != nil {
		return nil, err
	}
	if err := s.Register(options.Kinds...); err != nil {
		return nil, err
	}
	for _, name := range append([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, options.Namespaces...) {
		s.addNamespace(name)
	}
	return s, nil
}

// addNamespace adds a namespace that was there before all managers.
func (s *Server) addNamespace(name string) {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	obj.SetName(name)
	initialize(obj, s.kinds[namespaces])
	obj.SetResourceVersion(s.nextVersion())
	s.objects[key{namespaces.GroupResource(), "", name}] = obj
}

// Client returns a client of the server.
func (s *Server) Client() dynamic.Interface { return client{s} }

// API returns the server for [ssaplan.New]. It lists objects, and has no discovery.
func (s *Server) API() server.Server {
	return dynclient.New(s.Client(), s.Mapper(), dynclient.Options{})
}

// Mapper returns a mapper for the kinds that the server serves. It is never out of date.
func (s *Server) Mapper() meta.RESTMapper { return mapper{s} }

// Register makes the server serve more custom kinds, or the same ones with other schemas. Existing objects aren't
// checked. The server then has a CustomResourceDefinition for each kind, except for kinds in the core group.
func (s *Server) Register(kinds ...Kind) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.register(kinds); err != nil {
		return err
	}
	for _, kind := range kinds {
		if err := s.define(kind); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) register(kinds []Kind) error {
	all := maps.Clone(s.kinds)
	for _, kind := range kinds {
		complete, err := kind.complete()
		if err != nil {
			return err
		}
		all[complete.resource()] = complete
	}
	return s.serve(all)
}

// define stores the definition of a kind that was registered, as if it was there before all managers. It says which
// fields are passwords. A definition that was written by a client stays.
func (s *Server) define(kind Kind) error {
	kind, err := kind.complete()
	if err != nil || kind.Group == "" {
		return err
	}
	at := key{definitions.resource().GroupResource(), "", kind.resource().GroupResource().String()}
	obj, err := kind.definition(s.objects[at])
	if err != nil || obj == nil {
		return err
	}
	obj.SetResourceVersion(s.nextVersion())
	s.objects[at] = obj
	return nil
}

// serve makes these the kinds that the server serves.
func (s *Server) serve(kinds map[schema.GroupVersionResource]Kind) error {
	var custom []Kind
	for _, kind := range kinds {
		if !kind.builtin {
			custom = append(custom, kind)
		}
	}
	slices.SortFunc(custom, func(a, b Kind) int { return strings.Compare(a.String(), b.String()) })
	var schemas []map[string]any
	for _, kind := range custom {
		schemas = append(schemas, kind.document())
	}
	converter, err := newConverter(schemas)
	if err != nil {
		return err
	}
	s.kinds, s.custom, s.mapper = kinds, converter, newMapper(kinds)
	s.managers = map[managed]*managedfields.FieldManager{}
	return nil
}

// fieldManager returns the field manager for a resource.
func (s *Server) fieldManager(kind Kind, subresource string) (*managedfields.FieldManager, error) {
	id := managed{kind.resource(), subresource}
	if s.managers[id] == nil {
		manager, err := newFieldManager(kind, subresource, s.converter(kind))
		if err != nil {
			return nil, fmt.Errorf("ssaplantest: %s: %w", kind.GroupVersionKind, err)
		}
		s.managers[id] = manager
	}
	return s.managers[id], nil
}

func (s *Server) converter(kind Kind) managedfields.TypeConverter {
	if kind.builtin {
		return s.builtin
	}
	return s.custom
}

// nextVersion returns a resourceVersion that no object had before.
func (s *Server) nextVersion() string {
	s.version++
	return strconv.FormatInt(s.version, 10)
}

// put stores an object, and does what follows from it.
func (s *Server) put(k key, obj *unstructured.Unstructured) error {
	if k.resource == definitions.resource().GroupResource() {
		kinds, err := KindsOf(obj)
		if err != nil {
			return err
		}
		if err := s.register(kinds); err != nil {
			return err
		}
		if err := establish(obj); err != nil {
			return err
		}
	}
	obj.SetResourceVersion(s.nextVersion())
	s.objects[k] = obj
	return nil
}

// remove removes an object with all that can't be without it.
func (s *Server) remove(k key) error {
	gone := s.objects[k]
	delete(s.objects, k)
	s.version++
	switch k.resource {
	case namespaces.GroupResource():
		maps.DeleteFunc(s.objects, func(other key, _ *unstructured.Unstructured) bool { return other.namespace == k.name })
	case definitions.resource().GroupResource():
		return s.unserve(gone)
	}
	return nil
}

// unserve stops to serve what a CustomResourceDefinition defines.
func (s *Server) unserve(definition *unstructured.Unstructured) error {
	kinds, err := KindsOf(definition)
	if err != nil {
		return err
	}
	left := maps.Clone(s.kinds)
	for _, kind := range kinds {
		delete(left, kind.resource())
		maps.DeleteFunc(s.objects, func(k key, _ *unstructured.Unstructured) bool { return k.resource == kind.resource().GroupResource() })
	}
	return s.serve(left)
}

// now is the time in the form and to the second in which objects bear it.
func now() metav1.Time { return metav1.Now().Rfc3339Copy() }
