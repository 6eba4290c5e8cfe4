package trialcreate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/ssaplan/internal/trialcreate"
)

// server answers each apply with what was sent, and with labels that have the name in them.
type server struct {
	version string
	err     error
	refuses bool
	sent    []string
}

func (s *server) Apply(_ context.Context, name string, body []byte, options metav1.PatchOptions, _ ...string) (*unstructured.Unstructured, error) {
	s.sent = append(s.sent, name)
	if s.refuses {
		cause := metav1.StatusCause{Message: name + " is taken"}
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Message: "no " + name, Details: &metav1.StatusDetails{Name: name, Causes: []metav1.StatusCause{cause}},
		}}
	}
	if s.err != nil || len(options.DryRun) == 0 {
		return nil, s.err
	}
	var content map[string]any
	if err := json.Unmarshal(body, &content); err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: content}
	obj.SetResourceVersion(s.version)
	obj.SetLabels(map[string]string{"job-name": name, name + ".io/x": "y"})
	content["list"] = []any{"of " + name, int64(5), true}
	return obj, nil
}

func TestTry(t *testing.T) {
	manifest := map[string]any{"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"a": "web"}}
	want := map[string]any{
		"metadata": map[string]any{"name": "web", "labels": map[string]any{"job-name": "web", "web.io/x": "y"}},
		"spec":     map[string]any{"a": "web"}, "list": []any{"of web", int64(5), true},
	}
	for _, taken := range []bool{true, false} {
		s := &server{}
		made, err := trialcreate.Try(t.Context(), s, manifest, metav1.PatchOptions{FieldManager: "m"}, taken)
		require.NoError(t, err)
		require.Equal(t, want, made.Object)
		require.Equal(t, taken, s.sent[0] != "web")
		require.Equal(t, "web", manifest["metadata"].(map[string]any)["name"], "it is not modified")
	}
	_, err := trialcreate.Try(t.Context(), &server{version: "7"}, manifest, metav1.PatchOptions{}, false)
	require.ErrorIs(t, err, trialcreate.ErrTaken)
	refusal := errors.New("no")
	_, err = trialcreate.Try(t.Context(), &server{err: refusal}, manifest, metav1.PatchOptions{}, true)
	require.ErrorIs(t, err, refusal)
	_, err = trialcreate.Try(t.Context(), &server{}, map[string]any{"a": func() {}}, metav1.PatchOptions{}, true)
	require.Error(t, err)
}

// TestTryRefused checks that an error has the name of the object in place of the stand-in's, so that it is the same
// each time.
func TestTryRefused(t *testing.T) {
	manifest := map[string]any{"metadata": map[string]any{"name": "web"}}
	for _, taken := range []bool{true, false} {
		_, err := trialcreate.Try(t.Context(), &server{refuses: true}, manifest, metav1.PatchOptions{}, taken)
		var refused *apierrors.StatusError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "no web", refused.Error())
		require.Equal(t, "web", refused.ErrStatus.Details.Name)
		require.Equal(t, "web is taken", refused.ErrStatus.Details.Causes[0].Message)
	}
}

// TestDisproves checks which rejections the new object would get, too, and which may be due to the old object or to the
// name of the stand-in.
func TestDisproves(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{}, "a", nil)
	misfit := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: 500, Message: `failed to create typed patch object (/a; v1, Kind=ConfigMap): .spec.list: duplicate entries for key [="a"]`,
	}}
	of := func(apiVersion, kind string, list any) map[string]any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": map[string]any{"list": []any{int64(1), list}}}
	}
	for _, row := range []struct {
		why      string
		manifest map[string]any
		err      error
		taken    bool
		want     bool
	}{
		{"under its own name", of("v1", "ConfigMap", "a"), invalid, false, true},
		{"not as invalid, but by admission", of("v1", "ConfigMap", "a"), apierrors.NewForbidden(schema.GroupResource{}, "a", nil), false, false},
		{"a Service, whose port the old one has", of("v1", "Service", "a"), invalid, false, false},
		{"a custom resource of that kind", of("ex.io/v1", "Service", "a"), invalid, false, true},
		{"a stand-in, maybe for its name", of("ex.io/v1", "Crate", "a"), invalid, true, false},
		{"one with null, which only an apply keeps", of("ex.io/v1", "Crate", nil), invalid, true, true},
		{"a set with an item twice, which only a create takes", of("v1", "ConfigMap", "a"), misfit, true, true},
		{"null in a kind that drops it", of("v1", "ConfigMap", nil), invalid, true, false},
	} {
		require.Equal(t, row.want, trialcreate.Disproves(row.manifest, row.err, row.taken), row.why)
	}
}

// Every kind allows the name of a stand-in, and no other object has the name.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"a", "", strings.Repeat("a", 253), strings.Repeat("a", 51) + ".b", strings.Repeat("a", 50) + "--b", "a"} {
		_, got := trialcreate.Of(map[string]any{"metadata": map[string]any{"name": name}})
		require.LessOrEqual(t, len(got), 63)
		require.False(t, seen[got])
		require.NotContains(t, got, ".-")
		require.NotContains(t, got, "--")
		seen[got] = true
	}
	_, got := trialcreate.Of(map[string]any{})
	require.NotEmpty(t, got)
}
