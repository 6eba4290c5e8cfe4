package ssaplan_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// at puts an object into a namespace.
func at(namespace string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj.SetNamespace(namespace)
	return obj
}

func namespaceObjects(server *ssaplantest.Server) dynamic.ResourceInterface {
	return server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
}

// answering returns what answers requests with a verb for a resource with an error.
func answering(verb, resource string, err error) func(ssaplantest.Request) error {
	return failing(err, func(r ssaplantest.Request) bool { return r.Verb == verb && r.Resource.Resource == resource })
}

// failing returns what answers some requests with an error.
func failing(err error, some func(ssaplantest.Request) bool) func(ssaplantest.Request) error {
	return func(r ssaplantest.Request) error {
		if some(r) {
			return err
		}
		return nil
	}
}

// serverText is an error in a server's own words.
type serverText string

func (t serverText) Error() string { return string(t) }

var (
	forbidden = apierrors.NewForbidden(configMaps, "a",
		serverText(`User "u" cannot get resource "configmaps" in API group "" in the namespace "default"`))
	unauthorized = apierrors.NewUnauthorized("Unauthorized")
)

// The presence in a reading distinguishes objects that are found, absent, re-created or unreadable. A kind that isn't
// served and a missing namespace have their own presence. Other failures of the server are errors.
func TestReadTellsWhatIsThere(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "there")
	notServed := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "",
		"404 page not found", 0, true)
	withoutNamespace := func(t *testing.T, server *ssaplantest.Server, _ *explain.State) {
		require.NoError(t, namespaceObjects(server).Delete(t.Context(), "there", metav1.DeleteOptions{}))
	}
	for _, row := range []struct {
		why      string
		change   func(*testing.T, *ssaplantest.Server, *explain.State)
		answer   func(ssaplantest.Request) error
		presence ssaplan.Presence
		requests int
		err      string
	}{
		{why: "it is there", presence: ssaplan.PresenceFound, requests: 1},
		{
			why: "it was deleted", presence: ssaplan.PresenceAbsent, requests: 2,
			change: func(t *testing.T, server *ssaplantest.Server, _ *explain.State) {
				resource := server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
				require.NoError(t, resource.Namespace("there").Delete(t.Context(), "a", metav1.DeleteOptions{}))
			},
		},
		{
			why: "and its namespace with it", presence: ssaplan.PresenceNamespaceNotFound, requests: 2,
			change: withoutNamespace,
		},
		{
			why: "of the namespace only a proxy knows nothing", presence: ssaplan.PresenceAbsent, requests: 2,
			change: withoutNamespace,
			answer: answering("get", "namespaces", notServed),
		},
		{
			why: "a caller who may not read namespaces learns no more", presence: ssaplan.PresenceAbsent, requests: 2,
			change: withoutNamespace,
			answer: answering("get", "namespaces", forbidden),
		},
		{
			why: "an object of a kind without namespaces", presence: ssaplan.PresenceAbsent, requests: 1,
			change: func(_ *testing.T, _ *ssaplantest.Server, state *explain.State) {
				state.Identity = identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "gone"}
			},
		},
		{
			why: "another one has its name", presence: ssaplan.PresenceRecreated, requests: 1,
			change: func(_ *testing.T, _ *ssaplantest.Server, state *explain.State) { state.UID = "another" },
		},
		{
			why: "the kind isn't served", presence: ssaplan.PresenceTypeNotServed,
			change: func(_ *testing.T, _ *ssaplantest.Server, state *explain.State) { state.Identity.Kind = "Widget" },
		},
		{
			why: "the kind is served no longer", presence: ssaplan.PresenceTypeNotServed, requests: 1,
			answer: answering("get", "configmaps", notServed),
		},
		{
			why: "the caller may not read it", presence: ssaplan.PresenceUnreadable, requests: 1,
			answer: answering("get", "configmaps", forbidden),
		},
		{
			why: "nobody knows the caller", presence: ssaplan.PresenceUnreadable, requests: 1,
			answer: answering("get", "configmaps", unauthorized),
		},
		{
			why:    "the server doesn't work",
			answer: answering("get", "configmaps", apierrors.NewInternalError(errors.New("down"))),
			err:    "v1/ConfigMap there/a: read: Internal error occurred: down",
		},
		{
			why: "the server says that the namespace isn't there, and it is", presence: ssaplan.PresenceAbsent, requests: 2,
			answer: answering("get", "configmaps", notFound),
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			namespace := manifestOf("v1", "Namespace", "", "there")
			errorless(namespaceObjects(server).Create(t.Context(), namespace, metav1.CreateOptions{}))
			state := applied(t, planner, at("there", configMap("a", map[string]any{"a": "A"})))
			if row.change != nil {
				row.change(t, server, state)
			}
			if row.answer != nil {
				defer server.Answer(row.answer)()
			}
			reading, err := planner.Read(t.Context(), state)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.presence, reading.Presence)
			require.Equal(t, row.requests, reading.Requests)
			isThere := row.presence == ssaplan.PresenceFound || row.presence == ssaplan.PresenceRecreated
			require.Equal(t, isThere, reading.Live != nil)
			isHidden := row.presence == ssaplan.PresenceUnreadable
			require.Equal(t, isHidden, reading.Warning != nil)
			require.Equal(t, isHidden, !reading.State.Stale.IsZero())
			require.True(t, state.Stale.IsZero(), "the prior state stays as it is")
			require.Equal(t, state.Applied, reading.State.Applied, "what was applied is still known")
		})
	}
}

// expired are credentials that expired in 2023. No error may quote the token.
var expired = restconfig.Credential(&rest.Config{BearerToken: "eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.canary"})

// Who is refused learns what the credentials say about themselves. Who may not do something has credentials that work.
func TestFailuresSpeakOfCredentials(t *testing.T) {
	for _, row := range []struct {
		why       string
		err       error
		diagnosis bool
	}{
		{"not authenticated", unauthorized, true},
		{"not authorized", forbidden, false},
		{"anything else", apierrors.NewServiceUnavailable("starting"), false},
	} {
		server, planner := world(ssaplan.Options{Credential: expired, SendExpired: true})
		plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", nil)})
		server.AnswerNext("patch", row.err)
		_, err := planner.Apply(t.Context(), plan)
		require.ErrorContains(t, err, "v1/ConfigMap default/a: apply: ")
		require.Equal(t, authresilience.Classify(row.err), authresilience.Classify(err), row.why)
		if row.diagnosis {
			require.ErrorContains(t, err, "expired", row.why)
		} else {
			require.NotContains(t, err.Error(), "expired", row.why)
		}
		require.NotContains(t, err.Error(), "canary")
	}

	server, planner := world(ssaplan.Options{Credential: expired})
	_, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: configMap("a", nil)})
	var notSent *authresilience.ExpiredError
	require.ErrorAs(t, err, &notSent)
	require.Empty(t, server.Requests(), "a request that can only fail isn't sent")
	reading := mustRead(t, planner, &explain.State{Identity: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a"}})
	require.Equal(t, ssaplan.PresenceUnreadable, reading.Presence)
	require.Empty(t, server.Requests())
}
