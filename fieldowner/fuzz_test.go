package fieldowner

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/projection"
)

// FuzzManagedFields puts arbitrary objects with arbitrary records of who owns what through everything that reads one.
// Nothing may panic, and what is made of an object must be readable again.
func FuzzManagedFields(f *testing.F) {
	f.Add(`{"f:l": {"k:{\"k\":1}": {".": {}}, "v:\"x\"": {}, "i:0": {}}}`, `{"f:l": {}}`, `{"l": [{"k": 1}, "x", null]}`)
	f.Add(`{"f:metadata": {"f:labels": {}}}`, `{"f:metadata": {"f:labels": {"f:a.b": {}}}}`, `{"metadata": {"labels": {"a.b": "1"}}}`)
	f.Add(`{"f:stringData": {"f:a": {}}, "f:data": {}}`, `{"f:data": {"f:a": {}}}`, `{"kind": "Secret", "apiVersion": "v1", "data": 5}`)
	f.Fuzz(func(t *testing.T, mine, yours, text string) {
		var obj, fields, others map[string]any
		if utiljson.Unmarshal([]byte(text), &obj) != nil || utiljson.Unmarshal([]byte(mine), &fields) != nil ||
			utiljson.Unmarshal([]byte(yours), &others) != nil || obj == nil {
			return
		}
		meta, _ := obj["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			obj["metadata"] = meta
		}
		meta["resourceVersion"] = "7"
		meta["managedFields"] = []any{
			map[string]any{"manager": "me", "operation": "Apply", "fieldsV1": fields},
			map[string]any{"manager": "you", "operation": "Update", "fieldsV1": others},
		}
		if o, err := Read(obj); err == nil {
			fuzzOwners(t, o)
			fuzzReports(t, obj)
			fuzzManifests(t, obj)
			fuzzPatches(t, obj)
		}
	})
}

func fuzzOwners(t *testing.T, o Ownership) {
	reader := newPathReader(o, nil, nil)
	for p, owners := range o.All() {
		require.Subset(t, o.Below(p), owners)
		require.Equal(t, serverText(p), serverText(reader.paths(serverText(p), owners[0])[0]), "the text that a server writes is found again")
	}
	Compare(o, Ownership{}, Applier{Manager: "me"})
}

func fuzzReports(t *testing.T, obj map[string]any) {
	o := mustRead(t, obj)
	for _, d := range o.Dropped(Ownership{}, nil, map[string]any{}, Applier{Manager: "me"}) {
		require.Equal(t, FateDeleted, d.Fate, "of an object that has nothing any more")
	}
	conflicts, err := PredictConflicts(obj, obj, o.Fields(nil), Applier{Manager: "new"})
	require.NoError(t, err)
	require.Empty(t, conflicts, "what is there can be applied as it is")
}

func fuzzManifests(t *testing.T, obj map[string]any) {
	for _, sel := range []Selection{{}, {Strategy: UnownedFields}, {Strategy: ManagerFields, Manager: "me"}} {
		m, err := NewManifest(obj, sel)
		if err == nil {
			_, err = Read(m.Object)
			require.NoError(t, err)
		}
	}
}

func fuzzPatches(t *testing.T, obj map[string]any) {
	for _, make := range []func() (Handover, error){
		func() (Handover, error) { return Migrate(obj, "new", "me", "you") },
		func() (Handover, error) {
			return GiveUp(obj, Applier{Manager: "me"}, projection.NewFieldSet(projection.Path{}))
		},
	} {
		handover, err := make()
		require.NoError(t, err)
		patch, err := handover.Patch()
		require.NoError(t, err)
		require.True(t, patch == nil || utiljson.Unmarshal(patch, new([]any)) == nil)
		_, err = Read(handover.Object())
		require.NoError(t, err)
	}
}

// FuzzConflictCause puts arbitrary causes through the reader of conflicts. Whatever a server writes is one conflict.
func FuzzConflictCause(f *testing.F) {
	f.Add(".spec.template.spec.containers[name=\"c\"].env[name=\"E\"].value", `conflict with "m" with subresource "scale" using apps/v1 at 2020-01-02T03:04:05Z`)
	f.Add(`.metadata.annotations.mesh.io/injected.by`, `conflict with "mesh"`)
	f.Add(`.x[="]"][k={}`, `conflict with "`)
	f.Fuzz(func(t *testing.T, field, message string) {
		live := recorded(t, "live.json")
		conflicts := ConflictsFromError(conflictError(cause(field, message)), live)
		require.Len(t, conflicts, 1)
		again, err := projection.ParsePath(conflicts[0].Path.String())
		require.NoError(t, err)
		require.True(t, again.Equal(conflicts[0].Path))
		_, err = json.Marshal(conflicts[0])
		require.NoError(t, err)
	})
}
