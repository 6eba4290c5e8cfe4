package ssaplan_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	api "github.com/ssaplan/primitives/ssaplan/server"
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

// What a server can't do is named, and what it can has an effect.
func TestLacks(t *testing.T) {
	server, _ := world(ssaplan.Options{})
	full := server.API()
	lists := listing{full, full.(api.Lister)}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	kinds := []api.Kind{{GroupVersionKind: kind, Resource: "configmaps", Namespaced: true}}
	namespace := identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "default"}
	for i, row := range []struct {
		of    api.Server
		lacks int
		why   string // the contents of a namespace aren't counted
	}{
		{poor{full}, 5, "can't list objects (server.Lister)"},
		{lists, 4, "can't list its kinds (server.Discoverer)"},
		{rich{lists, full.(api.ObjectLister), kinds}, 0, ""},
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
	}

	planner := connect(t, &rest.Config{Host: "http://recorded"}, ssaplan.Options{FieldManager: "m"})
	require.Empty(t, planner.Lacks())
}
