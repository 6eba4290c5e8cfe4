package fieldowner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// TestOwners writes one object in every way, and asks who owns what.
func TestOwners(t *testing.T) {
	start := time.Now().Truncate(time.Second)
	c := newCluster(t)
	full, _ := webManifest(t)
	web := c.object(t, deployments, "web")
	web.mustApply(full, "deployer")
	_, err := web.merge(map[string]any{"spec": map[string]any{"replicas": 5}}, "autoscaler", "scale")
	require.NoError(t, err)
	_, err = web.merge(map[string]any{"status": map[string]any{"replicas": 5}}, "controller", "status")
	require.NoError(t, err)
	require.NoError(t, web.replace("editor", func(obj map[string]any) {
		u := &unstructured.Unstructured{Object: obj}
		u.SetFinalizers([]string{"ex.io/cleanup"})
		u.SetLabels(map[string]string{"app": "web", "ex.io/tier.one": "back"})
	}))
	o := read(t, web.get())

	for text, want := range map[string]string{
		`metadata.labels.app`:                            `["deployer" (Apply)]`,
		`metadata.labels["ex.io/tier.one"]`:              `["editor" (Update)]`,
		`metadata.finalizers[="ex.io/cleanup"]`:          `["editor" (Update)]`,
		`metadata.labels`:                                `[]`,
		`spec.replicas`:                                  `["autoscaler" (Update of scale)]`,
		`spec.selector.matchLabels.app`:                  `["deployer" (Apply)]`,
		`spec.template.spec.containers[name="app"]`:      `["deployer" (Apply)]`,
		`spec.template.spec.containers[name="app"].name`: `["deployer" (Apply)]`,
		`spec.template.spec.nodeSelector.disk`:           `["deployer" (Apply)]`,
		`spec.strategy.type`:                             `[]`,
		`status.replicas`:                                `["controller" (Update of status)]`,
	} {
		p, err := projection.ParsePath(text)
		require.NoError(t, err)
		assert.Equal(t, want, fmt.Sprint(o.Of(p)), text)
	}
	for _, e := range o.Entries() {
		assert.Equal(t, foreign.Text("apps/v1"), e.APIVersion, "%s", e.Owner)
		recent := !e.Time.Before(start) && !e.Time.After(time.Now())
		assert.True(t, recent || e.Time.IsZero() && e.Subresource == "scale", "%s: %s", e.Owner, e.Time)
	}
}

// TestAncientChanges has more updaters than the server keeps apart.
func TestAncientChanges(t *testing.T) {
	c := newCluster(t)
	conf := c.object(t, configMaps, "conf")
	conf.mustApply(manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: x}}%s`, ""), tool)
	for i := range 16 {
		_, err := conf.merge(map[string]any{"data": map[string]any{fmt.Sprint("k", i): "x"}}, fmt.Sprint("m", i))
		require.NoError(t, err)
	}
	live := conf.get()
	o := read(t, live)
	isAncient := func(e fieldowner.Entry) bool { return e.Manager == "ancient-changes" }
	require.True(t, slices.ContainsFunc(o.Entries(), isAncient), "%v", ownerLines(o))

	changed := manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: x, k0: z, k15: z}}%s`, "")
	predicted, err := fieldowner.PredictConflicts(live, changed, fields(t, "data.a", "data.k0", "data.k15"), fieldowner.Applier{Manager: tool})
	require.NoError(t, err)
	_, err = conf.apply(changed, tool, applyOptions{})
	conflicts := fieldowner.ConflictsFromError(err, live)
	assert.Len(t, conflicts, 2)
	assert.Equal(t, conflicts, predicted)
}

