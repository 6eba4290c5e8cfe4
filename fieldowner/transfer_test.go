package fieldowner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
)

func TestCompareRecordedApply(t *testing.T) {
	before, after := mustRead(t, recorded(t, "live.json")), mustRead(t, recorded(t, "forced.json"))
	assert.Equal(t, []string{
		`metadata.annotations["mesh.io/injected.by"]: taken from "mesh" (Apply)`,
		`metadata.finalizers[="mesh.io/cleanup"]: shared with "mesh" (Apply)`,
		`metadata.labels["ex.io/tier.one"]: taken from "deployer" (Apply)`,
		`spec.replicas: taken from "autoscaler" (Update of scale)`,
		`spec.selector: shared with "deployer" (Apply)`,
		`spec.template.spec.containers[name="app"]: shared with "deployer" (Apply), "mesh" (Apply)`,
		`spec.template.spec.containers[name="app"].env[name="MESH"]: shared with "mesh" (Apply)`,
		`spec.template.spec.containers[name="app"].env[name="MESH"].name: shared with "mesh" (Apply)`,
		`spec.template.spec.containers[name="app"].env[name="MESH"].value: taken from "mesh" (Apply)`,
		`spec.template.spec.containers[name="app"].env[name="MODE"]: shared with "deployer" (Apply)`,
		`spec.template.spec.containers[name="app"].env[name="MODE"].name: shared with "deployer" (Apply)`,
		`spec.template.spec.containers[name="app"].env[name="MODE"].value: taken from "deployer" (Apply)`,
		`spec.template.spec.containers[name="app"].image: taken from "kubectl-set" (Update)`,
		`spec.template.spec.containers[name="app"].name: shared with "deployer" (Apply), "mesh" (Apply)`,
		`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"]: shared with "deployer" (Apply)`,
		`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].containerPort: shared with "deployer" (Apply)`,
		`spec.template.spec.nodeSelector: taken from "deployer" (Apply)`,
	}, texts(Compare(before, after, Applier{Manager: "newcomer"})))
}

func TestCompare(t *testing.T) {
	for _, row := range rows.Read[struct{ Why, Before, After, Changes string }](t, "compare") {
		t.Run(row.Why, func(t *testing.T) {
			changes := Compare(brief(t, row.Before), brief(t, row.After), Applier{Manager: "me"})
			assert.Equal(t, row.Changes, strings.Join(texts(changes), "; "))
		})
	}
}

// What others lose is destroyed only if the object shows it.
func TestTransfers(t *testing.T) {
	live := decoded(t, `{"mine": 1, "x": 1, "map": {"a": 1, "b": 1}, "atomic": {"a": 1}, "list": [{"name": "a", "size": 1}]}`)
	addEntry(t, live, "me", `{"f:mine": {}}`)
	addEntry(t, live, "you", `{"f:x": {}, "f:map": {".": {}, "f:a": {}, "f:b": {}}, "f:atomic": {},
		"f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:size": {}}}}`)
	for _, row := range []struct{ why, after, want string }{
		{"all is kept", `, "x": 1, "map": {"a": 1, "b": 1}, "atomic": {"a": 1}, "list": [{"name": "a", "size": 1}]`, ""},
		{"all goes", "", `atomic list[name="a"] list[name="a"].name list[name="a"].size map map.a map.b x`},
		{"a part of each goes, or is another", `, "x": 2, "map": {"a": 1}, "atomic": {"a": 2}, "list": [{"name": "a", "size": 2}]`, `atomic list[name="a"].size map.b x`},
		{"a map that becomes a text", `, "x": 1, "map": "a", "atomic": {"a": 1}, "list": [{"name": "a", "size": 1}]`, `map map.a map.b`},
	} {
		result := decoded(t, `{"mine": 1`+row.after+`}`)
		addEntry(t, result, "me", `{"f:mine": {}}`)
		var destroyed []string
		transfers := mustRead(t, live).Transfers(mustRead(t, result), live, result, Applier{Manager: "me"})
		for _, transfer := range transfers {
			if transfer.Kind == TransferDestroyed {
				destroyed = append(destroyed, transfer.Path.String())
			} else {
				assert.Equal(t, TransferDisowned, transfer.Kind)
			}
		}
		assert.Len(t, transfers, 8, row.why)
		assert.Equal(t, row.want, strings.Join(destroyed, " "), row.why)
	}
}

// brief makes an ownership of {"MANAGER OPERATION": "PATH"}, or of {"MANAGER OPERATION VERSION": "PATH"}.
func brief(t testing.TB, text string) Ownership {
	t.Helper()
	var owners map[string]string
	require.NoError(t, json.Unmarshal([]byte(text), &owners))
	var entries []any
	for owner, field := range owners {
		manager, operation, _ := strings.Cut(owner, " ")
		operation, version, _ := strings.Cut(operation, " ")
		entries = append(entries, map[string]any{
			"manager": manager, "operation": operation, "apiVersion": version,
			"fieldsV1": map[string]any{"f:" + field: map[string]any{}},
		})
	}
	return mustRead(t, map[string]any{"metadata": map[string]any{"managedFields": entries}})
}
