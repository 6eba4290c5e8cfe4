package deleter_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/internal/deleter"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	api "github.com/ssaplan/primitives/ssaplan/server"
)

const (
	success = `{"kind":"Status","apiVersion":"v1","status":"Success"}`
	denied  = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,` +
		`"message":"secrets is forbidden: User \"jane\" cannot list resource \"secrets\" in API group \"\" in the namespace \"shop\""}`
)

// pages is a transport that answers by the path, and notes what it was asked.
type pages struct {
	bodies map[string]string
	mu     sync.Mutex
	asked  []string
}

func (p *pages) RoundTrip(request *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, request.Method+" "+request.URL.Path)
	body, known := p.bodies[request.URL.Path]
	status := http.StatusOK
	switch {
	case request.Method == http.MethodDelete && strings.Contains(request.URL.Path, "/absent-"):
		status, body = http.StatusUnprocessableEntity, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,`+
			`"details":{"group":"meta.k8s.io","kind":"DeleteOptions","causes":[{"field":"dryRun"}]}}`
	case request.Method == http.MethodDelete:
		body = success
	case !known:
		status, body = http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,`+
			`"message":"the server could not find the requested resource"}`
	case body == denied:
		status = http.StatusForbidden
	}
	response := wiretest.Response(request, body)
	response.StatusCode = status
	return response, nil
}

// list returns a list of n objects, of which the server sends one.
func list(n int) string {
	const item = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}`
	switch n {
	case 0:
		return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[]}`
	case 1:
		return `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[` + item + `]}`
	}
	return fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",`+
		`"metadata":{"continue":"x","remainingItemCount":%d},"items":[%s]}`, n-1, item)
}

// groups returns a document with the kinds of one group.
func groups(group string, kinds ...string) string {
	var resources []string
	for _, kind := range kinds {
		scope := "Namespaced"
		if kind == "Node" {
			scope = "Cluster"
		}
		resources = append(resources, fmt.Sprintf(`{"resource":"%ss","responseKind":{"kind":"%s"},"scope":"%s","verbs":["list","delete"]}`,
			strings.ToLower(kind), kind, scope))
	}
	return fmt.Sprintf(`{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"%s"},"versions":[{"version":"v1","resources":[%s]},
		{"version":"v0","freshness":"Stale"}]}]}`, group, strings.Join(resources, ","))
}

// planOf returns the plan to delete an object, of which live is what is there.
func planOf(t *testing.T, transport *pages, resource string, object, live *unstructured.Unstructured) *deletion.Plan {
	t.Helper()
	fast, err := client.New(&rest.Config{Host: "http://recorded", Transport: transport}, client.Options{})
	require.NoError(t, err)
	server := wire.New(fast, wire.Options{})
	id, err := identity.Of(object.Object)
	require.NoError(t, err)
	kind := api.Kind{GroupVersionKind: object.GroupVersionKind(), Resource: resource}
	d := &deleter.Deleter{
		Request: deletion.Request{Object: id}, Server: server, Count: true,
		Find: func(context.Context) (deleter.Target, error) {
			return deleter.Target{
				Identity: id, Resource: server.Resource(kind, id),
				Live: func(context.Context) (*unstructured.Unstructured, error) { return live, nil },
			}, nil
		},
	}
	plan, err := d.Plan(t.Context())
	require.NoError(t, err)
	return plan
}

// planned returns the plan to delete an object that is there.
func planned(t *testing.T, transport *pages, resource string, live *unstructured.Unstructured) *deletion.Plan {
	t.Helper()
	plan := planOf(t, transport, resource, live, live)
	require.Equal(t, deletion.ActionDelete, plan.Action, plan.Reason)
	return plan
}

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "uid": "u"}}}
}

func TestContentsOfANamespace(t *testing.T) {
	transport := &pages{bodies: map[string]string{
		"/api":                                 groups("", "Pod", "Secret", "Event", "Node", "ConfigMap", "Service"),
		"/apis":                                groups("apps", "Deployment"),
		"/api/v1/namespaces/shop/pods":         list(3),
		"/api/v1/namespaces/shop/secrets":      denied,
		"/api/v1/namespaces/shop/configmaps":   list(0),
		"/api/v1/namespaces/shop/services":     list(1),
		"/apis/apps/v1/namespaces/shop/events": list(1),
	}}
	plan := planned(t, transport, "namespaces", object("v1", "Namespace", "shop"))
	assert.Equal(t, &deletion.Contents{
		Counts: []deletion.Count{{Kind: "Pod", Objects: 3}, {Kind: "Service", Objects: 1}},
		Uncounted: []deletion.Uncounted{
			{What: "kinds of v0", Reason: "the server of this API group doesn't answer"},
			{What: "kinds of apps/v0", Reason: "the server of this API group doesn't answer"},
			{What: "Deployment.apps", Reason: authresilience.ClassTypeNotServed.Describe().Meaning},
			{What: "Secret", Reason: authresilience.ClassAuthorization.Describe().Meaning},
		},
	}, plan.Contents)
	assert.Equal(t, 6, plan.Requests, "the dry run, and five kinds")
	assert.NotContains(t, transport.asked, "GET /api/v1/namespaces/shop/events", "these go by themselves")
	assert.NotContains(t, strings.Join(transport.asked, "\n"), "nodes")
}

