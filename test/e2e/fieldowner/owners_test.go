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
	_, err = conf.apply(changed, tool)
	conflicts := fieldowner.ConflictsFromError(err, live)
	assert.Len(t, conflicts, 2)
	assert.Equal(t, conflicts, predicted)
}
