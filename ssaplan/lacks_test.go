package ssaplan_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	api "github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// poor is a server that can do nothing optional.
type poor struct{ api.Server }

// listing is a server that lists objects.
type listing struct {
	api.Server
	api.Lister
}

// rich is a server that can do all that is optional.
type rich struct {
	listing
	api.ObjectLister
	kinds []api.Kind
}

func (r rich) Kinds(context.Context) ([]api.Kind, []schema.GroupVersion, error) {
	return r.kinds, nil, nil
}

func (rich) Versions(context.Context) (string, map[schema.GroupVersion]string, error) {
	return "1", map[schema.GroupVersion]string{{Version: "v1"}: "1"}, nil
}

func (rich) Schemas(context.Context, schema.GroupVersion) ([]byte, error) { return nil, nil }

// serversOf returns a server that can do nothing optional, one that can list, and one that can do all.
func serversOf(server *ssaplantest.Server) (api.Server, api.Server, api.Server) {
	full := server.API()
	lists := listing{full, full.(api.Lister)}
	kinds := []api.Kind{{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}}
	return poor{full}, lists, rich{lists, full.(api.ObjectLister), kinds}
}

// What a server can't do is named, and what it can has an effect.
func TestLacks(t *testing.T) {
	server, _ := world(ssaplan.Options{})
	bare, lists, all := serversOf(server)
	namespace := identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "default"}
	var previous int
	for i, row := range []struct {
		of    api.Server
		lacks int
		why   string // the contents of a namespace aren't counted
	}{
		{bare, 5, "can't list objects (server.Lister)"}, {lists, 4, "can't list its kinds (server.Discoverer)"}, {all, 0, ""},
	} {
		planner := mustNew(t, row.of, ssaplan.Options{FieldManager: "m"})
		require.Len(t, planner.Lacks(), row.lacks)
		if i == 0 {
			applied(t, planner, configMap("a", nil))
		}
		plan := mustPlanDelete(t, planner, deletion.Request{Object: namespace})
		require.NotNil(t, plan.Contents)
		if row.why == "" {
			require.Empty(t, plan.Contents.Uncounted)
			require.Equal(t, []deletion.Count{{Kind: "ConfigMap", Objects: 1}}, plan.Contents.Counts)
			continue
		}
		require.Len(t, plan.Contents.Uncounted, 1)
		require.Contains(t, plan.Contents.Uncounted[0].Reason, row.why)
		require.Empty(t, plan.Contents.Counts)
		previous++
	}
	require.Equal(t, 2, previous)

	planner := connect(t, &rest.Config{Host: "http://recorded"}, ssaplan.Options{FieldManager: "m"})
	require.Empty(t, planner.Lacks())
}

// A remembered no-op ends with a new webhook if the server can list them. If not, the cache says so.
func TestRememberedNoOpsNeedALister(t *testing.T) {
	for _, canList := range []bool{true, false} {
		server, _ := world(ssaplan.Options{})
		bare, lists, _ := serversOf(server)
		of, unseen := lists, 1
		if !canList {
			of, unseen = bare, 7
		}
		noOps := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10, ServerInterval: time.Nanosecond})
		planner := mustNew(t, of, ssaplan.Options{FieldManager: "m", NoOps: noOps})
		applied(t, planner, configMap("a", nil))
		dryRuns := func() int {
			before := len(server.Requests())
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", nil)})
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
			n := 0
			for _, r := range server.Requests()[before:] {
				if r.DryRun {
					n++
				}
			}
			return n
		}
		dryRuns()
		require.Equal(t, 0, dryRuns(), "remembered")
		require.Len(t, noOps.Stats().Unseen, unseen)
		applied(t, planner, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "w"},
		}})
		require.Equal(t, canList, dryRuns() == 1)
	}
}
