package fieldowner

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestOf(t *testing.T) {
	o := mustRead(t, recorded(t, "live.json"))
	for _, row := range []struct {
		path  string
		of    []Owner
		below []Owner
		why   string
	}{
		{`metadata.labels["ex.io/tier.one"]`, []Owner{deployer}, []Owner{deployer}, "a key with dots is one element"},
		{"metadata.labels", nil, []Owner{deployer}, "to apply a label is not to own the map"},
		{"spec.replicas", []Owner{autoscaler}, []Owner{autoscaler}, "a write to /scale took it from whoever applied it"},
		{"spec.selector", []Owner{deployer}, []Owner{deployer}, "an atomic map"},
		{"spec.selector.matchLabels.app", []Owner{deployer}, []Owner{deployer}, "inside an atomic map, the map's owner"},
		{`spec.template.spec.containers[name="app"].args[0]`, []Owner{deployer}, []Owner{deployer}, "inside an atomic list"},
		{`spec.template.spec.containers[name="app"]`, []Owner{deployer, mesh}, []Owner{deployer, kubectlSet, mesh},
			"the item itself has those who declared it, not who changed a field"},
		{`spec.template.spec.containers[name="app"].image`, []Owner{kubectlSet}, []Owner{kubectlSet}, "a field of a list item"},
		{`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"]`, []Owner{deployer}, []Owner{deployer},
			"keyed by two fields"},
		{`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].protocol`, nil, nil,
			"a key field that was left to its default is nobody's"},
		{`metadata.finalizers[="mesh.io/cleanup"]`, []Owner{mesh}, []Owner{mesh}, "an element of a set"},
		{`metadata.finalizers[="other"]`, nil, nil, "an element that isn't there"},
		{"spec.strategy.type", nil, nil, "a default"},
		{"status.replicas", []Owner{controller}, []Owner{controller}, "a subresource"},
		{"", nil, []Owner{autoscaler, deployer, controller, kubectlSet, mesh}, "the object as such is nobody's"},
	} {
		assert.Equal(t, row.of, o.Of(path(t, row.path)), "Of(%s): %s", row.path, row.why)
		assert.Equal(t, row.below, o.Below(path(t, row.path)), "Below(%s): %s", row.path, row.why)
	}
}

// TestOfAnEmptyMap shows what an owner has that applied an empty map, depending on what others have in it.
func TestOfAnEmptyMap(t *testing.T) {
	o := mustRead(t, decoded(t, `{"metadata": {"managedFields": [
		{"manager": "empty", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {}}, "f:spec": {"f:x": {}, "f:y": {}}}},
		{"manager": "other", "operation": "Apply", "fieldsV1": {"f:spec": {"f:x": {"f:a": {}}}}}]}}`))
	empty, other := Owner{Manager: "empty", Operation: OperationApply}, Owner{Manager: "other", Operation: OperationApply}
	assert.Equal(t, []Owner{empty}, o.Of(path(t, "spec.x")))
	assert.Equal(t, []Owner{other}, o.Of(path(t, "spec.x.a")))
	assert.Nil(t, o.Of(path(t, "spec.x.b")), "others have fields in the map, so it isn't owned as a whole")
	assert.Equal(t, []Owner{empty}, o.Of(path(t, "spec.y.b")), "nothing says that this isn't an atomic map")
	assert.Nil(t, o.Of(path(t, "metadata.labels.a")), "labels are never atomic, whatever the record shows")
}

func TestEntriesKeepOwnersApart(t *testing.T) {
	o := mustRead(t, decoded(t, `{"metadata": {"managedFields": [
		{"manager": "m", "operation": "Update", "apiVersion": "v2", "fieldsV1": {"f:d": {}}},
		{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:c": {}}},
		{"manager": "m", "operation": "Apply", "apiVersion": "v1", "subresource": "status", "fieldsV1": {"f:b": {}}},
		{"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:a": {}}}]}}`))
	var got []string
	for _, e := range o.Entries() {
		got = append(got, e.Owner.String()+" "+e.APIVersion.String()+": "+string(e.Fields.FieldsV1()))
	}
	assert.Equal(t, []string{
		`"m" (Apply) v1: {"f:a":{}}`, `"m" (Apply of status) v1: {"f:b":{}}`,
		`"m" (Update) v1: {"f:c":{}}`, `"m" (Update) v2: {"f:d":{}}`,
	}, got)
	assert.Equal(t, []string{"a"}, textsOf(o.Fields(Applier{Manager: "m"}.Is)))
	assert.Equal(t, []string{"a", "b", "c", "d"}, textsOf(o.Fields(By("m"))))
	assert.Equal(t, []string{"a", "b", "c", "d"}, textsOf(o.Fields(nil)))
	assert.Empty(t, textsOf(o.Fields(By("other"))))
}

