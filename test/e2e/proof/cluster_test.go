package proof_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
	"github.com/ssaplan/primitives/test/lab/servers"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

//go:embed testdata/definitions.yaml
var definitionsYAML string

// cluster is the real API server with the custom resources, the webhooks and a namespace for each kind, so that quotas
// and limits don't meet other kinds.
type cluster struct {
	*lab.Cluster
	// kinds are those that the server has.
	kinds []kind
	// pair are the planners of the manager under test, and special those of other managers by their names.
	pair
	special map[string]pair
	isLater bool // see [object.apply]
}

// pair plan with and without force.
type pair struct{ forcing, refusing planners }

// installer is another manager than those of the cases.
const installer = "installer"

// planners are two that differ in how they get at the answers of the server. The one under test takes answers of the
// same bytes for the same and decodes nothing twice; the other leaves all that to client-go. If SERVER is the name of a
// server of package servers, the one under test plans through that server, and the other one by itself.
type planners struct{ tested, reference *ssaplan.Planner }

func (c *cluster) newPlanners(t *testing.T, config *rest.Config, options ssaplan.Options) planners {
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = server.WarningHandler{}
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	reference, err := ssaplan.New(dynclient.New(client, c.Mapper, dynclient.Options{}), options)
	require.NoError(t, err)
	tested, err := lab.NewPlanner(config, options)
	require.NoError(t, err)
	if name := os.Getenv("SERVER"); name != "" {
		through, err := ssaplan.New(servers.New(t, name, config), options)
		require.NoError(t, err)
		require.Empty(t, through.Lacks())
		return planners{through, tested}
	}
	return planners{tested, reference}
}

// connect returns a server as it is, with planners.
func connect(t *testing.T, server *controlplane.Server) *cluster {
	c := &cluster{Cluster: lab.Connect(t, server.Config())}
	c.Server = server
	c.pair = c.newPair(t, manager)
	return c
}

func newCluster(t *testing.T, kinds []kind) *cluster {
	c := connect(t, controlplane.Shared(t))
	for _, definition := range lab.Objects(t, definitionsYAML) {
		c.Apply(t, installer, definition)
	}
	for _, k := range kinds {
		if c.serves(t, k.apiVersion()) {
			c.prepare(t, k)
			c.kinds = append(c.kinds, k)
		}
	}
	c.installPlanners(t)
	c.installWebhooks(t)
	if kinds != nil {
		c.installPolicies(t)
	}
	return c
}

// serves reports whether the server has the API of a kind. Only one that was asked for by its version may lack an API.
func (c *cluster) serves(t *testing.T, apiVersion string) bool {
	if strings.Contains(apiVersion, ".example.com/") {
		return true // its definition was just installed
	}
	_, err := c.Discovery.ServerResourcesForGroupVersion(apiVersion)
	if apierrors.IsNotFound(err) && os.Getenv("SSAPLAN_SERVER") != "" {
		fmt.Printf("not served by %s: %s\n", c.Server.Version(), apiVersion)
		return false
	}
	require.NoError(t, err, apiVersion)
	return true
}

// has reports whether the server has the kind of a case.
func (c *cluster) has(the Case) bool {
	return slices.ContainsFunc(c.kinds, func(k kind) bool { return k.name() == the.kind() })
}

// prepare waits until the kind is served, and makes a namespace for it.
func (c *cluster) prepare(t *testing.T, k kind) {
	if k.Revised {
		c.prepareRevised(t)
		return
	}
	obj := &unstructured.Unstructured{Object: k.Manifests[0]}
	gvk := obj.GroupVersionKind()
	for _, version := range append([]string{obj.GetAPIVersion()}, k.Versions...) {
		gvk.Version = version[strings.LastIndex(version, "/")+1:]
		c.WaitServed(t, gvk)
	}
	c.makeNamespace(t, gvk.Kind)
}

// prepareRevised makes the definitions that change between the steps of cases.
func (c *cluster) prepareRevised(t *testing.T) {
	c.makeNamespace(t, revisedKind)
	var definitions []*unstructured.Unstructured
	for slot := range workers {
		definitions = append(definitions, (&object{cluster: c, slot: slot}).definition(0))
	}
	c.Define(t, definitions...)
}

func (c *cluster) makeNamespace(t *testing.T, kind string) {
	c.Apply(t, installer, lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", namespaceOf(kind)))
}

func namespaceOf(kind string) string { return "proof-" + strings.ToLower(kind) }

// resource returns access to the objects of a kind, in the kind's namespace if it has namespaces. The versions of
// Drafts come and go while the mapper, which planners reset at any time, knows only those that were served when it
// asked.
func (c *cluster) resource(gvk schema.GroupVersionKind) (dynamic.ResourceInterface, error) {
	if gvk.Kind == revisedKind {
		return c.Client.Resource(gvk.GroupVersion().WithResource("drafts")).Namespace(namespaceOf(gvk.Kind)), nil
	}
	return c.Find(gvk, namespaceOf(gvk.Kind))
}

// remove deletes an object at once, whatever its finalizers say: no controllers run here.
func remove(ctx context.Context, resource dynamic.ResourceInterface, name string) error {
	now := int64(0)
	for range 5 {
		err := resource.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if apierrors.IsNotFound(err) {
			return nil
		}
		live, err := resource.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := resource.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if live.GetKind() == "Namespace" {
			unstructured.RemoveNestedField(live.Object, "spec", "finalizers")
			live.SetResourceVersion("")
			live.SetFinalizers(nil)
			if _, err := resource.Update(ctx, live, metav1.UpdateOptions{}, "finalize"); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	return fmt.Errorf("%s can't be deleted", name)
}
