package redact_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// otherwise wraps a server's error and expresses it in other words.
type otherwise struct {
	said string
	err  error
}

func (e otherwise) Error() string { return e.said }

func (e otherwise) Unwrap() error { return e.err }

// If an error wraps several errors of a server, each is redacted. So is an error that expresses them in other words.
func TestEachAnswerIsRedacted(t *testing.T) {
	denied, coded := status(403, metav1.StatusReasonForbidden, "hunter2 is too short"), status(400, "", "hunter2 isn't base64")
	for _, row := range []struct {
		why string
		err error
	}{
		{"two answers", fmt.Errorf("%w, and %w", denied, coded)},
		{"put otherwise", otherwise{"the server hates hunter2", denied}},
		{"put otherwise, and then not", errors.Join(otherwise{"the server hates: hunter2", coded}, denied)},
		{"without a message", otherwise{"hunter2", status(403, metav1.StatusReasonForbidden, "")}},
	} {
		shown := redact.For(nil, none, secretOf("hunter2")).Unquoted(fmt.Errorf("v1/Secret default/s: %w", row.err)).Error()
		require.NotContains(t, shown, "hunter2", row.why)
		require.Regexp(t, "^v1/Secret default/s: [^:]*the server's message is redacted", shown, row.why)
	}
}

// Of what a server says of a field, a verdict keeps the phrases that are known.
func TestVerdictsKeepKnownPhrases(t *testing.T) {
	verdict := immutability.Verdict{Fields: []immutability.Field{
		{Text: "stringData.k", Message: "field is immutable"}, {Text: "hunter2", Message: "hunter2 is too short"},
	}}
	redact.For(nil, none, secretOf("hunter2")).Verdict(&verdict)
	require.Equal(t, []immutability.Field{
		{Text: "stringData.k", Message: "field is immutable"},
		{Message: foreign.Text("the server's message is redacted, since the object has sensitive values")},
	}, verdict.Fields)
}

// Every part of a verdict is kept that anybody may read.
func TestVerdictsKeepTheirParts(t *testing.T) {
	verdict := immutability.Verdict{
		Refusal: immutability.RefusalImmutable, Certainty: immutability.CertaintyAssumed, Uncertain: "maybe", Fields: []immutability.Field{{}}, OfNew: []immutability.Field{{}},
		Leftovers: []projection.Path{{projection.Field("a")}}, Remedy: "wait", Hazards: []immutability.Hazard{{}}, Evidence: immutability.Evidence{Requests: 1},
	}
	redact.For(nil, none, secretOf("x")).Verdict(&verdict)
	for parts, i := reflect.ValueOf(verdict), 0; i < parts.NumField(); i++ {
		if part := parts.Type().Field(i); part.IsExported() {
			require.False(t, parts.Field(i).IsZero(), part.Name)
		}
	}
}

// A pattern makes those objects sensitive that have what it names.
func TestPatternsThatMatchNothing(t *testing.T) {
	patterns, err := projection.ParsePatterns("data.token")
	require.NoError(t, err)
	settings := secretOf("x")
	settings.SetKind("ConfigMap")
	require.False(t, redact.For(patterns, none, settings).Redacts(), "it has no such field")
	settings.Object["data"] = map[string]any{"token": "x"}
	require.True(t, redact.For(patterns, none, settings).Redacts())
	require.False(t, redact.For(nil, none, settings).Redacts())
	require.True(t, redact.For(patterns, none, secretOf("x")).Redacts(), "whatever it has")
}

// Who keeps copies of objects keeps them in annotations.
func TestAnnotationsOfObjectsWithSensitiveFields(t *testing.T) {
	token, err := projection.ParsePatterns("data.token")
	require.NoError(t, err)
	with, without := secretOf("x"), secretOf("x")
	for _, settings := range []*unstructured.Unstructured{with, without} {
		settings.SetKind("ConfigMap")
	}
	with.Object["data"] = map[string]any{"token": "x"}
	copied, err := projection.ParsePath(`metadata.annotations["example.com/copy"]`)
	require.NoError(t, err)
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "s"}
	require.True(t, redact.Fields(token, none, id, nil, with).Touches(copied))
	require.True(t, redact.Fields(token, none, id, without, with).Touches(copied), "in one of its states")
	require.False(t, redact.Fields(token, none, id, without).Touches(copied))
	require.Empty(t, redact.Fields(nil, none, id, with))
}

// Of an object itself all is shown but the sensitive values, wherever they are, and the annotations of one that has
// any.
func TestRedacted(t *testing.T) {
	patterns, err := projection.ParsePatterns("spec.users[*].pin", "status.token")
	require.NoError(t, err)
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Vault", "metadata": map[string]any{"name": "v", "annotations": map[string]any{"copy": "hunter2"}},
		"spec":   map[string]any{"users": []any{map[string]any{"name": "a", "pin": "hunter2"}, map[string]any{"name": "b", "pin": "hunter2"}}},
		"status": map[string]any{"token": map[string]any{"a": "hunter2"}, "phase": "Ready"},
	}}
	shown := fmt.Sprint(redact.For(patterns, none, obj).Object(obj))
	require.NotContains(t, shown, "hunter2")
	require.Contains(t, shown, "phase:Ready")
	require.Contains(t, shown, "name:b")
	require.Equal(t, shown, fmt.Sprint(redact.For(patterns, none, obj).Quoting(true).Object(obj)), "whatever is shown of texts")
	require.Contains(t, fmt.Sprint(obj.Object), "hunter2", "the object stays as it is")
	require.Equal(t, obj.Object, redact.For(nil, none, obj).Object(obj))
	require.NotContains(t, fmt.Sprint(redact.Redactor{}.Object(secretOf("hunter2"))), "hunter2")
}

// none says that no kind has passwords.
func none(schema.GroupVersionKind) projection.Patterns { return nil }

// An object of a kind with passwords is sensitive whether it has them or not: the server may know some.
func TestGuardsKindsWithPasswords(t *testing.T) {
	of := func(kind schema.GroupVersionKind) projection.Patterns {
		if kind.Kind != "Database" {
			return nil
		}
		return secrecy.Passwords(map[string]any{"properties": map[string]any{"password": map[string]any{"format": "password"}}}, nil)
	}
	for kind, want := range map[string]bool{"Database": true, "Disk": false} {
		obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind}}
		require.Equal(t, want, redact.For(nil, of, nil, obj).Redacts(), kind)
	}
}
