package wire

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
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
	_, err := New(&wiretest.Minimal{}, Options{}).Deletable(t.Context())
	require.ErrorIs(t, err, errNoDiscoverer)
}

func TestCount(t *testing.T) {
	const item = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}`
	list := func(metadata, items string) string {
		return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{` + metadata + `},"items":[` + items + `]}`
	}
	for _, row := range []struct {
		why, body string
		want      int
		more      bool
	}{
		{"none", list(`"resourceVersion":"1"`, ""), 0, false},
		{"one", list(`"resourceVersion":"1"`, item), 1, false},
		{"as many as the server says", list(`"continue":"x","remainingItemCount":41`, item), 42, false},
		{"more than one, if it doesn't say", list(`"continue":"x"`, item), 1, true},
		{"a server that knows no limit", list("", item+","+item), 2, false},
	} {
		transport := &wiretest.Answers{Bodies: []string{row.body}}
		var seen []server.Observation
		resource := connect(t, transport, Options{Observe: noteIn(&seen)}).Resource(wiretest.ConfigMaps, wiretest.A)
		n, more, err := resource.Count(t.Context())
		require.NoError(t, err, row.why)
		assert.Equal(t, row.want, n, row.why)
		assert.Equal(t, row.more, more, row.why)
		assert.Equal(t, 1, resource.Requests())
		assert.Equal(t, []string{"GET /api/v1/namespaces/n/configmaps"}, transport.Requests)
		require.Len(t, seen, 1)
		assert.Equal(t, "list", seen[0].Verb)
		assert.Equal(t, identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n"}, seen[0].Object)
	}
	_, _, err := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Throttled}}, Options{}).Resource(wiretest.ConfigMaps, wiretest.A).Count(t.Context())
	require.Equal(t, authresilience.ClassThrottled, authresilience.Classify(err))
}

// noteIn returns an observer that notes what it is told.
func noteIn(seen *[]server.Observation) func(context.Context, server.Observation) {
	return func(_ context.Context, o server.Observation) { *seen = append(*seen, o) }
}
