package render_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// entry is one of managedFields.
func entry(manager, operation, subresource string, age time.Duration, fields string) any {
	var set any
	if err := json.Unmarshal([]byte(fields), &set); err != nil {
		panic(err)
	}
	e := map[string]any{
		"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": set,
	}
	if subresource != "" {
		e["subresource"] = subresource
	}
	if age != 0 {
		e["time"] = now.Add(-age).Format(time.RFC3339)
	}
	return e
}

func owners(t *testing.T) render.Owners {
	live := map[string]any{
		"spec": map[string]any{"replicas": int64(7), "template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "web", "image": "registry.example.com/a/path/of/a/registry/web:1.5.0-e\x1b[2Jvil"}},
		}}},
		"status": map[string]any{"replicas": int64(7)},
	}
	live["metadata"] = map[string]any{"annotations": map[string]any{"example.com/a.b": "c4n4ry"}, "managedFields": []any{
		entry("kubectl-ssaplan", "Apply", "", 3*time.Hour,
			`{"f:metadata":{"f:annotations":{"f:example.com/a.b":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`),
		entry("kube-controller-manager", "Update", "status", 5*time.Minute, `{"f:status":{"f:replicas":{}}}`),
		entry("e\x1b[2Jvil", "Update", "scale", 0, `{"f:spec":{"f:replicas":{}}}`),
	}}
	ownership, err := fieldowner.Read(live)
	require.NoError(t, err)
	values := projection.Project(live, ownership.Fields(nil))
	annotation, err := projection.ParsePath(`metadata.annotations["example.com/a.b"]`)
	require.NoError(t, err)
	values.Sensitive = projection.NewFieldSet(annotation)
	return render.Owners{Object: object("apps/v1", "Deployment", "shop", "web"), Ownership: ownership, Values: values}
}

func TestOwners(t *testing.T) {
	golden(t, "owners.txt", render.Text{Now: now}.Owners(owners(t)))
	golden(t, "owners-narrow.txt", render.Text{Now: now, Width: 80}.Owners(owners(t)))
	nobody := render.Owners{Object: object("v1", "ConfigMap", "shop", "web")}
	assert.Equal(t, "v1/ConfigMap shop/web\n\nThe server has no record of who owns the fields.\n", render.Text{}.Owners(nobody))
}

func TestOwnersJSON(t *testing.T) {
	text, err := owners(t).JSON()
	require.NoError(t, err)
	golden(t, "owners.json", string(text))
	assert.NotContains(t, string(text), "c4n4ry")
	asYAML, err := owners(t).YAML()
	require.NoError(t, err)
	converted, err := yaml.YAMLToJSON(asYAML)
	require.NoError(t, err)
	assert.JSONEq(t, string(text), string(converted))

	text, err = render.Owners{}.JSON()
	require.NoError(t, err)
	assert.Contains(t, string(text), `"fields": []`)
}
