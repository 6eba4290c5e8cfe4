package fieldowner

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection/foreign"
)

// me selects the fields of the manager of that name.
var me = Selection{Strategy: ManagerFields, Manager: "me"}

func manifestOf(t testing.TB, live map[string]any, sel Selection) Manifest {
	t.Helper()
	m, err := NewManifest(live, sel)
	require.NoError(t, err)
	return m
}

func TestManifestOfRecordedManager(t *testing.T) {
	m := manifestOf(t, recorded(t, "live.json"), Selection{Strategy: ManagerFields, Manager: "mesh"})
	assert.Equal(t, decoded(t, `{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": {"name": "web", "namespace": "default", "finalizers": ["mesh.io/cleanup"],
			"annotations": {"mesh.io/injected.by": "mesh"}},
		"spec": {"template": {"spec": {"containers": [
			{"name": "app", "env": [{"name": "MESH", "value": "on"}]},
			{"name": "proxy", "image": "proxy:1"}]}}}}`), m.Object)
	assert.Empty(t, m.Missing)
}

// What was applied to a subresource is selected with the subresource, and not as a part of the object itself.
func TestManifestOfAStatus(t *testing.T) {
	live := decoded(t, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "managedFields": [
		{"manager": "m", "operation": "Apply", "subresource": "status", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
			"fieldsV1": {"f:status": {"f:replicas": {}}}},
		{"manager": "m", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
		"spec": {"replicas": 2}, "status": {"replicas": 1}}`)
	for subresource, want := range map[string]string{"": "spec", "status": "status"} {
		m := manifestOf(t, live, Selection{ManagerFields, "m", OperationApply, subresource})
		assert.Equal(t, map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, want: live[want],
		}, m.Object)
	}
	assert.NotContains(t, manifestOf(t, live, Selection{Strategy: ManagerFields, Manager: "m"}).Object, "status")
}

func TestManifestOfUnownedFields(t *testing.T) {
	m := manifestOf(t, recorded(t, "live.json"), Selection{Strategy: UnownedFields})
	container := `"imagePullPolicy": "IfNotPresent", "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"`
	assert.Equal(t, decoded(t, `{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
		"spec": {"progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
			"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
			"template": {"spec": {
				"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30,
				"containers": [
					{"name": "app", "ports": [{"containerPort": 80, "protocol": "TCP"}], `+container+`},
					{"name": "proxy", `+container+`}]}}}}`), m.Object)
}

func TestManifestOfAllFields(t *testing.T) {
	live := recorded(t, "live.json")
	m := manifestOf(t, live, Selection{})
	assert.Equal(t, live["spec"], m.Object["spec"])
	assert.NotContains(t, m.Object, "status")
	assert.Equal(t, decoded(t, `{"name": "web", "namespace": "default", "finalizers": ["mesh.io/cleanup"],
		"annotations": {"mesh.io/injected.by": "mesh"}, "labels": {"app": "web", "ex.io/tier.one": "front"}}`), m.Object["metadata"])

	// Its fields have the names that their owners have for them.
	for text, want := range map[string]bool{
		"spec.selector":                                     true,
		"spec.selector.matchLabels.app":                     false,
		`metadata.finalizers[="mesh.io/cleanup"]`:           true,
		"metadata.finalizers":                               false,
		`spec.template.spec.containers[name="proxy"].image`: true,
		`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].containerPort`: true,
		"status.replicas": false,
	} {
		assert.Equal(t, want, m.Fields.Has(path(t, text)), text)
	}
}

func TestManifestLeavesOut(t *testing.T) {
	const annotation = `"kubectl.kubernetes.io/last-applied-configuration"`
	live := decoded(t, `{"apiVersion": "ex.io/v1", "kind": "Widget", "spec": {"x": 1}, "status": {"s": 1},
		"metadata": {"name": "w-abc", "generateName": "w-", "uid": "u", "resourceVersion": "7", "generation": 3,
			"creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0,
			"selfLink": "/", "annotations": {`+annotation+`: "{}", "mine": "1"},
			"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u1"}], "finalizers": ["f"]}}`)
	fields := `{"f:spec": {"f:x": {}}, "f:status": {"f:s": {}}, "f:metadata": {"f:generateName": {}, "f:uid": {},
		"f:annotations": {"f:mine": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}}}`
	identity := `"apiVersion": "ex.io/v1", "kind": "Widget"`
	clean := decoded(t, `{`+identity+`, "spec": {"x": 1}, "metadata": {"name": "w-abc", "annotations": {"mine": "1"},
		"ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u1"}], "finalizers": ["f"]}}`)
	own := decoded(t, `{`+identity+`, "spec": {"x": 1}, "status": {"s": 1}, "metadata": {"name": "w-abc", "generateName": "w-",
		"annotations": {"mine": "1", `+annotation+`: "{}"}}}`)
	updated := decoded(t, `{`+identity+`, "spec": {"x": 1}, "metadata": {"name": "w-abc", "annotations": {"mine": "1"}}}`)
	nothing := decoded(t, `{`+identity+`, "metadata": {"name": "w-abc"}}`)

	untracked := copyOf(live).Object
	addEntry(t, live, "applier", fields)
	addEntry(t, live, "updater", fields)
	live["metadata"].(map[string]any)["managedFields"].([]any)[1].(map[string]any)["operation"] = OperationUpdate

	for _, row := range []struct {
		why  string
		live map[string]any
		sel  Selection
		want map[string]any
	}{
		{"all, of an object without record", untracked, Selection{}, clean},
		{"unowned, of an object without record", untracked, Selection{Strategy: UnownedFields}, clean},
		{"all", live, Selection{}, clean},
		{"who applied a status owns it", live, Selection{Strategy: ManagerFields, Manager: "applier"}, own},
		{"who merely updated it had no choice", live, Selection{Strategy: ManagerFields, Manager: "updater"}, updated},
		{"one operation", live, Selection{Strategy: ManagerFields, Manager: "applier", Operation: OperationUpdate}, nothing},
		{"one subresource", live, Selection{ManagerFields, "applier", OperationApply, "status"}, nothing},
		{"nobody", live, Selection{Strategy: ManagerFields, Manager: "nobody"}, nothing},
	} {
		assert.Equal(t, row.want, manifestOf(t, row.live, row.sel).Object, row.why)
	}
}

// TestManifestOfAnApplier selects what "me" applied and owns, while "you" own something else.
func TestManifestOfAnApplier(t *testing.T) {
	for _, row := range rows.Read[struct {
		Live, Owned, Others, Want, Why string // Others are the fields of "you"
		Missing                        []string
	}](t, "manifests") {
		live := decoded(t, row.Live)
		addEntry(t, live, "me", row.Owned)
		if row.Others != "" {
			addEntry(t, live, "you", row.Others)
		}
		before := copyOf(live).Object
		m := manifestOf(t, live, me)
		assert.Equal(t, decoded(t, row.Want), m.Object, row.Why)
		assert.Equal(t, row.Missing, texts(m.Missing), row.Why)
		assert.Equal(t, before, live, "the input stays as it is")
	}
}

// TestManifestOfAmbiguousLists imports lists with items that can't be identified, and lists without owners.
func TestManifestOfAmbiguousLists(t *testing.T) {
	const text = `{"metadata": {}, "twice": [{"k": 1}, {"k": 1}], "odd": [{"k": 1}, 5], "free": [{"k": 1}], "index": [1, 2]}`
	live := decoded(t, text)
	addEntry(t, live, "you", `{"f:twice": {"k:{\"k\":1}": {".": {}}}, "f:odd": {"k:{\"k\":1}": {".": {}}}, "f:index": {"i:0": {}}}`)
	all := manifestOf(t, live, Selection{})
	assert.Equal(t, decoded(t, text), all.Object, "all fields are all fields")
	unowned := manifestOf(t, live, Selection{Strategy: UnownedFields})
	assert.Equal(t, decoded(t, `{"metadata": {}, "free": [{"k": 1}]}`), unowned.Object, "a list that is somebody's in part is not nobody's")
}

// TestManifestOfEmptyValues has fields that were applied with values of which the server stores nothing.
func TestManifestOfEmptyValues(t *testing.T) {
	const fields = `{"f:metadata": {"f:labels": {}}, "f:spec": {"f:paused": {}, "f:new": {"f:x": {}}, "f:kept": {}, "f:limits": {"f:cpu": {}}, "f:set": {"v:\"x\"": {}},
		"f:list": {"k:{\"k\":1}": {"f:args": {}}, "k:{\"k\":2}": {"f:args": {}}}}}`
	live := func(apiVersion string) map[string]any {
		obj := decoded(t, `{"apiVersion": "`+apiVersion+`", "metadata": {}, "spec": {"kept": 1, "list": [{"k": 1}]}}`)
		addEntry(t, obj, "me", fields)
		obj["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["apiVersion"] = apiVersion
		return obj
	}
	m := manifestOf(t, live("apps/v1"), me)
	assert.Equal(t, decoded(t, `{"apiVersion": "apps/v1", "metadata": {"labels": null}, "spec": {
		"paused": null, "new": {"x": null}, "kept": 1}}`), m.Object, "null where the field can stand; no list item is made up, and no key of a map")
	assert.Len(t, m.Missing, 7)

	for _, apiVersion := range []string{"ex.io/v1", "gateway.networking.k8s.io/v1", "snapshot.storage.k8s.io/v1"} {
		m = manifestOf(t, live(apiVersion), me)
		assert.Equal(t, decoded(t, `{"apiVersion": "`+apiVersion+`", "metadata": {}, "spec": {"kept": 1}}`), m.Object,
			"a custom resource stores what is empty, and its group may end in k8s.io")
	}

	shared := live("storage.k8s.io/v1")
	addEntry(t, shared, "you", `{"f:spec": {"f:paused": {}}}`)
	m = manifestOf(t, shared, me)
	assert.NotContains(t, m.Object["spec"], "paused", "the server would call it a conflict with you")
	assert.Contains(t, m.Object["spec"], "new")

	updated := live("apps/v1")
	updated["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["operation"] = OperationUpdate
	assert.Equal(t, decoded(t, `{"kept": 1}`), manifestOf(t, updated, me).Object["spec"], "who never applied it has nothing to keep")
}

func TestManifestOfAnotherVersion(t *testing.T) {
	live := decoded(t, `{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
		"metadata": {"name": "h"}, "spec": {"minReplicas": 1, "maxReplicas": 3, "metrics": []}}`)
	addEntry(t, live, "another", `{"f:spec": {"f:metrics": {}}}`)
	addEntry(t, live, "same", `{"f:spec": {"f:minReplicas": {}}}`)
	addEntry(t, live, "other", `{"f:spec": {"f:maxReplicas": {}, "f:targetCPUUtilizationPercentage": {}}}`)
	for _, entry := range live["metadata"].(map[string]any)["managedFields"].([]any) {
		entry.(map[string]any)["apiVersion"] = "autoscaling/v1"
	}
	m := manifestOf(t, live, Selection{Strategy: ManagerFields, Manager: "same"})
	assert.Equal(t, map[string]any{"minReplicas": int64(1)}, m.Object["spec"], "a field that is in the same place in both versions")

	_, err := NewManifest(live, Selection{Strategy: ManagerFields, Manager: "other"})
	var versionErr *VersionError
	require.ErrorAs(t, err, &versionErr)
	assert.Equal(t, foreign.Text("autoscaling/v1"), versionErr.Owner.APIVersion)
	assert.EqualError(t, err, `fieldowner: "other" (Apply) wrote spec.targetCPUUtilizationPercentage in autoscaling/v1, `+
		`but the object was read in autoscaling/v2, which lacks that field; read it in autoscaling/v1`)
}

// A selection that says something that wouldn't count would import something else than is meant.
func TestManifestOfWrongSelections(t *testing.T) {
	for _, row := range []struct {
		sel Selection
		err string
	}{
		{Selection{Manager: "helm"}, `fieldowner: selection: a manager, operation or subresource needs the strategy "manager"`},
		{Selection{Strategy: UnownedFields, Manager: "helm"}, `fieldowner: selection: a manager, operation or subresource needs the strategy "manager"`},
		{Selection{Operation: OperationApply}, `fieldowner: selection: a manager, operation or subresource needs the strategy "manager"`},
		{Selection{Strategy: UnownedFields, Subresource: "status"}, `fieldowner: selection: a manager, operation or subresource needs the strategy "manager"`},
		{Selection{Strategy: "managers", Manager: "helm"}, `fieldowner: selection: unknown strategy "managers"`},
		{Selection{Strategy: ManagerFields}, `fieldowner: selection: no manager`},
		{Selection{Strategy: ManagerFields, Manager: "helm", Operation: "Patch"}, `fieldowner: selection: unknown operation "Patch"`},
		{Selection{Strategy: ManagerFields, Manager: "helm", Subresource: "scale"}, `fieldowner: selection: a subresource without an operation`},
	} {
		_, err := NewManifest(recorded(t, "live.json"), row.sel)
		assert.EqualError(t, err, row.err, "%+v", row.sel)
	}
}

func TestManifestOfBrokenObjects(t *testing.T) {
	_, err := NewManifest(decoded(t, `{"metadata": {"managedFields": [1]}}`), Selection{})
	assert.EqualError(t, err, "fieldowner: managedFields[0]: expected a map, got int64")
	for _, text := range []string{
		`null`, `{}`, `{"metadata": null}`, `{"metadata": {"name": {"x": 1}}}`,
		`{"metadata": {"managedFields": [{"manager": "m", "operation": "Apply", "fieldsV1": {".": {}}}]}}`,
	} {
		for _, sel := range []Selection{{}, {Strategy: UnownedFields}, {Strategy: ManagerFields, Manager: "m"}} {
			assert.Equal(t, map[string]any{"metadata": map[string]any{}}, manifestOf(t, decoded(t, text), sel).Object, "%s", text)
		}
	}
}
