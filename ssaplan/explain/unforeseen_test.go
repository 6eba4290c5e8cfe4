package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

func TestUnforeseen(t *testing.T) {
	const told = `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, uid: dry, resourceVersion: "5", generation: 1, managedFields: [
		{manager: me, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:selector": {}, "f:clusterIP": {}}}},
		{manager: other, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {"f:theirs": {}}}}}]},
		spec: {selector: {app: web}, clusterIP: 10.0.0.1, type: ClusterIP}, status: {a: 1}}`
	for change, want := range map[string]string{
		"uid: dry=>uid: made": "",
		`resourceVersion: "5", generation: 1=>resourceVersion: "6", generation: 2`: "",
		"status: {a: 1}=>status: {a: 2}":                                           "",
		"clusterIP: 10.0.0.1=>clusterIP: 10.0.0.2":                                 "",
		"{app: web}=>{app: shop}":                                                  `[spec.selector: "<redacted>" -> "<redacted: changed>"]`,
		"type: ClusterIP=>type: NodePort":                                          `[spec.type: "ClusterIP" -> "NodePort"]`,
		"name: web, =>name: web, labels: {theirs: x}, ":                            "",
		"name: web, =>name: web, labels: {stamped: x}, ":                           `[metadata.labels.stamped: + "x"]`,
	} {
		old, now, _ := strings.Cut(change, "=>")
		require.Contains(t, told, old)
		made := strings.Replace(told, old, now, 1)
		e := &explain.Explanation{Assigned: []projection.Path{path(t, "spec.clusterIP")}}
		differences, err := e.Unforeseen(object(t, told), object(t, made), fieldowner.Applier{Manager: "me"}, false, patterns(t, "spec.selector.app"))
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimPrefix(fmt.Sprint(differences), "[]"), change)
		alone, err := e.Unforeseen(object(t, told), object(t, made), fieldowner.Applier{Manager: "me"}, true, patterns(t, "spec.selector.app"))
		require.NoError(t, err)
		if strings.Contains(change, "theirs") {
			want = `[metadata.labels.theirs: + "x"]`
		}
		require.Equal(t, want, strings.TrimPrefix(fmt.Sprint(alone), "[]"), "no other can have written: %s", change)
	}
}

// What a server makes up in a map that is declared as empty is generated, also when a record no longer has the map: it
// was given up. What it puts beside that isn't.
func TestGeneratedInAMapThatIsDeclaredEmpty(t *testing.T) {
	manifest := object(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {template: {metadata: {}}}}`)
	with := func(labels map[string]any) map[string]any {
		return changed(t, newMemory(t).try(manifest), func(obj map[string]any) {
			obj["spec"].(map[string]any)["template"].(map[string]any)["metadata"] = map[string]any{"labels": labels}
		})
	}
	answer := with(map[string]any{"batch.kubernetes.io/controller-uid": "dry", "job-name": "web"})
	e := mustApply(t, explain.Input{Manifest: manifest, Answer: answer, Manager: us})
	const made = `spec.template.metadata.labels["batch.kubernetes.io/controller-uid"]`
	require.Contains(t, lines(e.Generated), made)
	require.NotContains(t, lines(e.Generated), "spec.template.metadata.labels.job-name")
	for name, want := range map[string]string{
		"web": "[]", "other": `[spec.template.metadata.labels.job-name: "web" -> "other"]`,
	} {
		is := with(map[string]any{"batch.kubernetes.io/controller-uid": "made", "job-name": name})
		given, now := answer, is
		for _, obj := range []*map[string]any{&given, &now} {
			*obj = changed(t, *obj, func(obj map[string]any) { delete(obj["metadata"].(map[string]any), "managedFields") })
		}
		differences, err := e.Unforeseen(given, now, fieldowner.Applier{Manager: us}, false, nil)
		require.NoError(t, err)
		require.Equal(t, want, fmt.Sprint(differences))
		differences, err = e.Unforeseen(answer, is, fieldowner.Applier{Manager: us}, false, nil)
		require.NoError(t, err)
		require.Equal(t, name != "web", len(differences) > 0)
	}
}
