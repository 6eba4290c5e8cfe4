package ssaplan

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// What is sent as it is, is what normalizing would have made of it.
func TestEncodedManifestIsNormal(t *testing.T) {
	type named string
	for _, kind := range []string{"Secret", "Widget"} {
		for _, field := range []string{"data", "stringData", "status", "spec"} {
			for _, v := range []any{"b", "", nil, 5, int64(5), 5.5, named("b"), true, []any{}, []any{nil}, map[string]any{}, map[string]any{"b": nil}, []string{"b"}, map[string]string{"b": ""}} {
				metadata := map[string]any{"name": "n", "labels": v, "uid": v}
				for _, name := range []string{"labels", "uid", ""} {
					manifest := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata, field: map[string]any{"a": v}}
					normal, steps := projection.Normalize(manifest, "")
					want, err := json.Marshal(explain.Addressed(normal, "there", ""))
					require.NoError(t, err)
					g := &goal{
						id:      identity.Identity{APIVersion: "v1", Kind: kind, Namespace: "there", Name: "n"},
						request: Request{Manifest: &unstructured.Unstructured{Object: manifest}},
					}
					e := fastjson.NewEncoder()
					prepared, err := g.encode(e)
					require.NoError(t, err)
					require.Equal(t, string(want), string(e.Text()))
					require.Equal(t, steps, prepared.Adjustments)
					sent, err := json.Marshal(prepared.Manifest)
					require.NoError(t, err)
					require.Equal(t, string(want), string(sent))
					delete(metadata, name)
				}
			}
		}
	}
}
