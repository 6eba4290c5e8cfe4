package fieldowner

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

// droppedFrom returns what becomes of the fields that manager applied in live and no longer does in result.
func droppedFrom(t testing.TB, live, result map[string]any, manager string) []DroppedField {
	t.Helper()
	return mustRead(t, live).Dropped(mustRead(t, result), live, result, Applier{Manager: manager})
}

func TestDroppedFromRecordedDryRun(t *testing.T) {
	dropped := droppedFrom(t, recorded(t, "live.json"), recorded(t, "reduced.json"), "deployer")
	assert.Equal(t, []string{
		`metadata.labels.app: deleted`,
		`metadata.labels["ex.io/tier.one"]: deleted`,
		`spec.template.spec.containers[name="app"].args: deleted`,
		`spec.template.spec.containers[name="app"].env[name="MODE"]: deleted`,
		`spec.template.spec.nodeSelector: deleted`,
		`spec.template.spec.securityContext: keeps {}, without an owner`,
	}, texts(dropped))
}

func TestDropped(t *testing.T) {
	for _, row := range rows.Read[struct {
		Why                              string
		Before, After, Object, Otherwise string // fields of "me" before and after, the object after, fields of "you"
		Dropped                          []string
	}](t, "dropped") {
		t.Run(row.Why, func(t *testing.T) {
			live, result := map[string]any{}, decoded(t, `{`+row.Object+`}`)
			addEntry(t, live, "me", row.Before)
			addEntry(t, result, "me", row.After)
			addEntry(t, result, "you", row.Otherwise)
			assert.Equal(t, row.Dropped, texts(droppedFrom(t, live, result, "me")))
		})
	}
}

// TestDroppedShowsNoSecret drops the whole data of a Secret that a webhook fills again.
func TestDroppedShowsNoSecret(t *testing.T) {
	const canary = "Y2FuYXJ5"
	live := decoded(t, `{"apiVersion": "v1", "kind": "Secret", "metadata": {"managedFields": [
		{"manager": "me", "operation": "Apply", "fieldsV1": {"f:data": {"f:p": {}}}}]}}`)
	result := decoded(t, `{"apiVersion": "v1", "kind": "Secret", "data": {"p": "`+canary+`"}}`)
	dropped := droppedFrom(t, live, result, "me")
	require.Len(t, dropped, 1)
	assert.Equal(t, canary, dropped[0].Value)
	assert.Equal(t, `data.p: reset to "<redacted>"`, dropped[0].String())
	text, err := json.Marshal(dropped)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"path": "data.p", "fate": "Reset", "value": "<redacted>", "sensitive": true}]`, string(text))
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s %d", dropped, dropped[0], dropped, &dropped[0], dropped), canary)
}

func TestDroppedJSON(t *testing.T) {
	fields := []DroppedField{
		{Path: path(t, "a"), Fate: FateDeleted},
		{Path: path(t, "b"), Fate: FateReset, Value: int64(1)},
		{Path: path(t, "c"), Fate: FateRetained, Value: "x", Owners: []Owner{{Manager: "you", Operation: OperationApply}}},
	}
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"path": "a", "fate": "Deleted"}, {"path": "b", "fate": "Reset", "value": 1},
		{"path": "c", "fate": "Retained", "value": "x", "managers": [{"manager": "you", "operation": "Apply"}]}]`, string(text))

	var read []DroppedField
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, fields, read)
	for _, wrong := range []string{`{"path": 1}`, `{"path": "a", "value": {"b": 1e999}}`} {
		read := DroppedField{Fate: FateReset}
		require.Error(t, json.Unmarshal([]byte(wrong), &read), wrong)
		assert.Equal(t, DroppedField{Fate: FateReset}, read, "what can't be read changes nothing")
	}
}

// TestDroppedFindsValues checks the fates of fields that "me" owned in an object without any owner now. A field that
// has a value was reset; a missing field was deleted.
func TestDroppedFindsValues(t *testing.T) {
	object := decoded(t, `{"a.b": 1, "a": {"b": 2, "none": null}, "set": ["x", 5, {"k": 1}, "x"],
		"ports": [{"p": 80, "q": "TCP", "n": 1}, {"p": 80, "q": "TCP", "n": 3}, "odd"],
		"numbers": [{"id": 9007199254740993, "v": "x"}], "secrets": [{"name": "a"}, {}]}`)
	for _, row := range rows.Read[struct{ Path, Want, Why string }](t, "values") {
		set := fieldSet(t, row.Path)
		before := newOwnership([]Entry{{Owner{Manager: "me", Operation: OperationApply}, set}})
		dropped := before.Dropped(Ownership{}, nil, object, Applier{Manager: "me"})
		assert.Equal(t, row.Path+": "+row.Want, dropped[0].String(), row.Why)
		assert.Equal(t, row.Want == "deleted", len(projection.Project(object, set).Missing) > 0, "a projection finds the same")
	}
}
