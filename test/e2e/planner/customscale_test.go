package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// scaledDefinition is a definition whose objects have their number of replicas at a field of spec.
const scaledDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.scaled.example.com}
spec:
  group: scaled.example.com
  scope: Namespaced
  names: {plural: %[1]ss, singular: %[1]s, kind: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: &scale {scale: {specReplicasPath: .spec.%[3]s, statusReplicasPath: .status.replicas}}
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {replicas: {type: integer}, size: {type: integer}, color: {type: string}}}
          status: {type: object, properties: {replicas: {type: integer}}}
  - {name: v2, served: true, storage: false, subresources: *scale, schema: *schema}
`

// TestScaleOfCustomResources applies the scale of custom resources, wherever their number of replicas is. Servers of
// 1.33 and 1.36 accept the apply only if the number has an owner and doesn't change. For any other number, the error of
// the plan names an alternative.
func TestScaleOfCustomResources(t *testing.T) {
	c := newCluster(t)
	ours := func(obj *unstructured.Unstructured, field string) {
		obj.Object["spec"] = map[string]any{field: int64(2)}
		c.apply(t, obj)
	}
	rows := []struct {
		owner  string
		write  func(obj *unstructured.Unstructured, field string)
		shared string // the owner of the unchanged number in the plan, "" if the server rejects the apply
		number int64
	}{
		{"the same manager", ours, `[spec.replicas: shared with "agreement" (Apply)]`, 2},
		{"another manager", func(obj *unstructured.Unstructured, field string) {
			c.Patch(t, "editor", obj, fmt.Sprintf(`{"spec":{"%s":2}}`, field))
		}, `[spec.replicas: shared with "editor" (Update)]`, 2},
		{"an autoscaler that took it", func(obj *unstructured.Unstructured, field string) {
			ours(obj, field)
			c.Patch(t, "autoscaler", obj, `{"spec":{"replicas":4}}`, "scale")
		}, `[spec.replicas: shared with "autoscaler" (Update of scale)]`, 4},
		{"an autoscaler of which there is no record", func(obj *unstructured.Unstructured, _ string) {
			c.Patch(t, "autoscaler", obj, `{"spec":{"replicas":2}}`, "scale")
		}, "", 2},
		{"nobody", func(*unstructured.Unstructured, string) {}, "", 0},
	}
	for kind, field := range map[string]string{"Plain": "replicas", "Sized": "size"} {
		c.Define(t, lab.Objectf(t, scaledDefinition, strings.ToLower(kind), kind, field))
		for _, row := range rows {
			for _, version := range []string{"v1", "v2"} {
				t.Run(kind+" "+version+" of "+row.owner, func(t *testing.T) {
					obj := func(spec string) *unstructured.Unstructured {
						return lab.Objectf(t, "{apiVersion: scaled.example.com/%s, kind: %s, metadata: {name: a}, spec: {%s}}", version, kind, spec)
					}
					c.apply(t, obj("color: red"))
					defer c.Delete(t, obj(""))
					row.write(obj(""), field)
					scale := func(number int64) (*ssaplan.Plan, error) {
						request := ssaplan.Request{Subresource: "scale", Manifest: obj(fmt.Sprintf("replicas: %d", number))}
						return c.planner.Plan(t.Context(), request)
					}
					refused := func(number int64) {
						t.Helper()
						_, err := scale(number)
						require.ErrorContains(t, err, "unless its number stays and has an owner: apply spec."+field+" in the object itself")
						require.ErrorContains(t, err, "autoscaling/v1", "what the server said")
						require.Equal(t, authresilience.ClassInvalidManifest, authresilience.Classify(err), "no other attempt helps")
					}
					refused(row.number + 1)
					if row.shared == "" {
						refused(row.number)
						return
					}
					plan, err := scale(row.number)
					require.NoError(t, err)
					require.Equal(t, ssaplan.ActionUpdate, plan.Action)
					require.Equal(t, row.shared, fmt.Sprint(plan.Ownership))
					require.Empty(t, plan.Changes)
					predicted, err := plan.OwnershipAfter()
					require.NoError(t, err)
					_, err = c.planner.Apply(lab.Context(t), plan)
					require.NoError(t, err)
					real, err := fieldowner.Read(c.Get(t, obj("")).Object)
					require.NoError(t, err)
					require.Equal(t, timeless(real.Of(pathOf(t, "spec."+field))), timeless(predicted.Of(pathOf(t, "spec.replicas"))))
					again, err := scale(row.number)
					require.NoError(t, err)
					require.Equal(t, ssaplan.ActionNoOp, again.Action)
					refused(row.number + 1)
				})
			}
		}
	}
}

func pathOf(t *testing.T, text string) projection.Path {
	t.Helper()
	path, err := projection.ParsePath(text)
	require.NoError(t, err)
	return path
}