func TestIs(t *testing.T) {
	now := time.Now()
	for _, row := range []struct {
		a, b Owner
		same bool
		why  string
	}{
		{Owner{"m", OperationApply, "", "v1", now}, Owner{"m", OperationApply, "", "v2", time.Time{}}, true, "an applier has one entry for all versions"},
		{Owner{"m", OperationUpdate, "", "v1", now}, Owner{"m", OperationUpdate, "", "v2", now}, false, "an updater has one for each version"},
		{Owner{"m", OperationUpdate, "", "v1", now}, Owner{"m", OperationUpdate, "", "v1", time.Time{}}, true, "the time tells nobody apart"},
		{Owner{"m", OperationApply, "", "v1", now}, Owner{"m", OperationUpdate, "", "v1", now}, false, "operations are apart"},
		{Owner{"m", OperationApply, "", "v1", now}, Owner{"m", OperationApply, "status", "v1", now}, false, "subresources are apart"},
		{Owner{"m", OperationApply, "", "v1", now}, Owner{"n", OperationApply, "", "v1", now}, false, "managers are apart"},
	} {
		assert.Equal(t, row.same, row.a.Is(row.b), row.why)
		assert.Equal(t, row.same, row.b.Is(row.a), row.why)
	}
}

func TestEqualIgnoresTimesOnly(t *testing.T) {
	live := recorded(t, "live.json")
	o := mustRead(t, live)
	for name, row := range map[string]struct {
		value any
		equal bool
	}{
		"time":       {"2020-01-01T00:00:00Z", true},
		"manager":    {"x", false},
		"apiVersion": {"apps/v1beta1", false},
		"fieldsV1":   {map[string]any{}, false},
	} {
		changed := copyOf(live).Object
		changed["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)[name] = row.value
		assert.Equal(t, row.equal, o.Equal(mustRead(t, changed)), name)
	}
}

func TestOwnersAsJSON(t *testing.T) {
	const anApplier = `"manager": "deployer", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-11-20T22:09:59Z"`
	const anUpdater = `"manager": "autoscaler", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1"`
	for _, row := range []struct {
		value     any
		want, why string
	}{
		{[]Owner{deployer, autoscaler}, `[{` + anApplier + `}, {` + anUpdater + `}]`, "parts that are empty are left out"},
		{Conflict{path(t, "spec.replicas"), autoscaler}, `{"path": "spec.replicas", ` + anUpdater + `}`, "an owner beside the path"},
		{Conflict{path(t, "spec.selector"), deployer}, `{"path": "spec.selector", ` + anApplier + `}`, "one with a time"},
		{Transfer{path(t, "spec.replicas"), TransferTaken, []Owner{autoscaler}},
			`{"path": "spec.replicas", "change": "Taken", "managers": [{` + anUpdater + `}]}`, "owners in a list"},
		{Transfer{path(t, "spec.paused"), TransferGivenUp, nil}, `{"path": "spec.paused", "change": "GivenUp"}`, "no owners"},
	} {
		text, err := json.Marshal(row.value)
		require.NoError(t, err)
		assert.JSONEq(t, row.want, string(text), row.why)
	}
	var back []Owner
	require.NoError(t, json.Unmarshal([]byte(`[{`+anApplier+`}, {`+anUpdater+`}]`), &back))
	assert.Equal(t, []Owner{deployer, autoscaler}, back)
}

func TestAllStopsWhenToldTo(t *testing.T) {
	o := mustRead(t, recorded(t, "live.json"))
	var first []projection.Path
	for p := range o.All() {
		first = append(first, p)
		break
	}
	assert.Len(t, first, 1)
}
