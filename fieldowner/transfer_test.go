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
	var got []string
	for _, c := range Compare(before, after, Applier{Manager: "newcomer"}) {
		got = append(got, c.String())
	}
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
	}, got)
}

func TestCompare(t *testing.T) {
	for _, row := range rows.Read[struct{ Why, Before, After, Changes string }](t, "compare") {
		t.Run(row.Why, func(t *testing.T) {
			text := ""
			for i, c := range Compare(brief(t, row.Before), brief(t, row.After), Applier{Manager: "me"}) {
				if i > 0 {
					text += "; "
				}
				text += c.String()
			}
			assert.Equal(t, row.Changes, text)
		})
	}
}

// What others lose is destroyed only if the object shows it.
func TestTransfers(t *testing.T) {
	record := func(text string) string {
		return `"metadata": {"managedFields": [` + text + `]}`
	}
	entry := func(manager, fields string) string {
		return `{"manager": "` + manager + `", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {` + fields + `}}`
	}
	const item = `"f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:size": {}}}`
	before := record(entry("me", `"f:mine": {}`) + "," + entry("you", `"f:x": {}, "f:map": {".": {}, "f:a": {}, "f:b": {}}, "f:atomic": {}, `+item))
	live := decoded(t, `{`+before+`, "mine": 1, "x": 1, "map": {"a": 1, "b": 1}, "atomic": {"a": 1}, "list": [{"name": "a", "size": 1}]}`)
	for _, row := range []struct{ why, after, want string }{
		{"all is kept", `"x": 1, "map": {"a": 1, "b": 1}, "atomic": {"a": 1}, "list": [{"name": "a", "size": 1}]`, ""},
		{"all goes", "", `atomic list[name="a"] list[name="a"].name list[name="a"].size map map.a map.b x`},
		{"a part of each goes, or is another", `"x": 2, "map": {"a": 1}, "atomic": {"a": 2}, "list": [{"name": "a", "size": 2}]`, `atomic list[name="a"].size map.b x`},
		{"a map that becomes a text", `"x": 1, "map": "a", "atomic": {"a": 1}, "list": [{"name": "a", "size": 1}]`, `map map.a map.b`},
	} {
		text := `{` + record(entry("me", `"f:mine": {}`)) + `, "mine": 1`
		if row.after != "" {
			text += ", " + row.after
		}
		result := decoded(t, text+"}")
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

func TestChangeJSON(t *testing.T) {
	text, err := json.Marshal([]Transfer{
		{path(t, "spec.replicas"), TransferTaken, []Owner{autoscaler}},
		{path(t, "spec.paused"), TransferGivenUp, nil},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"path": "spec.replicas", "change": "Taken", "managers": [
			{"manager": "autoscaler", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1"}]},
		{"path": "spec.paused", "change": "GivenUp"}]`, string(text))
}
