package lab

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/test/controlplane"
)

// A Cluster is a client of a server, and what it needs to find the objects of a kind.
type Cluster struct {
	Client dynamic.Interface
	Mapper meta.RESTMapper
	// Namespace is the namespace of namespaced objects that name none.
	Namespace string

	// The following fields are nil for an in-memory server.

	// Config is the configuration of Client. Copy it before you change it for another client.
	Config    *rest.Config
	Discovery discovery.DiscoveryInterface
	// Server is also nil if the cluster comes from [Connect].
	Server *controlplane.Server
}

// New returns the server that all tests of a package share, with a namespace of the test's own.
func New(t testing.TB) *Cluster {
	t.Helper()
	return On(t, controlplane.Shared(t))
}

// On returns a server with a namespace of the test's own.
func On(t testing.TB, server *controlplane.Server) *Cluster {
	t.Helper()
	c := Connect(t, server.Config())
	c.Server = server
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	namespace.SetGenerateName(nameOf(t) + "-")
	made, err := c.Resource(t, namespace).Create(context.Background(), namespace,
		metav1.CreateOptions{FieldManager: "lab"})
	require.NoError(t, err)
	return c.In(made.GetName())
}

var notInNames = regexp.MustCompile("[^a-z0-9]+")

// nameOf returns the name of a test in the form that objects are named in.
func nameOf(t testing.TB) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	return name[:min(len(name), 50)]
}

// Connect returns the server that config leads to, with the credentials that it has. Warnings of the server are
// dropped, unless config has a handler for them.
func Connect(t testing.TB, config *rest.Config) *Cluster {
	t.Helper()
	client, err := dynamic.NewForConfig(quiet(config))
	require.NoError(t, err)
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	return &Cluster{Client: client, Mapper: mapper, Config: config, Discovery: disco}
}

func quiet(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if config.WarningHandler == nil && config.WarningHandlerWithContext == nil {
		config.WarningHandler = rest.NoWarnings{}
	}
	return config
}

// In returns the cluster with another namespace, which it does not create.
func (c *Cluster) In(namespace string) *Cluster {
	other := *c
	other.Namespace = namespace
	return &other
}

// As returns the cluster with the credentials of a user, who has no rights but those that the test grants. Kinds are
// still found with the rights of c, so that the user's requests get as far as the objects.
func (c *Cluster) As(t testing.TB, user string, groups ...string) *Cluster {
	t.Helper()
	config, err := c.Server.ConfigFor(user, groups...)
	require.NoError(t, err)
	other := *Connect(t, config)
	other.Mapper, other.Namespace, other.Server = c.Mapper, c.Namespace, c.Server
	return &other
}

// Planner returns a planner that takes c's namespace for that of objects without one.
func (c *Cluster) Planner(t testing.TB, options ssaplan.Options) *ssaplan.Planner {
	t.Helper()
	options.DefaultNamespace = cmp.Or(options.DefaultNamespace, c.Namespace)
	planner, err := NewPlanner(c.Config, options)
	require.NoError(t, err)
	return planner
}

// NewPlanner returns a planner with the client of package client.
func NewPlanner(config *rest.Config, options ssaplan.Options) (*ssaplan.Planner, error) {
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return ssaplan.New(api, options)
}

// Resource returns access to the objects of obj's kind, in the namespace of obj. The kind may have been defined a
// moment ago.
func (c *Cluster) Resource(t testing.TB, obj *unstructured.Unstructured) (resource dynamic.ResourceInterface) {
	t.Helper()
	kind := obj.GroupVersionKind()
	Eventually(t, kind.String()+" is known", func() (known bool) {
		resource, known = c.find(kind, obj.GetNamespace())
		return known
	})
	return resource
}

// find is Find, but looks again the next time if there is no such kind yet.
func (c *Cluster) find(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, bool) {
	resource, err := c.Find(kind, namespace)
	if err != nil {
		meta.MaybeResetRESTMapper(c.Mapper)
	}
	return resource, err == nil
}

// Find returns access to the objects of a kind, in a namespace or else that of c if the kind has namespaces. It fails
// if there is no such kind as far as is known.
func (c *Cluster) Find(kind schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := c.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.Client.Resource(mapping.Resource), nil
	}
	return c.Client.Resource(mapping.Resource).Namespace(cmp.Or(namespace, c.Namespace)), nil
}
