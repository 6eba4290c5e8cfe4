package fieldowner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

const tool = "my-tool"

// web is a Deployment. The tests add and remove a text in place of each %s.
const web = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web%s}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: app:1
        ports: [{containerPort: 80}]
        env: [{name: MODE, value: prod}%s]
%s`

func webManifest(t *testing.T) (full, reduced map[string]any) {
	full = manifest(t, web, ", ex.io/tier.one: front", ", {name: OLD, value: x}", "      nodeSelector: {disk: ssd}\n")
	return full, manifest(t, web, "", "", "")
}

// droppedFields are those that the reduced manifest leaves out.
func droppedFields(t *testing.T) projection.FieldSet {
	return fields(t, `metadata.labels["ex.io/tier.one"]`,
		`spec.template.spec.containers[name="app"].env[name="OLD"]`, "spec.template.spec.nodeSelector")
}

func fields(t *testing.T, paths ...string) projection.FieldSet {
	t.Helper()
	all := make([]projection.Path, len(paths))
	for i, text := range paths {
		p, err := projection.ParsePath(text)
		require.NoError(t, err)
		all[i] = p
	}
	return projection.NewFieldSet(all...)
}

func missing(obj map[string]any, set projection.FieldSet) int {
	return len(projection.Project(obj, set).Missing)
}

// TestMigrateFromClientSideApply goes from the real kubectl apply to server-side apply by a tool of its own name.
func TestMigrateFromClientSideApply(t *testing.T) {
	c := newCluster(t)
	full, reduced := webManifest(t)
	c.kubectl(t, full, "apply", "-f", "-")
	full["spec"].(map[string]any)["replicas"] = int64(3)
	c.kubectl(t, full, "apply", "-f", "-")
	web := c.object(t, deployments, "web")
	before := web.get()
	require.Equal(t, []string{fieldowner.ClientSideApply}, fieldowner.ClientSideAppliers(read(t, before)))

	after, err := web.handOver(fieldowner.Migrate(before, tool, fieldowner.ClientSideApply))
	require.NoError(t, err)
	assertValues(t, before, after, nil)
	entries := read(t, after).Entries()
	require.Len(t, entries, 1)
	assert.Equal(t, foreign.Text(tool), entries[0].Manager)
	assert.Equal(t, fieldowner.OperationApply, entries[0].Operation)
	assert.True(t, read(t, before).Fields(fieldowner.By(fieldowner.ClientSideApply)).Equal(entries[0].Fields), "nothing is lost")

	again, err := fieldowner.Migrate(after, tool, fieldowner.ClientSideApply)
	require.NoError(t, err)
	assert.True(t, again.Empty(), "twice is once")

	reduced["spec"].(map[string]any)["replicas"] = int64(3)
	applied, err := web.apply(reduced, tool)
	require.NoError(t, err, "the tool conflicts with nobody")
	assert.Equal(t, 3, missing(applied, droppedFields(t)), "what is left out of the manifest is removed")
	assert.Empty(t, applied["metadata"].(map[string]any)["annotations"], "and so is the annotation of client-side apply")
	assert.EqualValues(t, 3, applied["spec"].(map[string]any)["replicas"])
}

// TestMigrateFromBeforeFirstApply migrates an object whose writers weren't recorded.
func TestMigrateFromBeforeFirstApply(t *testing.T) {
	c := newCluster(t)
	full, reduced := webManifest(t)
	web := c.object(t, deployments, "web")
	web.mustApply(full, "forgotten")
	untracked, err := web.merge(map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}}}, "forgotten")
	require.NoError(t, err)
	require.False(t, read(t, untracked).Recorded())

	changed := manifest(t, web0, "")
	predicted, err := fieldowner.PredictConflicts(untracked, changed, fields(t, "spec.replicas"), fieldowner.Applier{Manager: tool})
	require.NoError(t, err)
	_, err = web.apply(changed, tool)
	conflicts := fieldowner.ConflictsFromError(err, untracked)
	require.Equal(t, []string{`spec.replicas: owned by "before-first-apply" (Update)`}, conflictLines(conflicts))
	assert.Equal(t, conflicts, predicted)

	before := web.mustApply(reduced, tool)
	require.Zero(t, missing(before, droppedFields(t)), "the fields are owned by %s", fieldowner.BeforeFirstApply)
	after, err := web.handOver(fieldowner.Migrate(before, tool, fieldowner.BeforeFirstApply))
	require.NoError(t, err)
	assertValues(t, before, after, nil)
	applied, err := web.apply(reduced, tool)
	require.NoError(t, err)
	assert.Equal(t, 3, missing(applied, droppedFields(t)))
}

// web0 changes the replicas and declares nothing else.
const web0 = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0}}%s`

