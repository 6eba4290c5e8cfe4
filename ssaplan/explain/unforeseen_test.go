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
		differences, err := e.Unforeseen(object(t, told), object(t, made), fieldowner.Applier{Manager: "me"}, patterns(t, "spec.selector.app"))
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimPrefix(fmt.Sprint(differences), "[]"), change)
	}
}
