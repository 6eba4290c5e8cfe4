package planner_test

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

//go:embed testdata/widget-crd.yaml
var widgetCRD string

// manager is the field manager under test, and installer another one.
const (
	manager   = "agreement"
	installer = "installer"
)

// cluster is the real API server with the custom resource Widget, a namespace of the test's own and a planner for
// it.
type cluster struct {
	*lab.Cluster
	planner *ssaplan.Planner
}

func newCluster(t *testing.T) *cluster { return clusterOn(t, controlplane.Shared(t)) }

func clusterOn(t *testing.T, server *controlplane.Server) *cluster {
	t.Helper()
	c := &cluster{Cluster: lab.On(t, server)}
	c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager})
	c.Define(t, lab.Object(t, widgetCRD))
	return c
}

// polite returns a planner that refuses to take fields from others.
func (c *cluster) polite(t *testing.T) *ssaplan.Planner {
	t.Helper()
	return c.Planner(t, ssaplan.Options{FieldManager: manager, RefuseConflicts: true})
}

// createAs creates an object as kubectl and other clients without server-side apply do. It is quicker than kubectl.
func (c *cluster) createAs(t *testing.T, manager string, obj *unstructured.Unstructured) {
	t.Helper()
	_, err := c.Resource(t, obj).Create(t.Context(), obj.DeepCopy(), metav1.CreateOptions{FieldManager: manager})
	require.NoError(t, err)
}

// manifest formats text with args, as fmt.Sprintf does, and decodes it as YAML.
func manifest(t *testing.T, text string, args ...any) *unstructured.Unstructured {
	t.Helper()
	return lab.Objectf(t, text, args...)
}
