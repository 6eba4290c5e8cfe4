package savedplan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/savedplan"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

func manifest(kind string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a"}, "data": map[string]any{"n": int64(1<<62 + 1)},
	}}
}

func plan(kind string) *ssaplan.Plan {
	object := manifest(kind).Object
	after := projection.Project(object, projection.NewFieldSet(projection.Path{projection.Field("data")}))
	id := identity.Identity{APIVersion: "v1", Kind: kind, Name: "a"}
	return &ssaplan.Plan{Object: id, Action: ssaplan.ActionCreate, Reason: "does not exist", Explanation: explain.Explanation{After: after}}
}

func saved(t *testing.T) *savedplan.Saved {
	kept, err := savedplan.Keep(plan("ConfigMap"), manifest("ConfigMap"), false)
	require.NoError(t, err)
	return &savedplan.Saved{
		Cluster: review.Cluster{UID: "1", Address: "sha256:2"}, Host: json.RawMessage(`{"manager":"m"}`), Reviewed: []savedplan.Reviewed{kept},
		Deletions: []*deletion.Plan{{Object: identity.Identity{APIVersion: "v1", Kind: "Secret", Name: "b"}, UID: "u", Action: deletion.ActionDelete}},
	}
}

func TestSavedIsReadAsItWasWritten(t *testing.T) {
	text, err := saved(t).Encode()
	require.NoError(t, err)
	got, err := savedplan.Decode(text)
	require.NoError(t, err)
	require.Equal(t, manifest("ConfigMap"), got.Reviewed[0].Manifest, "integers, too")
	require.NoError(t, got.Reviewed[0].Check(plan("ConfigMap")))
	changed := (*ssaplan.ChangedError)(nil)
	require.ErrorAs(t, got.Reviewed[0].Check(plan("Secret")), &changed)
	require.True(t, got.Deletions[0].Covers(saved(t).Deletions[0]))
	again, err := got.Encode()
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

// No part of a file is read unless all of it is there, and as it was written.
func TestSavedIsReadAsAWhole(t *testing.T) {
	text, err := saved(t).Encode()
	require.NoError(t, err)
	for i := range text {
		_, err := savedplan.Decode(text[:i])
		require.Error(t, err, "cut at %d", i)
		flipped := bytes.Clone(text)
		flipped[i] ^= 1
		_, err = savedplan.Decode(flipped)
		require.Error(t, err, "flipped at %d", i)
	}
	_, err = savedplan.Decode(append(bytes.Clone(text), ' '))
	require.ErrorContains(t, err, "cut or changed")
	_, err = savedplan.Decode(bytes.Replace(text, []byte(" 1 "), []byte(" 10 "), 1))
	require.EqualError(t, err, "a saved plan of version 10, but this program reads version 1: plan again")
	_, err = savedplan.Decode([]byte("{}"))
	require.EqualError(t, err, "not a saved plan")
}

// What may be a secret is kept only for a host that says so.
func TestKeepLeavesSecretsOut(t *testing.T) {
	unknown := plan("ConfigMap")
	unknown.Action, unknown.After = ssaplan.ActionNoOp, projection.Projection{}
	for _, row := range []struct {
		why  string
		plan *ssaplan.Plan
		kept bool
	}{
		{"no value is sensitive", plan("ConfigMap"), true},
		{"a Secret", plan("Secret"), false},
		{"a no-op that was remembered tells nothing of its values", unknown, false},
	} {
		kept, err := savedplan.Keep(row.plan, manifest("ConfigMap"), false)
		require.NoError(t, err, row.why)
		require.Equal(t, row.kept, kept.Manifest != nil, row.why)
		kept, err = savedplan.Keep(row.plan, manifest("ConfigMap"), true)
		require.NoError(t, err, row.why)
		require.NotNil(t, kept.Manifest, row.why)
	}
	secret := manifest("Secret")
	delete(secret.Object, "data")
	unknown.Object.Kind = "Secret"
	kept, err := savedplan.Keep(unknown, secret, false)
	require.NoError(t, err)
	require.NotNil(t, kept.Manifest, "an empty Secret has none")
}
