package fieldowner

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
)

func TestReadingAnotherStateIsReadingIt(t *testing.T) {
	live := recorded(t, "live.json")
	entries := live["metadata"].(map[string]any)["managedFields"].([]any)
	for i := range entries {
		other := maps.Clone(entries[i].(map[string]any))
		other["manager"] = "somebody else"
		state := map[string]any{"metadata": map[string]any{"managedFields": slices.Concat(entries[:i], []any{other}, entries[i+1:])}}
		for _, before := range []map[string]any{live, recorded(t, "live.json"), {}} {
			got, err := mustRead(t, before).ReadOther(state)
			require.NoError(t, err)
			assert.Equal(t, mustRead(t, state).Entries(), got.Entries())
		}
	}
	ownership, copied := mustRead(t, live), recorded(t, "live.json")
	again := testing.AllocsPerRun(10, func() { _, _ = ownership.ReadOther(live) })
	anew := testing.AllocsPerRun(10, func() { _, _ = ownership.ReadOther(copied) })
	assert.Less(t, again, anew/2, "what both share is read once")
}

// TestReadTwoEntriesOfOneOwner has what a server recorded after an update of replicas and a scale by the same manager.
func TestReadTwoEntriesOfOneOwner(t *testing.T) {
	scaled := `{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}`
	updated := `{"manager": "m", "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}`
	for _, entries := range []string{scaled + "," + updated, updated + "," + scaled} {
		o := mustRead(t, decoded(t, `{"metadata": {"managedFields": [`+entries+`]}}`))
		assert.Equal(t, []string{"spec.paused"}, textsOf(o.Fields(nil)))
	}
}

// A map that has one owner in the version at hand is owned as a whole by who wrote a part of it in another version.
func TestReadPartsOfMapWithOneOwner(t *testing.T) {
	read := func(apiVersion, record string) []string {
		obj := decoded(t, `{"apiVersion": "`+apiVersion+`", "kind": "HorizontalPodAutoscaler"}`)
		addEntry(t, obj, "you", record)
		o, err := Read(obj)
		require.NoError(t, err)
		return textsOf(o.Fields(nil))
	}
	part := `{"f:spec": {"f:maxReplicas": {}, "f:scaleTargetRef": {".": {}, "f:name": {}}}}`
	assert.Equal(t, []string{"spec.maxReplicas", "spec.scaleTargetRef"}, read("autoscaling/v1", part))
	assert.Equal(t, []string{"spec.maxReplicas", "spec.scaleTargetRef", "spec.scaleTargetRef.name"}, read("autoscaling/v2", part))
	assert.Equal(t, []string{"spec.maxReplicas"}, read("autoscaling/v1", `{"f:spec": {"f:maxReplicas": {}}}`))
}

func TestReadNothing(t *testing.T) {
	for _, text := range []string{`null`, `{}`, `{"metadata": null}`, `{"metadata": {}}`, `{"metadata": {"managedFields": null}}`,
		`{"metadata": {"managedFields": []}}`} {
		o := mustRead(t, decoded(t, text))
		assert.False(t, o.Recorded(), text)
		assert.Empty(t, o.Entries(), text)
		assert.True(t, o.Equal(Ownership{}), text)
	}
	assert.True(t, mustRead(t, recorded(t, "live.json")).Recorded())
}

func TestReadNamesBrokenEntries(t *testing.T) {
	for _, row := range rows.Read[struct{ Fields, Err string }](t, "broken") {
		_, err := Read(decoded(t, `{"metadata": {"managedFields": `+row.Fields+`}}`))
		assert.EqualError(t, err, row.Err)
	}
	_, err := Read(decoded(t, `{"metadata": []}`))
	assert.EqualError(t, err, "fieldowner: metadata: expected a map, got []interface {}")
}