// TestConflictForgivenToKubectl has a field that client-side apply set, and that kubectl may therefore change.
func TestConflictForgivenToKubectl(t *testing.T) {
	c := newCluster(t)
	c.kubectl(t, manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: x, b: x}}%s`, ""), "apply", "-f", "-")
	conf := c.object(t, configMaps, "conf")
	_, err := conf.merge(map[string]any{"data": map[string]any{"b": "y"}}, "editor")
	require.NoError(t, err)
	live := conf.get()

	changed := manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: z, b: z}}%s`, "")
	for manager, want := range map[string][]string{
		tool:      {`data.a: owned by "kubectl-client-side-apply" (Update)`, `data.b: owned by "editor" (Update)`},
		"kubectl": {`data.b: owned by "editor" (Update)`},
	} {
		predicted, err := fieldowner.PredictConflicts(live, changed, fields(t, "data.a", "data.b"), fieldowner.Applier{Manager: manager})
		require.NoError(t, err)
		_, err = conf.apply(changed, manager, applyOptions{})
		assert.Equal(t, want, conflictLines(fieldowner.ConflictsFromError(err, live)), manager)
		assert.Equal(t, want, conflictLines(predicted), manager)
	}
}

// TestConflictsOfAmbiguousPaths has two fields that the server's error calls by the same name.
func TestConflictsOfAmbiguousPaths(t *testing.T) {
	c := newCluster(t)
	gadget := c.object(t, gadgets, c.Namespace)
	gadget.mustApply(manifest(t, `{apiVersion: owners.example.com/v1, kind: Gadget, metadata: {name: %s}, spec: {a.b: x}}`, c.Namespace), "flat")
	live := gadget.mustApply(manifest(t, `{apiVersion: owners.example.com/v1, kind: Gadget, metadata: {name: %s}, spec: {a: {b: x}}}`, c.Namespace), "deep")
	_, err := gadget.apply(manifest(t, `{apiVersion: owners.example.com/v1, kind: Gadget, metadata: {name: %s}, spec: {a.b: z, a: {b: z}}}`, c.Namespace),
		tool, applyOptions{})
	assert.Equal(t, []string{`spec.a.b: owned by "deep" (Apply)`, `spec["a.b"]: owned by "flat" (Apply)`},
		conflictLines(fieldowner.ConflictsFromError(err, live)))
}

// TestShareAndTakeWithoutAChangeOfValue looks at what an apply does to ownership alone.
func TestShareAndTakeWithoutAChangeOfValue(t *testing.T) {
	c := newCluster(t)
	conf := c.object(t, configMaps, "conf")
	text := `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {%s}}`
	before := conf.mustApply(manifest(t, text, "a: x, b: x"), "first")
	shared := conf.mustApply(manifest(t, text, "a: x"), tool)
	assert.Equal(t, []string{`data.a: shared with "first" (Apply)`}, changeLines(fieldowner.Compare(read(t, before), read(t, shared), fieldowner.Applier{Manager: tool})))

	taken := conf.mustApply(manifest(t, text, "a: z, b: z"), tool)
	assert.Equal(t, []string{`data.a: taken from "first" (Apply)`, `data.b: taken from "first" (Apply)`},
		changeLines(fieldowner.Compare(read(t, shared), read(t, taken), fieldowner.Applier{Manager: tool})))
	assert.Equal(t, []string{`data.a: given up, still owned by "my-tool" (Apply)`, `data.b: lost to "my-tool" (Apply)`},
		changeLines(fieldowner.Compare(read(t, shared), read(t, taken), fieldowner.Applier{Manager: "first"})), "as the one who lost them sees it")

	shared = conf.mustApply(manifest(t, text, "a: z"), "first")
	given := conf.mustApply(manifest(t, text, "c: x"), tool)
	assert.Equal(t, []string{`data.a: given up, still owned by "first" (Apply)`, "data.b: given up"},
		changeLines(fieldowner.Compare(read(t, shared), read(t, given), fieldowner.Applier{Manager: tool})))
	dropped := read(t, shared).Dropped(read(t, given), shared, given, fieldowner.Applier{Manager: tool})
	assert.Equal(t, `[data.a: retained by "first" (Apply) data.b: deleted]`, fmt.Sprint(dropped))
}
