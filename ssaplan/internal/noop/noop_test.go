package noop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	api "github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func newQuestion(change func(*Question, *Asked)) (Question, *Asked) {
	force := true
	live := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"a": "b"}}}
	live.SetUID("u1")
	live.SetResourceVersion("23")
	q := Question{
		Object: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}, Live: live,
		Body: []byte(`{"data":{"a":"b"}}`), Options: metav1.PatchOptions{FieldManager: "m", Force: &force},
	}
	asked := &Asked{}
	asked.configured.Fingerprint = [3]string{"webhooks", "v1.36", "definition"}
	change(&q, asked)
	return q, asked
}

func TestEachPartOfTheQuestionCounts(t *testing.T) {
	no := false
	c := New(Options{Size: 10, ServerInterval: -1})
	key := func(change func(*Question, *Asked)) any {
		q, asked := newQuestion(change)
		asked.cache = c
		key, ok := asked.key(q)
		require.True(t, ok)
		return [2]any{subject(q.Object, q.Subresource), key}
	}
	first := key(func(*Question, *Asked) {})
	require.Equal(t, first, key(func(*Question, *Asked) {}))
	for part, change := range map[string]func(*Question, *Asked){
		"name":                   func(q *Question, _ *Asked) { q.Object.Name = "b" },
		"namespace":              func(q *Question, _ *Asked) { q.Object.Namespace = "o" },
		"kind":                   func(q *Question, _ *Asked) { q.Object.Kind = "Secret" },
		"apiVersion":             func(q *Question, _ *Asked) { q.Object.APIVersion = "v2" },
		"subresource":            func(q *Question, _ *Asked) { q.Subresource = "status" },
		"UID":                    func(q *Question, _ *Asked) { q.Live.SetUID("u2") },
		"resourceVersion":        func(q *Question, _ *Asked) { q.Live.SetResourceVersion("24") },
		"text between the parts": func(q *Question, _ *Asked) { q.Live.SetUID("u12"); q.Live.SetResourceVersion("3") },
		"content":                func(q *Question, _ *Asked) { q.Live.Object["data"] = map[string]any{"a": "c"} },
		"manager":                func(q *Question, _ *Asked) { q.Options.FieldManager = "o" },
		"force":                  func(q *Question, _ *Asked) { q.Options.Force = &no },
		"manifest":               func(q *Question, _ *Asked) { q.Body = []byte(`{"data":{"a":"c"}}`) },
		"webhooks":               func(_ *Question, a *Asked) { a.configured.Fingerprint[0] = "others" },
		"version":                func(_ *Question, a *Asked) { a.configured.Fingerprint[1] = "v1.37" },
		"definition":             func(_ *Question, a *Asked) { a.configured.Fingerprint[2] = "another" },
		"since when":             func(_ *Question, a *Asked) { a.configured.Since = time.Unix(1, 0) },
	} {
		require.NotEqual(t, first, key(change), part)
	}
}

func unchanged(*Question, *Asked) {}

func TestAnswersAreKnownOnceTheyWereGiven(t *testing.T) {
	c := New(Options{Size: 10, ServerInterval: -1})
	q, _ := newQuestion(unchanged)
	answer, asked := c.Ask(t.Context(), nil, q)
	require.Nil(t, answer)
	explained := &explain.Explanation{
		Assigned:    []projection.Path{{projection.Field("a")}},
		Ineffective: []projection.Ineffective{{Path: projection.Path{projection.Field("b")}, Reason: "gone"}},
	}
	warnings := []foreign.Text{"mind"}
	asked.NoOp(q, explained, warnings)
	explained.Assigned[0][0], explained.Ineffective[0].Path[0], warnings[0] = projection.Field("x"), projection.Field("x"), "x"
	for range 2 {
		answer, again := c.Ask(t.Context(), nil, q)
		require.Nil(t, again)
		got, warnings := answer.Explain(explain.Input{Live: q.Live.Object})
		require.Equal(t, "a", got.Assigned[0].String())
		require.Equal(t, "b", got.Ineffective[0].Path.String())
		require.True(t, got.NoOp)
		require.Equal(t, []foreign.Text{"mind"}, warnings)
		got.Assigned[0][0], got.Ineffective[0].Path[0], warnings[0] = projection.Field("x"), projection.Field("x"), "x"
	}
	require.Equal(t, Stats{Hits: 2, Misses: 1, Entries: 1}, c.Stats())

	other := q.Object
	other.Name = "other"
	c.Forget(other, "status")
	require.Equal(t, 1, c.Stats().Entries)
	c.Forget(q.Object, "status")
	require.Equal(t, 0, c.Stats().Entries)
	asked.NoOp(q, explained, warnings)
	require.Equal(t, 0, c.Stats().Entries, "it was asked before")
	_, asked = c.Ask(t.Context(), nil, q)
	asked.NoOp(q, &explain.Explanation{}, nil)
	answer, _ = c.Ask(t.Context(), nil, q)
	require.Same(t, nothing, answer.notes)
	c.Clear()
	require.Equal(t, 0, c.Stats().Entries)
}

