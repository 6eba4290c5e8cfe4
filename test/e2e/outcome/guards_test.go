package outcome_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// What stands in front of a server can take away or forge what writes are guarded by. No plan is made of that.
func TestPlansNeedWhatGuardsThem(t *testing.T) {
	c := newCluster(t)
	for _, row := range []struct {
		fault faultproxy.Fault
		read  string // what the error says if it is in the read, and try if it is in the dry run
		try   string
	}{
		{faultproxy.WithoutVersion(), "no metadata.resourceVersion", "no metadata.resourceVersion"},
		{faultproxy.NumericVersion(), "no metadata.resourceVersion", "no metadata.resourceVersion"},
		{faultproxy.WithoutUID(), "no metadata.uid", "no metadata.uid"},
		{faultproxy.OtherName(), "the answer is not this object", "the answer is not this object"},
		{faultproxy.OtherNamespace(), "the answer is not this object", "the answer is not this object"},
		{faultproxy.OtherUID(), "another object of the same version", "another object of the same version"},
		{faultproxy.OldVersion(), "", "which is older"},
	} {
		for i, op := range operations {
			if op.before == "" || op.after == "" || op.renames {
				continue
			}
			t.Run(row.fault.String()+"/"+op.name, func(t *testing.T) {
				a := op.plans(t, c, "guarded-"+string(rune('a'+i)))
				defer a.remove(t)
				request := ssaplan.Request{Manifest: a.manifest, Subresource: op.subresource}
				for n, want := range []string{row.read, row.try} {
					if want == "" || a.plan.Action == ssaplan.ActionReplace && (n == 1 || row.fault.String() == "another uid") {
						continue // the dry run is refused, and the delete guarded by a uid that no object has
					}
					c.proxy.Heal()
					planner := c.planner(t, c.proxy, 10*time.Second)
					_, err := planner.Read(t.Context(), a.state) // and so the kind is known
					require.NoError(t, err)
					c.proxy.Inject(n+1, row.fault)
					_, err = planner.Plan(t.Context(), request)
					require.ErrorContains(t, err, want)
				}
				require.Equal(t, a.before, c.Get(t, a.old), "nothing was written")
			})
		}
	}
}

// A proxy that drops dryRun makes plans write. The Planner notices, and plans nothing through it.
func TestDryRunsThatWrite(t *testing.T) {
	c := newCluster(t)
	for i, op := range operations {
		if op.after == "" || op.name == "replace, its create" {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			a := op.plans(t, c, "dropped-"+string(rune('a'+i)))
			defer a.remove(t)
			c.proxy.InjectFrom(1, faultproxy.WithoutDryRun())
			planner := c.planner(t, c.proxy, 10*time.Second)
			request := ssaplan.Request{Manifest: a.manifest, Subresource: op.subresource}
			if op.renames {
				request.Prior = a.state
			}
			plan, err := planner.Plan(t.Context(), request)
			require.ErrorContains(t, err, "drops dryRun", "%v", plan)
		})
	}
}

// A cache in front of a server answers reads with what was there.
func TestReadsFromACache(t *testing.T) {
	c := newCluster(t)
	m := lab.Objectf(t, settings, "cached")
	healthy := c.Planner(t, ssaplan.Options{FieldManager: manager})
	for _, value := range []string{"1", "2"} {
		require.NoError(t, unstructured.SetNestedField(m.Object, value, "data", "a"))
		plan, err := healthy.Plan(t.Context(), ssaplan.Request{Manifest: m})
		require.NoError(t, err)
		_, err = healthy.Apply(t.Context(), plan)
		require.NoError(t, err)
		if value == "1" {
			c.proxy.InjectReads(c.proxy.Recorded("/api/v1/namespaces/" + c.Namespace + "/configmaps/cached"))
		}
	}
	planner := c.planner(t, c.proxy, 10*time.Second)
	_, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: m})
	require.ErrorContains(t, err, "answers from a cache")
	assert.Equal(t, "2", c.Get(t, m).Object["data"].(map[string]any)["a"])
}