func conflictLines(conflicts []fieldowner.Conflict) []string {
	var lines []string
	for _, c := range conflicts {
		lines = append(lines, c.String())
	}
	return lines
}

// TestStalePatchIsRefused changes the object between reading it and sending the patch.
func TestStalePatchIsRefused(t *testing.T) {
	c := newCluster(t)
	full, _ := webManifest(t)
	c.kubectl(t, full, "apply", "-f", "-")
	web := c.object(t, deployments, "web")
	before := web.get()
	_, err := web.merge(map[string]any{"spec": map[string]any{"replicas": 7}}, "somebody")
	require.NoError(t, err)

	_, err = web.handOver(fieldowner.Migrate(before, tool, fieldowner.ClientSideApply))
	assert.True(t, apierrors.IsConflict(err), "%v", err)
}

func TestRename(t *testing.T) {
	c := newCluster(t)
	full, reduced := webManifest(t)
	web := c.object(t, deployments, "web")
	web.mustApply(full, "old-name")
	_, err := web.merge(map[string]any{"status": map[string]any{"observedGeneration": 1}}, "old-name", "status")
	require.NoError(t, err)
	before := web.get()

	after, err := web.handOver(fieldowner.Rename(before, "old-name", "new-name"))
	require.NoError(t, err)
	assertValues(t, before, after, nil)
	assert.Equal(t, []string{`"new-name" (Apply)`, `"new-name" (Update of status)`}, ownerLines(read(t, after)))

	applied, err := web.apply(reduced, "new-name")
	require.NoError(t, err)
	assert.Equal(t, 3, missing(applied, droppedFields(t)), "the new name can remove what the old one set")
}

func ownerLines(o fieldowner.Ownership) []string {
	var lines []string
	for _, e := range o.Entries() {
		lines = append(lines, e.Owner.String())
	}
	return lines
}

// TestGiveUp gives up fields before it stops sending them, so that they stay as they are.
func TestGiveUp(t *testing.T) {
	c := newCluster(t)
	full, reduced := webManifest(t)
	web := c.object(t, deployments, "web")
	before := web.mustApply(full, tool)

	after, err := web.handOver(fieldowner.GiveUp(before, fieldowner.Applier{Manager: tool}, droppedFields(t)))
	require.NoError(t, err)
	assertValues(t, before, after, nil)
	for p := range droppedFields(t).All() {
		assert.Empty(t, read(t, after).Below(p), "%s is nobody's", p)
	}
	applied, err := web.apply(reduced, tool)
	require.NoError(t, err)
	assert.Zero(t, missing(applied, droppedFields(t)), "what was given up stays")
}

// TestGiveUpEverything leaves an object without a record, which is for the server as if it had never been applied.
func TestGiveUpEverything(t *testing.T) {
	c := newCluster(t)
	conf := c.object(t, configMaps, "conf")
	before := conf.mustApply(manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: x}}%s`, ""), tool)
	after, err := conf.handOver(fieldowner.GiveUp(before, fieldowner.Applier{Manager: tool}, fields(t, "data")))
	require.NoError(t, err)
	assertValues(t, before, after, nil)
	assert.False(t, read(t, after).Recorded())
	next := conf.mustApply(manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {b: z}}%s`, ""), tool)
	assert.Equal(t, []string{`"before-first-apply" (Update)`, `"my-tool" (Apply)`}, ownerLines(read(t, next)))
}

// TestPatchesAreJSONPatches makes sure of the content type that the documentation names.
func TestPatchesAreJSONPatches(t *testing.T) {
	c := newCluster(t)
	conf := c.object(t, configMaps, "conf")
	before := conf.mustApply(manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: x}}%s`, ""), "old")
	handover, err := fieldowner.Rename(before, "old", "new")
	require.NoError(t, err)
	patch, err := handover.Patch()
	require.NoError(t, err)
	_, err = conf.patch(types.MergePatchType, patch, metav1.PatchOptions{})
	assert.Error(t, err)
	_, err = conf.patch(types.JSONPatchType, patch, metav1.PatchOptions{})
	assert.NoError(t, err)
}
