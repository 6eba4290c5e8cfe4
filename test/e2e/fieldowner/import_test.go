package fieldowner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/test/lab"
)

// TestImportStrategies imports an object in each way as a manager that is new to it: the first apply may add an owner,
// and changes nothing else, and the second is a no-op.
func TestImportStrategies(t *testing.T) {
	c := newCluster(t)
	full, _ := webManifest(t)
	for name, sel := range map[string]fieldowner.Selection{
		"all":     {},
		"unowned": {Strategy: fieldowner.UnownedFields},
		"updater": {Strategy: fieldowner.ManagerFields, Manager: "autoscaler"},
		"applier": {Strategy: fieldowner.ManagerFields, Manager: "deployer"},
	} {
		t.Run(name, func(t *testing.T) {
			full["metadata"].(map[string]any)["name"] = name
			web := c.object(t, deployments, name)
			web.mustApply(full, "deployer")
			_, err := web.merge(map[string]any{"spec": map[string]any{"replicas": 5}}, "autoscaler", "scale")
			require.NoError(t, err)
			before := web.get()

			m, err := fieldowner.NewManifest(before, sel)
			require.NoError(t, err)
			imported, err := web.apply(m.Object, "importer")
			require.NoError(t, err, "%v", m.Object)
			assertValues(t, before, imported, m.Object)
			owned := read(t, imported).Fields(fieldowner.Applier{Manager: "importer"}.Is)
			assert.False(t, owned.Empty())

			again, err := web.apply(m.Object, "importer")
			require.NoError(t, err)
			assert.Equal(t, imported, again)
		})
	}
}

// TestImportOfAStatus imports what a manager applied to the status, as another manager, and what it applied to the
// object itself, though both have one name. Neither is a part of the other, and no value changes.
func TestImportOfAStatus(t *testing.T) {
	c := newCluster(t)
	full, _ := webManifest(t)
	web := c.object(t, deployments, "web")
	web.mustApply(full, "controller")
	status := manifest(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, status: {replicas: 2,
		readyReplicas: 1, conditions: [{type: Available, status: "True", reason: Tested}]}}%s`, "")
	_, err := web.apply(status, "controller", "status")
	require.NoError(t, err)
	before := web.get()
	for subresource, other := range map[string]string{"status": "spec", "": "status"} {
		m, err := fieldowner.NewManifest(before, fieldowner.Selection{
			Strategy: fieldowner.ManagerFields, Manager: "controller",
			Operation: fieldowner.OperationApply, Subresource: subresource,
		})
		require.NoError(t, err)
		require.Empty(t, m.Missing)
		require.NotContains(t, m.Object, other)
		var sub []string
		if subresource != "" {
			sub = append(sub, subresource)
			require.Equal(t, status["status"], m.Object["status"], "what was applied")
		}
		imported, err := web.apply(m.Object, "importer", sub...)
		require.NoError(t, err, "%v", m.Object)
		assertValues(t, before, imported, m.Object)
		owned := func(manager string) fieldowner.Applier {
			return fieldowner.Applier{Manager: manager, Subresource: subresource}
		}
		owners := read(t, imported)
		assert.True(t, owners.Fields(owned("importer").Is).Equal(owners.Fields(owned("controller").Is)), "%v", owners)
		again, err := web.apply(m.Object, "importer", sub...)
		require.NoError(t, err)
		assert.Equal(t, imported, again)
	}
}

// TestImportOfAClientSideApplier imports what kubectl create and kubectl apply left behind, defaults included.
func TestImportOfAClientSideApplier(t *testing.T) {
	c := newCluster(t)
	full, _ := webManifest(t)
	c.kubectl(t, full, "apply", "-f", "-")
	web := c.object(t, deployments, "web")
	before := web.get()
	m, err := fieldowner.NewManifest(before, fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: fieldowner.ClientSideApply})
	require.NoError(t, err)
	assert.NotContains(t, (&unstructured.Unstructured{Object: m.Object}).GetAnnotations(), "kubectl.kubernetes.io/last-applied-configuration")
	after, err := web.apply(m.Object, "importer")
	require.NoError(t, err)
	assertValues(t, before, after, m.Object)
}

// TestImportOfAnotherVersion has an autoscaler that was applied as v1, where its target stands elsewhere than in v2.
func TestImportOfAnotherVersion(t *testing.T) {
	c := newCluster(t)
	hpa := c.object(t, autoscalers, "hpa")
	hpa.in("autoscaling/v1").mustApply(manifest(t, `
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: hpa}
spec: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}%s`, ""), "applier")

	sel := fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "applier"}
	_, err := fieldowner.NewManifest(hpa.get(), sel)
	var versionErr *fieldowner.VersionError
	require.ErrorAs(t, err, &versionErr)
	require.Equal(t, foreign.Text("autoscaling/v1"), versionErr.Owner.APIVersion)

	v1 := hpa.in(string(versionErr.Owner.APIVersion))
	before := v1.get()
	m, err := fieldowner.NewManifest(before, sel)
	require.NoError(t, err)
	after, err := v1.apply(m.Object, "applier")
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// TestImportOfStringData has a Secret that was applied with stringData, of which the server keeps only data.
func TestImportOfStringData(t *testing.T) {
	c := newCluster(t)
	secret := c.object(t, secrets, "s")
	before := secret.mustApply(manifest(t, `{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: x, b: z}}%s`, ""), "applier")
	m, err := fieldowner.NewManifest(before, fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "applier"})
	require.NoError(t, err)
	assert.Equal(t, before["data"], m.Object["data"])
	after, err := secret.apply(m.Object, "applier")
	require.NoError(t, err)
	assert.Equal(t, before["data"], after["data"])
	without := secret.mustApply(manifest(t, `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: eA==}}%s`, ""), "applier")
	assert.Equal(t, map[string]any{"a": "eA=="}, without["data"], "what is now owned as data can be removed")
}

// TestEmptyMetadataOfCustomResources shows why no import writes an empty map into a custom resource's metadata. The
// server stores the object again at every such apply, even if the same apply came before. While the server's watch
// cache lacks the object, the server compares with the object in etcd, which keeps the empty map. It then stores the
// object once a second, the resolution of the times in managedFields.
func TestEmptyMetadataOfCustomResources(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: widgets.owners.example.com}, spec: {group: owners.example.com, scope: Namespaced,
		names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {mode: {type: string, default: auto}}}}}}}]}}`))
	widget := c.object(t, widgets, "w")
	applied := manifest(t, `{apiVersion: owners.example.com/v1, kind: Widget, metadata: {name: w, annotations: {}}, spec: {mode: manual}}%s`, "")
	aSecondLater := func(manifest map[string]any) map[string]any {
		time.Sleep(1100 * time.Millisecond)
		return widget.mustApply(manifest, tool)
	}
	first := widget.mustApply(applied, tool)
	second := aSecondLater(applied)
	assert.NotEqual(t, resourceVersion(first), resourceVersion(second))

	m, err := fieldowner.NewManifest(second, fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: tool})
	require.NoError(t, err)
	require.Len(t, m.Missing, 1)
	assert.Equal(t, "metadata.annotations", m.Missing[0].String())
	imported := widget.mustApply(m.Object, tool)
	assertValues(t, second, imported, m.Object)
	assert.Equal(t, resourceVersion(imported), resourceVersion(aSecondLater(m.Object)))
}

func resourceVersion(obj map[string]any) string {
	return (&unstructured.Unstructured{Object: obj}).GetResourceVersion()
}