// At most 400 kinds are counted, and the plan says how many are not.
func TestContentsAreBounded(t *testing.T) {
	const most = 400
	for _, n := range []int{most, most + 2} {
		var kinds []string
		for i := range n {
			kinds = append(kinds, fmt.Sprintf("K%03d", i))
		}
		transport := &pages{bodies: map[string]string{"/api": groups("", kinds...), "/apis": groups("")}}
		for _, kind := range kinds {
			transport.bodies["/api/v1/namespaces/shop/"+strings.ToLower(kind)+"s"] = list(1)
		}
		plan := planned(t, transport, "namespaces", object("v1", "Namespace", "shop"))
		assert.Len(t, plan.Contents.Counts, most)
		assert.Equal(t, "K000", plan.Contents.Counts[0].Kind)
		bound := deletion.Uncounted{What: "2 kinds", Reason: "no more than 400 are counted"}
		if n > most {
			assert.Contains(t, plan.Contents.Uncounted, bound)
		} else {
			assert.NotContains(t, fmt.Sprint(plan.Contents.Uncounted), "are counted")
		}
	}
}

func TestContentsThatNobodyTells(t *testing.T) {
	plan := planned(t, &pages{}, "namespaces", object("v1", "Namespace", "shop"))
	require.Len(t, plan.Contents.Uncounted, 1)
	assert.Equal(t, "all kinds", plan.Contents.Uncounted[0].What)
	assert.Empty(t, plan.Contents.Counts)
	assert.Nil(t, planned(t, &pages{}, "configmaps", object("v1", "ConfigMap", "a")).Contents)
	assert.Nil(t, planned(t, &pages{}, "namespaces", object("example.com/v1", "Namespace", "a")).Contents, "it isn't the built-in kind")
}

func TestContentsOfADefinition(t *testing.T) {
	definition := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com")
	definition.Object["spec"] = map[string]any{
		"group": "example.com", "names": map[string]any{"kind": "Widget", "plural": "widgets"},
		"versions": []any{
			map[string]any{"name": "v1", "served": false}, "x", map[string]any{"name": "v2", "served": true}, map[string]any{"name": "v3", "served": true},
		},
	}
	transport := &pages{bodies: map[string]string{"/apis/example.com/v2/widgets": list(7)}}
	plan := planned(t, transport, "customresourcedefinitions", definition)
	assert.Equal(t, &deletion.Contents{Counts: []deletion.Count{{Kind: "Widget", Group: "example.com", Objects: 7}}}, plan.Contents)
	assert.Equal(t, 2, plan.Requests)

	transport.bodies["/apis/example.com/v2/widgets"] = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"continue":"x"},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}]}`
	plan = planned(t, transport, "customresourcedefinitions", definition)
	assert.True(t, plan.Contents.Counts[0].OrMore)

	definition.Object["spec"].(map[string]any)["versions"] = []any{map[string]any{"name": "v1"}}
	plan = planned(t, transport, "customresourcedefinitions", definition)
	assert.Equal(t, &deletion.Contents{Uncounted: []deletion.Uncounted{
		{What: "Widget.example.com", Reason: "the CRD serves no version"}}}, plan.Contents)

	definition.Object["spec"] = "x"
	plan = planned(t, transport, "customresourcedefinitions", definition)
	assert.Len(t, plan.Contents.Uncounted, 1, "whatever it looks like")
}

// An object that is being deleted still has contents. An object that is gone has none.
func TestContentsOfWhatIsThere(t *testing.T) {
	shop, now := object("v1", "Namespace", "shop"), metav1.Now()
	shop.SetDeletionTimestamp(&now)
	transport := &pages{bodies: map[string]string{
		"/api": groups("", "Pod"), "/apis": groups(""), "/api/v1/namespaces/shop/pods": list(1)}}
	plan := planOf(t, transport, "namespaces", shop, shop)
	assert.Equal(t, deletion.ActionWait, plan.Action)
	assert.Len(t, plan.Contents.Counts, 1)
	assert.Equal(t, 1, plan.Requests)
	plan = planOf(t, transport, "namespaces", shop, nil)
	assert.Equal(t, deletion.ActionNone, plan.Action)
	assert.Nil(t, plan.Contents)
}
