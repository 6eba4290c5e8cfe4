package planner_test

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/test/lab"
)

//go:embed testdata/envelope-crd.yaml
var envelopeCRD string

// secretsInside are manifests of objects that have a Secret, or another object with a password, inside of them.
var secretsInside = map[string]string{
	"an embedded Secret":  `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: %d, manifest: {apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {copy: %[3]q}}, stringData: {p: %[3]q}}}}`,
	"Secrets in a list":   `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: %d, manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {p: %[3]q}}]}}`,
	"a List of Secrets":   `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: %d, manifests: [{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {p: %[3]q}}]}]}}`,
	"Secrets by name":     `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: %d, named: [{name: a, manifest: {apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {p: %[3]q}}}]}}`,
	"a kind with marks":   `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: %d, manifest: {apiVersion: secrets.example.com/v1, kind: Database, metadata: {name: a}, spec: {password: %[3]q}}}}`,
	"a kind without them": `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: %d, manifest: {apiVersion: elsewhere.example.com/v1, kind: Login, metadata: {name: a}, spec: {password: %[3]q}}}}`,
	"a manifest as YAML":  `{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {size: "%d", a: "apiVersion: v1\nkind: Secret\nstringData: {p: %[3]s}\n"}}`,
	"a manifest as JSON":  `{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, annotations: {size: "%d", a: '{"apiVersion": "v1", "kind": "Secret", "stringData": {"p": "%[3]s"}}'}}}`,
}

// The secret fields of objects inside of other objects are in no output, and their changes are planned like others.
func TestSecretsInsideOfObjects(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Define(t, lab.Object(t, envelopeCRD), lab.Object(t, databaseCRD))
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager})
	const first, second, theirs = "hunter2-correct-horse", "battery-staple-9", "tr0ub4dor-and-3"
	for why, text := range secretsInside {
		name := strings.ToLower(strings.ReplaceAll(why, " ", "-"))
		object := func(size int, value string) *unstructured.Unstructured { return manifest(t, text, name, size, value) }
		out := &shown{}
		created := out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: object(1, first)}))
		require.NotNil(t, created, "%s: %v", why, out.last)
		obj, err := planner.Apply(lab.Context(t), created)
		require.NoError(t, err, why)
		state, err := created.State(obj)
		out.add(err, state)
		require.NoError(t, err, why)
		require.Equal(t, ssaplan.ActionNoOp, out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: object(1, first), Prior: state})).Action, why)

		update := out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: object(2, second), Prior: state}))
		require.Equal(t, ssaplan.ActionUpdate, update.Action, why)
		require.GreaterOrEqual(t, len(update.Changes), 2, why)
		require.Contains(t, fmt.Sprint(update.Changes), "redacted", why)
		require.Contains(t, fmt.Sprint(update.Changes), "size: ", why)

		c.Apply(t, "rival", object(3, theirs))
		reading, err := planner.Read(t.Context(), state)
		require.NoError(t, err, why)
		out.add(reading.Drift, reading.State)
		require.NotEmpty(t, reading.Drift, why)
		out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: object(1, first), Prior: reading.State}))
		out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: object(1, first)}))
		moved := object(1, first)
		moved.SetName(name + "-moved")
		out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: moved, Prior: state}))

		id, err := importid.Parse(c.Namespace + "/" + obj.GetKind() + "/" + name)
		require.NoError(t, err)
		imported, err := planner.Import(t.Context(), id)
		require.NoError(t, err, why)
		out.add(imported.State, imported.Sensitive, planner.Redactor(imported.Live).Object(imported.Live))
		out.release(planner.PlanRelease(t.Context(), state))
		deletion, err := planner.PlanDelete(t.Context(), deletion.Request{Object: state.Identity, UID: state.UID})
		out.add(err, deletion)
		for _, value := range []string{first, second, theirs} {
			require.Empty(t, leak.In(out.String(), value), "%s: %s in %s", why, value, out)
		}
	}
}

// Nothing is known of the kind of an object that only the live object contains, and that isn't served.
func TestSecretsInsideOfTheLiveObject(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Define(t, lab.Object(t, envelopeCRD))
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager})
	const secret = "hunter2-correct-horse"
	inside := `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: 1, manifest: {apiVersion: v9, kind: Vault, metadata: {name: a}, spec: {token: %q}}}}`
	live := c.Apply(t, manager, manifest(t, inside, "live", secret))
	without := manifest(t, `{apiVersion: secrets.example.com/v1, kind: Envelope, metadata: {name: %s}, spec: {size: 1}}`, "live")
	for _, request := range []ssaplan.Request{{Manifest: without}, {Manifest: without, Live: live}} {
		out := &shown{}
		plan := out.plan(planner.Plan(t.Context(), request))
		require.NoError(t, out.last)
		require.NotEmpty(t, plan.Changes)
		require.Empty(t, leak.In(out.String(), secret), "%s", out)
	}
}
