package fieldowner

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/ssaplan/primitives/internal/rows"
)

func recordedConflicts(t testing.TB) []Conflict {
	env := `spec.template.spec.containers[name="app"].env`
	return []Conflict{
		{path(t, `metadata.annotations["mesh.io/injected.by"]`), mesh},
		{path(t, `metadata.labels["ex.io/tier.one"]`), deployer},
		{path(t, "spec.replicas"), autoscaler},
		{path(t, "spec.selector"), deployer},
		{path(t, env+`[name="MESH"].value`), mesh},
		{path(t, env+`[name="MODE"].value`), deployer},
		{path(t, `spec.template.spec.containers[name="app"].image`), kubectlSet},
		{path(t, "spec.template.spec.nodeSelector"), deployer},
	}
}

// A conflict has the time of the owner's last write, which managedFields have and the server's message lacks.
func TestConflictsFromRecordedError(t *testing.T) {
	err := recordedConflict(t)
	live := recorded(t, "live.json")
	assert.Equal(t, recordedConflicts(t), ConflictsFromError(err, live))
	assert.Equal(t, recordedConflicts(t), ConflictsFromError(fmt.Errorf("applying: %w", errors.Join(errors.New("x"), err)), live),
		"wrapped errors are the same errors")
}

// An object from before server-side apply has no records of its own, but it has the names.
func TestConflictsWithoutRecords(t *testing.T) {
	live := recorded(t, "live.json")
	delete(live["metadata"].(map[string]any), "managedFields")
	assert.Equal(t, conflictPaths(recordedConflicts(t)), conflictPaths(ConflictsFromError(recordedConflict(t), live)))
}

func TestPredictRecordedConflicts(t *testing.T) {
	declared, err := appliedFields(recorded(t, "forced.json"), "newcomer")
	require.NoError(t, err)
	predicted := mustPredict(t, recorded(t, "live.json"), recorded(t, "manifest.json"), declared, "newcomer")
	assert.Equal(t, recordedConflicts(t), predicted)
}

func TestConflictsFromOtherErrors(t *testing.T) {
	resource := schema.GroupResource{Resource: "configmaps"}
	for why, err := range map[string]error{
		"nil":                    nil,
		"no status":              errors.New("conflict with \"m\""),
		"a stale version":        apierrors.NewConflict(resource, "x", errors.New("the object has been modified")),
		"no details":             &apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonConflict}},
		"causes of another kind": apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil),
		"a nil status":           (*apierrors.StatusError)(nil),
	} {
		assert.Nil(t, ConflictsFromError(err, recorded(t, "live.json")), why)
	}
}

func conflictError(causes ...metav1.StatusCause) error {
	return apierrors.NewApplyConflict(causes, "")
}

func cause(field, message string) metav1.StatusCause {
	return metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: field, Message: message}
}

func TestConflictOwner(t *testing.T) {
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, row := range []struct {
		message string
		owner   Owner
		why     string
	}{
		{`conflict with "m"`, Owner{"m", OperationApply, "", "", time.Time{}}, "an applier"},
		{`conflict with "m" using apps/v1`, Owner{"m", OperationUpdate, "", "apps/v1", time.Time{}}, "an updater"},
		{`conflict with "m" using v1 at 2020-01-02T03:04:05Z`, Owner{"m", OperationUpdate, "", "v1", at}, "an old server"},
		{`conflict with "m" using v1 at noon`, Owner{"m", OperationUpdate, "", "v1", time.Time{}}, "a time that isn't one"},
		{`conflict with "m" with subresource "scale" using apps/v1`, Owner{"m", OperationUpdate, "scale", "apps/v1", time.Time{}}, "an updater of a subresource"},
		{`conflict with "m" with subresource "status"`, Owner{"m", OperationApply, "status", "", time.Time{}}, "an applier of a subresource"},
		{`conflict with "m\" using v1"`, Owner{`m" using v1`, OperationApply, "", "", time.Time{}}, "a name that looks like more"},
		{`conflict with "m" with subresource scale`, Owner{"m", OperationApply, "", "", time.Time{}}, "a subresource without quotes"},
		{`conflict with m`, Owner{"m", OperationApply, "", "", time.Time{}}, "a name without quotes"},
		{`something else`, Owner{"something else", OperationApply, "", "", time.Time{}}, "an unknown message is kept whole"},
		{``, Owner{"", OperationApply, "", "", time.Time{}}, "no message"},
	} {
		conflicts := ConflictsFromError(conflictError(cause(".x", row.message)), nil)
		require.Len(t, conflicts, 1, row.why)
		assert.Equal(t, row.owner, conflicts[0].Owner, row.why)
	}
}

