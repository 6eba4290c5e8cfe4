package host_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
	"github.com/ssaplan/primitives/test/lab/servers"
)

const webhook = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: servers}}`

// world is a server with a definition, and an object in a namespace.
type world struct {
	*lab.Cluster
	configMap, vault *unstructured.Unstructured
	definition       identity.Identity
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: lab.New(t)}
	w.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: vaults.servers.example.com}, spec: {
		group: servers.example.com, scope: Namespaced, names: {plural: vaults, singular: vault, kind: Vault}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {pin: {type: string, format: password}}}}}}}]}}`))
	w.definition = identity.Identity{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "vaults.servers.example.com"}
	w.configMap = lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: %s}, data: {a: x}}", w.Namespace)
	w.vault = lab.Objectf(t, "{apiVersion: servers.example.com/v1, kind: Vault, metadata: {name: a, namespace: %s}, spec: {pin: hunter2}}", w.Namespace)
	return w
}

func (w *world) apply(t *testing.T, planner *ssaplan.Planner, manifest *unstructured.Unstructured) {
	t.Helper()
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
	require.NoError(t, err)
	_, err = planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
}

func (w *world) contents(t *testing.T, planner *ssaplan.Planner, of identity.Identity) *deletion.Contents {
	t.Helper()
	plan, err := planner.PlanDelete(t.Context(), deletion.Request{Object: of})
	require.NoError(t, err)
	require.NotNil(t, plan.Contents)
	return plan.Contents
}

// A Planner through another server does all that one for a config does: it counts contents, imports by kind, knows
// passwords, and ends a remembered no-op with a new webhook.
func TestPlannersThroughServers(t *testing.T) {
	for _, name := range servers.All {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			noOps := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10, ServerInterval: time.Nanosecond})
			planner, err := ssaplan.New(servers.New(t, name, w.Config), ssaplan.Options{FieldManager: "m", NoOps: noOps})
			require.NoError(t, err)
			require.Empty(t, planner.Lacks())
			w.apply(t, planner, w.configMap)
			w.apply(t, planner, w.vault)

			contents := w.contents(t, planner, identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: w.Namespace})
			require.Empty(t, contents.Uncounted)
			require.Contains(t, contents.Counts, deletion.Count{Kind: "ConfigMap", Objects: 1})
			require.Contains(t, contents.Counts, deletion.Count{Kind: "Vault", Group: "servers.example.com", Objects: 1})
			contents = w.contents(t, planner, w.definition)
			require.Empty(t, contents.Uncounted)
			require.Len(t, contents.Counts, 1)

			id, err := importid.Parse(w.Namespace + "/Vault/a")
			require.NoError(t, err)
			imported, err := planner.Import(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, "servers.example.com/v1", imported.State.Identity.APIVersion)

			w.vault.Object["spec"] = map[string]any{"pin": "hunter3"}
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: w.vault})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			require.True(t, slices.ContainsFunc(plan.Changes, func(c explain.Change) bool { return c.Sensitive }), plan.Changes)

			hits := func() int64 {
				plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: w.configMap})
				require.NoError(t, err)
				require.Equal(t, ssaplan.ActionNoOp, plan.Action)
				return noOps.Stats().Hits
			}
			before := hits()
			require.Equal(t, before+1, hits(), "remembered")
			require.Empty(t, noOps.Stats().Unseen)
			w.Apply(t, "other", lab.Objectf(t, webhook))
			t.Cleanup(func() { w.Delete(t, lab.Objectf(t, webhook)) })
			require.Equal(t, before+1, hits(), "there is a new webhook")
		})
	}
}

// Without a discovery client, a Planner counts the objects of a definition, and says that it can't count those in a
// namespace.
func TestPlannerWithoutDiscovery(t *testing.T) {
	w := newWorld(t)
	planner, err := ssaplan.New(dynclient.New(w.Client, w.Mapper, dynclient.Options{}), ssaplan.Options{FieldManager: "m"})
	require.NoError(t, err)
	require.Len(t, planner.Lacks(), 3)
	w.apply(t, planner, w.vault)
	contents := w.contents(t, planner, w.definition)
	require.Empty(t, contents.Uncounted)
	require.Len(t, contents.Counts, 1)
	require.Positive(t, contents.Counts[0].Objects)
	contents = w.contents(t, planner, identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: w.Namespace})
	require.Empty(t, contents.Counts)
	require.Len(t, contents.Uncounted, 1)
	require.Contains(t, contents.Uncounted[0].Reason, "server.Discoverer")
}
