package scale_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  uid: u
  resourceVersion: "7"
  labels: {a: b}
  managedFields:
  - {manager: me, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:paused": {}}}}
  - {manager: hpa, operation: Update, subresource: scale, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
  - nonsense
spec: {replicas: 2, paused: true}
status: {replicas: 1}
`

var me = fieldowner.Applier{Manager: "me", Subresource: "scale"}

func object(t *testing.T, text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

func owners(t *testing.T, obj *unstructured.Unstructured) (out []string) {
	record, err := fieldowner.Read(obj.Object)
	require.NoError(t, err)
	for _, entry := range record.Entries() {
		require.Equal(t, "spec.replicas\n", entry.Fields.String())
		out = append(out, entry.String())
	}
	return out
}

// A Scale without a known owner has no managedFields, as an object without owners. An empty list would be something
// else.
func TestOf(t *testing.T) {
	of := scale.Of(object(t, deployment), nil)
	require.Equal(t, []string{`"hpa" (Update of scale)`}, owners(t, of))
	of.SetManagedFields(nil)
	require.Equal(t, object(t, `{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: web, namespace: shop, uid: u,
		resourceVersion: "7"}, spec: {replicas: 2}}`).Object, of.Object)
	require.Empty(t, scale.Of(object(t, "{metadata: {managedFields: nonsense}}"), nil).GetManagedFields())
	unowned := scale.Of(object(t, "{metadata: {name: web}, spec: {replicas: 2}}"), nil)
	require.Equal(t, map[string]any{"name": "web"}, unowned.Object["metadata"])
}

func TestApplied(t *testing.T) {
	before := scale.Of(object(t, deployment), nil)
	same, other := object(t, `{metadata: {name: web}, spec: {replicas: 2}}`), object(t, `{metadata: {name: web}, spec: {replicas: 3}}`)

	shared := scale.Applied(same, before, me, "apps/v1")
	require.Equal(t, []string{`"hpa" (Update of scale)`, `"me" (Apply of scale)`}, owners(t, shared))
	require.Equal(t, "apps/v1", shared.GetManagedFields()[1].APIVersion)
	require.Equal(t, shared.Object, scale.Applied(same, shared, me, "apps/v1").Object, "again, nothing changes, not even the order")

	taken := scale.Applied(other, shared, me, "apps/v1")
	require.Equal(t, []string{`"me" (Apply of scale)`}, owners(t, taken))
	require.EqualValues(t, 3, taken.Object["spec"].(map[string]any)["replicas"])
	require.Equal(t, []string{`"me" (Apply of scale)`}, owners(t, scale.Applied(other, nil, me, "apps/v1")), "of what couldn't be read")

	for why, applier := range map[string]fieldowner.Applier{
		"another manager": {Manager: "you", Subresource: "scale"}, "another subresource": {Manager: "me", Subresource: "status"},
	} {
		require.Len(t, owners(t, scale.Applied(same, scale.Applied(same, nil, me, "apps/v1"), applier, "apps/v1")), 2, why)
	}
	unowned := object(t, `{metadata: {name: web}, spec: {replicas: 2}}`)
	require.Equal(t, []string{`"before-first-apply" (Update of scale)`, `"me" (Apply of scale)`}, owners(t, scale.Applied(same, unowned, me, "apps/v1")),
		"a number that nobody owns stays")
	require.Equal(t, []string{`"me" (Apply of scale)`}, owners(t, scale.Applied(other, unowned, me, "apps/v1")), "it changes")
	zero := object(t, `{metadata: {name: web}}`)
	zero.Object["spec"] = map[string]any{"replicas": int64(0)}
	require.Equal(t, []string{`"me" (Apply of scale)`}, owners(t, scale.Applied(zero, zero, me, "apps/v1")), "what every scale has")
	require.Equal(t, zero.Object["spec"], scale.Applied(object(t, `{metadata: {name: web}, spec: {}}`), unowned, me, "apps/v1").Object["spec"], "0 is left out")
	updated := scale.Of(object(t, deployment), nil)
	require.Len(t, owners(t, scale.Applied(same, updated, fieldowner.Applier{Manager: "hpa", Subresource: "scale"}, "apps/v1")), 2, "an update is another owner")
}

// TestAppliedSplitsUpdates checks how the entry of an update is split if it has more fields than the replicas. A real
// server shows it in test/e2e/proof/testdata/cases/scale-of-another.yaml.
func TestAppliedSplitsUpdates(t *testing.T) {
	record := func(obj *unstructured.Unstructured) (lines []string) {
		for _, entry := range obj.GetManagedFields() {
			timed := ""
			if entry.Time != nil {
				timed = " timed"
			}
			lines = append(lines, entry.Manager+" "+string(entry.Operation)+timed+" "+string(entry.FieldsV1.Raw))
		}
		return lines
	}
	same := object(t, `{metadata: {name: web}, spec: {replicas: 2}}`)
	other := object(t, `{metadata: {name: web}, spec: {replicas: 3}}`)
	const time = `time: "2026-01-01T00:00:00Z", `
	const of = `apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: `
	with := func(entries string) *unstructured.Unstructured {
		return object(t, "{metadata: {name: web, managedFields: ["+entries+"]}, spec: {replicas: 2}}")
	}
	const mine = `me Apply {"f:spec":{"f:replicas":{}}}`
	const replicas, labels = `{"f:spec":{"f:replicas":{}}}`, `{"f:metadata":{"f:labels":{}}}`
	for _, row := range []struct {
		why, entries  string
		stays, stolen []string
	}{
		{"an update of more than the replicas is split, and its fields stay",
			`{manager: ann, operation: Update, ` + time + of + `{"f:spec": {"f:replicas": {}, "f:paused": {}}}}`,
			[]string{"ann Update " + replicas, `ann Update timed {"f:spec":{"f:paused":{}}}`, mine},
			[]string{`ann Update timed {"f:spec":{"f:paused":{}}}`, mine}},
		{"also if nothing else is in the spec",
			`{manager: ann, operation: Update, ` + time + of + `{"f:metadata": {"f:labels": {}}, "f:spec": {"f:replicas": {}}}}`,
			[]string{"ann Update " + replicas, "ann Update timed " + labels, mine},
			[]string{"ann Update timed " + labels, mine}},
		{"an update of nothing else loses its time",
			`{manager: ann, operation: Update, ` + time + of + replicas + `}`,
			[]string{"ann Update " + replicas, mine},
			[]string{mine}},
		{"an apply is found again, in every version",
			`{manager: ann, operation: Apply, ` + time + of + `{"f:metadata": {"f:labels": {}}, "f:spec": {"f:replicas": {}}}}`,
			[]string{`ann Apply timed {"f:metadata":{"f:labels":{}},"f:spec":{"f:replicas":{}}}`, mine},
			[]string{"ann Apply timed " + labels, mine}},
		{"of two entries the last one counts",
			`{manager: ann, operation: Update, ` + of + replicas + `}, ` +
				`{manager: ann, operation: Update, ` + time + of + labels + `}, ` +
				`{manager: me, operation: Apply, subresource: scale, ` + of + replicas + `}`,
			[]string{"ann Update timed " + labels, mine},
			[]string{"ann Update timed " + labels, mine}},
		{"a number of which no entry counts was there before",
			`{manager: ann, operation: Update, ` + of + replicas + `}, ` +
				`{manager: ann, operation: Update, ` + time + of + labels + `}`,
			[]string{"ann Update timed " + labels, "before-first-apply Update " + replicas, mine},
			[]string{"ann Update timed " + labels, mine}},
		{"an update in another version is of another owner",
			`{manager: ann, operation: Update, ` + of + replicas + `}, ` +
				`{manager: ann, operation: Update, apiVersion: apps/v1beta1, fieldsType: FieldsV1, fieldsV1: ` + replicas + `}`,
			[]string{"ann Update " + replicas, "ann Update " + replicas, mine},
			[]string{mine}},
	} {
		before := scale.Of(with(row.entries), nil)
		copied := before.DeepCopy()
		require.Equal(t, row.stays, record(scale.Applied(same, before, me, "apps/v1")), row.why)
		require.Equal(t, row.stolen, record(scale.Applied(other, before, me, "apps/v1")), "%s; the number changes", row.why)
		require.Equal(t, copied, before, "the input is left alone")
	}
	require.NotPanics(t, func() {
		odd := with(`{manager: {}, operation: [], time: 1, fieldsV1: {"f:spec": {"f:replicas": 1}}}, {manager: {}, fieldsV1: []}`)
		scale.Applied(same, scale.Of(odd, nil), me, "apps/v1")
	})
}

func TestAppliedKeepsFinalizers(t *testing.T) {
	kept := scale.Of(object(t, `{metadata: {name: web, finalizers: [a.b/c], deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {replicas: 2}}`), nil)
	answer := object(t, `{metadata: {name: web}, spec: {replicas: 3}}`)
	applied := scale.Applied(answer, kept, me, "apps/v1")
	require.Equal(t, kept.GetFinalizers(), applied.GetFinalizers())
	require.Equal(t, kept.GetDeletionTimestamp(), applied.GetDeletionTimestamp())
	require.Empty(t, scale.Applied(answer, nil, me, "apps/v1").GetFinalizers())
}

func TestCheck(t *testing.T) {
	require.NoError(t, scale.Check("status", nil))
	require.NoError(t, scale.Check("scale", object(t, "{spec: {replicas: 0}}").Object))
	for _, text := range []string{"{}", "{spec: {}}", "{spec: {replicas: null}}", "{spec: nonsense}"} {
		require.ErrorContains(t, scale.Check("scale", object(t, text).Object), "spec.replicas", text)
	}
}