func TestConflictPath(t *testing.T) {
	live := decoded(t, `{"metadata": {"managedFields": [
		{"manager": "dots", "operation": "Apply", "apiVersion": "v1", "time": "2020-01-02T03:04:05Z", "fieldsV1": {"f:data": {"f:a.b[c]": {}}}},
		{"manager": "deep", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {"f:b[c]": {}}}}},
		{"manager": "list", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:l": {
			"k:{\"b\":true,\"f\":1.5,\"i\":-1,\"n\":null,\"s\":\"é \\\"]\"}": {".": {}, "f:x.y": {}}, "v:[1,{\"a\":\"b\"}]": {}, "i:3": {}}}}]},
		"names": {"a": {"b": 1}, "a.b": {}, "a.bc": {}, "l.x": [{"y": 1}], "é]x": 1}, "list": [{"k": "a", "x.y": 1}]}`)
	for _, row := range rows.Read[struct{ Field, Manager, Path, Why string }](t, "conflictpaths") {
		conflicts := ConflictsFromError(conflictError(cause(row.Field, fmt.Sprintf("conflict with %q", row.Manager))), live)
		require.Len(t, conflicts, 1, row.Why)
		assert.Equal(t, row.Path, conflicts[0].Path.String(), row.Why)
	}
}

// In a conflict, the path of a field "a.b" looks like the path of b in a. The owners and the changes of the manifest
// show which field the server means.
func TestConflictsThatReadAlike(t *testing.T) {
	live := decoded(t, `{"metadata": {"managedFields": [
		{"manager": "both", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a.b": {}, "f:a": {".": {}, "f:b": {}}}}},
		{"manager": "deep", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {".": {}, "f:b": {}}}}}]},
		"data": {"a.b": 1, "a": {"b": 1}}}`)
	both, deep := cause(".data.a.b", `conflict with "both"`), cause(".data.a.b", `conflict with "deep"`)
	const dotted, nested = `data["a.b"]: owned by "both" (Apply)`, `data.a.b: owned by "both" (Apply)`
	for _, row := range []struct {
		manifest string
		causes   []metav1.StatusCause
		want     []string
		why      string
	}{
		{`{"data": {"a.b": 2}}`, []metav1.StatusCause{both}, []string{dotted}, "only one is sent"},
		{`{"data": {"a": {"b": 2}}}`, []metav1.StatusCause{both}, []string{nested}, "only the other one"},
		{`{"data": {"a.b": 2, "a": {"b": 1}}}`, []metav1.StatusCause{both}, []string{dotted}, "only one changes"},
		{`{"data": {"a.b": 1.0, "a": {"b": 2}}}`, []metav1.StatusCause{both}, []string{nested}, "only the other one"},
		{`{"data": {"a.b": 2, "a": {"b": 2}}}`, []metav1.StatusCause{both, both}, []string{nested, dotted}, "both change"},
		{`{"data": {"a.b": 2, "a": {"b": 2}}}`, []metav1.StatusCause{both, both, both}, []string{nested, dotted}, "no more than there are"},
		{`{"data": {"a.b": 2, "a": {"b": 1}}}`, []metav1.StatusCause{deep}, []string{`data.a.b: owned by "deep" (Apply)`}, "its owner has only one"},
		{`{"data": {"a.b": 2, "a": {"b": 2}}}`, []metav1.StatusCause{both, deep, both},
			[]string{nested, `data.a.b: owned by "deep" (Apply)`, dotted}, "each owner has its own"},
		{`null`, []metav1.StatusCause{both}, []string{nested}, "nothing is known of the manifest"},
	} {
		var manifest map[string]any
		require.NoError(t, json.Unmarshal([]byte(row.manifest), &manifest))
		assert.Equal(t, row.want, texts(ConflictsOfApply(conflictError(row.causes...), live, manifest)), row.why)
	}
}

func TestConflictsAreSortedAndOnce(t *testing.T) {
	err := conflictError(cause(".b", `conflict with "n"`), cause(".a", `conflict with "n"`),
		cause(".b", `conflict with "m"`), cause(".b", `conflict with "n"`))
	assert.Equal(t, []string{`a: owned by "n" (Apply)`, `b: owned by "m" (Apply)`, `b: owned by "n" (Apply)`},
		texts(ConflictsFromError(err, nil)))
}

// Several applies can fail at once, and the conflicts need not be in the first of their errors.
func TestConflictsOfSeveralErrors(t *testing.T) {
	other := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("the object has been modified"))
	a, b := conflictError(cause(".a", `conflict with "m"`)), conflictError(cause(".b", `conflict with "n"`))
	for why, err := range map[string]error{
		"joined":        errors.Join(errors.New("x"), other, a, nil, b),
		"an aggregate":  utilerrors.NewAggregate([]error{other, a, b}),
		"both, wrapped": fmt.Errorf("applying: %w", errors.Join(fmt.Errorf("one: %w", b), utilerrors.NewAggregate([]error{a, other}))),
		"two wrapped":   fmt.Errorf("%w, then %w", b, a),
	} {
		assert.Equal(t, []string{`a: owned by "m" (Apply)`, `b: owned by "n" (Apply)`}, texts(ConflictsFromError(err, nil)), why)
	}
}
