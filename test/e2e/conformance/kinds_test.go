package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// The in-memory server finds out the built-in kinds by itself. It serves them as the real server does.
func TestBuiltinKindsAreServedAsOnTheServer(t *testing.T) {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	lists, err := realCluster(t).Discovery.ServerPreferredResources()
	if !discovery.IsGroupDiscoveryFailedError(err) {
		require.NoError(t, err)
	}
	compared := 0
	var missing []string
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, resource := range list.APIResources {
			if strings.HasSuffix(gv.Group, "example.com") || !strings.Contains(resource.Verbs.String(), "patch") {
				continue // another test's, or no object
			}
			mapping, err := server.Mapper().RESTMapping(schema.GroupKind{Group: gv.Group, Kind: resource.Kind}, gv.Version)
			if meta.IsNoMatchError(err) {
				missing = append(missing, list.GroupVersion+" "+resource.Kind)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, resource.Name, mapping.Resource.Resource)
			require.Equal(t, resource.Namespaced, mapping.Scope.Name() == meta.RESTScopeNameNamespace, resource.Name)
			compared++
		}
	}
	require.Greater(t, compared, 50)
	t.Logf("kinds of the server that this client-go doesn't know: %q", missing)
	fmt.Printf("conformance of kinds: %d/%d\n", compared, compared+len(missing))
	require.Contains(t, missing, "apiregistration.k8s.io/v1 APIService", "it is in no client-go")
}
