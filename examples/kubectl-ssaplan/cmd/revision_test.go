package cmd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/test/lab"
)

const autoscaler = `apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`

const bulb = `apiVersion: revisions.example.com/v1
kind: Bulb
metadata: {name: web}
spec: {watts: 5}
`

const bulbs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bulbs.revisions.example.com}
spec:
  group: revisions.example.com
  scope: Namespaced
  names: {kind: Bulb, plural: bulbs, singular: bulb}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// An object whose manifest is of another version of the same group is updated in place, that of a definition, too.
func TestAnotherVersionIsNoReplacement(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, bulbs))
	write(t, map[string]string{"hpa.yaml": autoscaler, "bulb.yaml": bulb})
	const line = "-f hpa.yaml -f bulb.yaml --state state.json"
	c.apply(line)
	const ids = "-o=jsonpath={.items[*].metadata.uid}"
	before := c.kubectl("get", "hpa,bulbs", ids)

	c.edit("hpa.yaml", "autoscaling/v1", "autoscaling/v2")
	c.edit("hpa.yaml", "maxReplicas: 3", "maxReplicas: 4")
	c.edit("bulb.yaml", "revisions.example.com/v1", "revisions.example.com/v2")
	c.edit("bulb.yaml", "watts: 5", "watts: 6")
	got := c.run("plan " + line)
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.out, "~ autoscaling/v2/HorizontalPodAutoscaler "+c.Namespace+"/web  update: 1 edited\n  ~ spec.maxReplicas: 3 → 4\n")
	assert.Contains(t, got.out, "~ revisions.example.com/v2/Bulb "+c.Namespace+"/web  update: 1 edited\n  ~ spec.watts: 5 → 6\n")
	c.apply(line)
	assert.Equal(t, before, c.kubectl("get", "hpa,bulbs", ids), "the objects are the same")
}
