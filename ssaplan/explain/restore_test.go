package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A null is dropped from a built-in kind unless the object has a value, or a list or map as a whole, in its place, or
// the applier owns something there. An empty map or list of the metadata is dropped unless the server would then
// delete values without an owner.
func TestEmptyFieldsThatAreSent(t *testing.T) {
	const set = `{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {a: b}, managedFields: [
		{manager: theirs, operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {
			"f:replicas": {}, "f:selector": {}, "f:strategy": {"f:type": {}}, "f:template": {"f:spec": {"f:containers": {
				"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}}},
			{manager: ` + us + `, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:strategy": {"f:rollingUpdate": {}}, "f:template": {
				"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {"f:resources": {"f:limits": {"f:cpu": {}}}}}}}}}}]},
		spec: {replicas: 3, paused: false, selector: {matchLabels: {a: b}}, strategy: {type: Recreate},
			template: {spec: {containers: [{name: side}, {name: app, image: "app:1"}]}}}}`
	others := strings.ReplaceAll(set, "{manager: "+us+",", "{manager: others,")
	labels := func(names ...string) string { // of which we own the first
		return fmt.Sprintf(`{metadata: {labels: {%s: x}, managedFields: [{manager: %s, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1,
			fieldsV1: {"f:metadata": {"f:labels": {"f:a": {}}}}}]}}`, strings.Join(names, ": x, "), us)
	}
	for _, row := range []struct {
		why, manifest string
		ignore        []string
		live          string
		want          string
		nulls         []string
	}{
		{"a value that others set", `{spec: {replicas: null}}`, nil, set, `{spec: {replicas: null}}`, []string{"spec.replicas"}},
		{"a map that others set as a whole", `{spec: {selector: null}}`, nil, set, `{spec: {selector: null}}`, []string{"spec.selector"}},
		{"not what is in one", `{spec: {selector: {matchLabels: null}}}`, nil, set, `{spec: {selector: {}}}`, nil},
		{"nor a map with parts of others", `{spec: {template: null}, metadata: {labels: null}}`, nil, others, `{spec: {}, metadata: {}}`, nil},
		{"but a map with parts of ours and of others", `{spec: {strategy: null}}`, nil, set, `{spec: {strategy: null}}`, []string{"spec.strategy"}},
		{"labels of which one has no owner", `{metadata: {labels: {}}}`, nil, labels("a", "b"), `{metadata: {labels: {}}}`, []string{"metadata.labels"}},
		{"or null", `{metadata: {labels: null}}`, nil, labels("a", "b"), `{metadata: {labels: null}}`, []string{"metadata.labels"}},
		{"not labels that all have owners", `{metadata: {labels: {}}}`, nil, labels("a"), `{metadata: {}}`, nil},
		{"nor labels of which none is ours", `{metadata: {labels: {}}}`, nil, others, `{metadata: {}}`, nil},
		{"but a map of which we own every part", `{spec: {template: {spec: {containers: [{name: app, resources: null}]}}}}`, nil, set,
			`{spec: {template: {spec: {containers: [{name: app, resources: null}]}}}}`, []string{"spec.template.spec.containers[0].resources"}},
		{"a map that others emptied, in which they are still recorded", `{spec: {strategy: null}}`, nil,
			strings.Replace(others, "strategy: {type: Recreate}", "strategy: {}", 1), `{spec: {strategy: null}}`, []string{"spec.strategy"}},
		{"what the server set, or was given up", `{spec: {paused: null}}`, nil, set, `{spec: {paused: null}}`, []string{"spec.paused"}},
		{"nor what the object doesn't have", `{spec: {minReadySeconds: null}}`, nil, set, `{spec: {}}`, nil},
		{"nor what is new", `{spec: {replicas: null}}`, nil, "", `{spec: {}}`, nil},
		{"nor what is ignored", `{spec: {replicas: null}}`, []string{"spec.replicas"}, set, `{spec: {}}`, nil},
		{"nor what is in something ignored", `{spec: {replicas: null, paused: true}}`, []string{"spec"}, set, `{}`, nil},
		{"an item is found by its name", `{spec: {template: {spec: {containers: [{name: app, image: null}, {name: side, image: null}]}}}}`, nil, set,
			`{spec: {template: {spec: {containers: [{name: app, image: null}, {name: side}]}}}}`, []string{"spec.template.spec.containers[0].image"}},
	} {
		manifest := object(t, row.manifest)
		manifest["apiVersion"], manifest["kind"] = "apps/v1", "Deployment"
		prepared := mustPrepare(t, manifest, "", explain.Exceptions{Ignore: patterns(t, row.ignore...)})
		var live map[string]any
		if row.live != "" {
			live = object(t, row.live)
		}
		left, err := prepared.For(live, live, fieldowner.Applier{Manager: us})
		require.NoError(t, err, row.why)
		delete(left.Manifest, "apiVersion")
		delete(left.Manifest, "kind")
		require.Equal(t, object(t, row.want), left.Manifest, row.why)
		require.Equal(t, row.nulls, lines(left.Restored), row.why)
	}
}

// What stringData puts into the data of a Secret isn't lost to the null that the manifest has there.
func TestForDataBesideStringData(t *testing.T) {
	live := object(t, `{apiVersion: v1, kind: Secret, metadata: {managedFields: [{manager: `+us+`, operation: Apply, apiVersion: v1,
		fieldsV1: {"f:data": {}}}]}}`)
	prepared := mustPrepare(t, object(t, `{apiVersion: v1, kind: Secret, data: null, stringData: {a: x}}`), "", explain.Exceptions{})
	left, err := prepared.For(live, live, fieldowner.Applier{Manager: us})
	require.NoError(t, err)
	require.Equal(t, object(t, `{apiVersion: v1, kind: Secret, data: {a: eA==}}`), left.Manifest)
	require.Empty(t, left.Restored)
}
