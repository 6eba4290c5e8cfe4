package wire

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// coreGroup and otherGroups are documents of a server, shortened.
const (
	coreGroup = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1",
		"resources":[
			{"resource":"secrets","responseKind":{"group":"","version":"","kind":"Secret"},"scope":"Namespaced","verbs":["list","delete"]},
			{"resource":"bindings","responseKind":{"kind":"Binding"},"scope":"Namespaced","verbs":["create"]},
			{"resource":"componentstatuses","responseKind":{"kind":"ComponentStatus"},"scope":"Cluster","verbs":["get","list"]},
			{"resource":"reviews","responseKind":{"kind":"Review"},"scope":"Cluster","verbs":["delete"]},
			{"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","verbs":["delete","list"]}]}]}]}`
	otherGroups = `{"kind":"APIGroupDiscoveryList","items":[
		{"metadata":{"name":"batch"},"versions":[
			{"version":"v2","resources":[{"resource":"jobs","responseKind":{"kind":"Job"},"scope":"Namespaced","verbs":["list","delete"]}]},
			{"version":"v1","resources":[{"resource":"jobs","responseKind":{"kind":"Job"},"scope":"Namespaced","verbs":["list","delete"]},
				{"resource":"cronjobs","responseKind":{"kind":"CronJob"},"scope":"Namespaced","verbs":["list","delete"]}],"freshness":"Current"}]},
		{"metadata":{"name":"a.example.com"},"versions":[
			{"version":"v1","resources":[{"resource":"jobs","responseKind":{"kind":"Job"},"scope":"Namespaced","verbs":["list","delete"]}]}]},
		{"metadata":{"name":"metrics.example.com"},"versions":[{"version":"v1","resources":[],"freshness":"Stale"}]}]}`
)

func TestDeletableKinds(t *testing.T) {
	var kinds []string
	transport := &wiretest.Answers{Bodies: []string{coreGroup, otherGroups}}
	served, err := connect(t, transport, Options{}).Deletable(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"GET /api", "GET /apis"}, transport.Requests)
	for _, kind := range served.Kinds {
		scope := "cluster"
		if kind.Namespaced {
			scope = "namespaces"
		}
		kinds = append(kinds, strings.Join([]string{kind.GroupVersionKind.String(), kind.GroupVersionResource().String(), scope}, "; "))
	}
	assert.Equal(t, []string{
		"batch/v1, Kind=CronJob; batch/v1, Resource=cronjobs; namespaces",
		"a.example.com/v1, Kind=Job; a.example.com/v1, Resource=jobs; namespaces",
		"batch/v2, Kind=Job; batch/v2, Resource=jobs; namespaces",
		"/v1, Kind=Node; /v1, Resource=nodes; cluster",
		"/v1, Kind=Secret; /v1, Resource=secrets; namespaces",
	}, kinds, "in order, each in the preferred version, and only what can be listed and deleted")
	assert.Equal(t, []schema.GroupVersion{{Group: "metrics.example.com", Version: "v1"}}, served.Stale)
}

func TestPreferredKinds(t *testing.T) {
	for _, row := range []struct {
		why      string
		kind     schema.GroupVersionKind
		want     string
		requests []string
	}{
		{"a version is all that is needed", schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "/v1, Kind=Secret", nil},
		{"the core group comes first", schema.GroupVersionKind{Kind: "Secret"}, "/v1, Kind=Secret", []string{"GET /api"}},
		{"the preferred version of the first group", schema.GroupVersionKind{Kind: "Job"}, "batch/v2, Kind=Job", []string{"GET /api", "GET /apis"}},
		{"the only version", schema.GroupVersionKind{Kind: "CronJob"}, "batch/v1, Kind=CronJob", []string{"GET /api", "GET /apis"}},
		{"of its group", schema.GroupVersionKind{Group: "a.example.com", Kind: "Job"}, "a.example.com/v1, Kind=Job", []string{"GET /apis"}},
		{"of no group", schema.GroupVersionKind{Kind: "Gadget"}, "", []string{"GET /api", "GET /apis"}},
		{"of another group", schema.GroupVersionKind{Group: "batch", Kind: "Secret"}, "", []string{"GET /apis"}},
	} {
		bodies := []string{coreGroup, otherGroups}
		if row.kind.Group != "" {
			bodies = bodies[1:]
		}
		transport := &wiretest.Answers{Bodies: bodies}
		kind, err := connect(t, transport, Options{}).Preferred(t.Context(), row.kind)
		assert.Equal(t, row.requests, transport.Requests, row.why)
		if row.want == "" {
			assert.True(t, meta.IsNoMatchError(err), "%s: %v", row.why, err)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, row.want, kind.String(), row.why)
	}
	_, err := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Object}}, Options{}).Preferred(t.Context(), schema.GroupVersionKind{Kind: "Job"})
	assert.ErrorContains(t, err, "the answer is no list of all kinds")
}

func TestDeletableKindsThatNobodyTells(t *testing.T) {
	for want, bodies := range map[string][]string{
		`the answer is no list of all kinds but "ConfigMap"`: {coreGroup, wiretest.Object},
		"invalid character": {"<html>"},
		"slow down":         {coreGroup, wiretest.Throttled},
	} {
		_, err := connect(t, &wiretest.Answers{Bodies: bodies}, Options{}).Deletable(t.Context())
		require.ErrorContains(t, err, want)
	}
}

func TestKindsAreLookedUpOnce(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.Discovery}}
	server := connect(t, transport, Options{})
	for range 2 {
		served, err := server.Find(t.Context(), wiretest.ConfigMap)
		require.NoError(t, err)
		require.Equal(t, wiretest.ConfigMaps, served)
		served, err = server.Find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Node"})
		require.NoError(t, err)
		require.False(t, served.Namespaced)
	}
	require.Equal(t, []string{"GET /api/v1"}, transport.Requests)
	server.Forget(wiretest.ConfigMap.GroupVersion())
	_, err := server.Find(t.Context(), wiretest.ConfigMap)
	require.NoError(t, err)
	require.Len(t, transport.Requests, 2)
}

func TestMissingKindsAreLookedForAgainUnlessRemembered(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.Discovery}}
	server := connect(t, transport, Options{})
	for _, row := range []struct {
		why  string
		ctx  context.Context
		want int
	}{
		{"a kind is found as soon as it is served", t.Context(), 2},
		{"a set of objects asks once", RememberMissing(t.Context()), 1},
	} {
		transport.Requests = nil
		for range 2 {
			_, err := server.Find(row.ctx, schema.GroupVersionKind{Version: "v1", Kind: "NodeStatus"})
			require.True(t, meta.IsNoMatchError(err), row.why)
		}
		assert.Len(t, transport.Requests, row.want, row.why)
	}
}

func TestDiscoveryOfSomethingElse(t *testing.T) {
	_, err := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Object}}, Options{}).Find(t.Context(), wiretest.ConfigMap)
	require.Error(t, err)
	require.False(t, meta.IsNoMatchError(err), "a wrong address doesn't mean that the kind is missing: %v", err)
}