// Each further part of an answer is remembered, also if it is the only one.
func TestEachThingThatAnAnswerTellsIsRemembered(t *testing.T) {
	assigned := []projection.Path{{projection.Field("a")}}
	ineffective := []projection.Ineffective{{Path: projection.Path{projection.Field("b")}, Reason: "gone"}}
	for _, row := range []struct {
		explained explain.Explanation
		warnings  []foreign.Text
	}{
		{explained: explain.Explanation{Assigned: assigned}},
		{explained: explain.Explanation{Ineffective: ineffective}},
		{explained: explain.Explanation{Assigned: assigned, Ineffective: ineffective}},
		{warnings: []foreign.Text{"mind"}},
		{explained: explain.Explanation{Assigned: assigned}, warnings: []foreign.Text{"mind"}},
		{explained: explain.Explanation{Ineffective: ineffective}, warnings: []foreign.Text{"mind"}},
	} {
		c := New(Options{Size: 10, ServerInterval: -1})
		q, _ := newQuestion(unchanged)
		_, asked := c.Ask(t.Context(), nil, q)
		asked.NoOp(q, &row.explained, row.warnings)
		answer, _ := c.Ask(t.Context(), nil, q)
		got, warnings := answer.Explain(explain.Input{Live: q.Live.Object})
		require.Equal(t, row.explained.Assigned, got.Assigned)
		require.Equal(t, row.explained.Ineffective, got.Ineffective)
		require.Equal(t, row.warnings, warnings)
	}
}

// The configuration of the server is read, unless ServerInterval is negative. While it can't be read, no answer counts.
func TestTheServerIsLookedAt(t *testing.T) {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	q, _ := newQuestion(unchanged)
	kind := api.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps", Namespaced: true}
	q.Resource = kind.GroupVersionResource()
	reader := NewConfigurationReader(wire.New(server.API(), wire.Options{}))

	blind := New(Options{Size: 10, ServerInterval: -1})
	_, asked := blind.Ask(t.Context(), reader, q)
	require.NotNil(t, asked)
	require.Empty(t, server.Requests())
	require.Nil(t, blind.Stats().Unseen)

	c := New(Options{Size: 10, ServerInterval: 1})
	_, asked = c.Ask(t.Context(), reader, q)
	require.NotEmpty(t, server.Requests())
	require.Equal(t, []string{"the server's version"}, c.Stats().Unseen, "a client of a host's can't ask for it")
	asked.NoOp(q, &explain.Explanation{}, nil)
	answer, _ := c.Ask(t.Context(), reader, q)
	require.NotNil(t, answer)

	defer server.Answer(func(ssaplantest.Request) error { return apierrors.NewServiceUnavailable("starting") })()
	answer, asked = c.Ask(t.Context(), reader, q)
	require.Nil(t, answer, "nobody knows whether it is still true")
	require.Nil(t, asked)
}

func TestWhatHasNoDigestIsNotRemembered(t *testing.T) {
	c := New(Options{Size: 10, ServerInterval: -1})
	q, _ := newQuestion(unchanged)
	_, asked := c.Ask(t.Context(), nil, q)
	q.Live.Object["data"] = 1
	asked.NoOp(q, &explain.Explanation{}, nil)
	answer, asked := c.Ask(t.Context(), nil, q)
	require.Nil(t, answer)
	require.Nil(t, asked)
	asked.NoOp(q, &explain.Explanation{}, nil)
	require.Zero(t, c.Stats().Entries)
}
