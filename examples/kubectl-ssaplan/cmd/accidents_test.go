package cmd_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/test/lab"
)

// Who changes an object between the plan and its stage has the run stopped, which shows the difference and touches nothing more.
func TestChangeBetweenStages(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})
	c.apply("-f app.yaml --state state.json")
	c.overwrite("app.yaml", strings.Replace(deployment, "web:1", "web:2", 1)+"---\n"+configMap("conf", "x")+
		"---\n{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {defaultBackend: {service: {name: a, port: {number: 1}}}}}")
	var once sync.Once
	address := c.proxied(func(r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/configmaps/conf") && !r.URL.Query().Has("dryRun") {
			once.Do(func() { c.kubectl("scale", "deployment", "web", "--replicas", "7") })
		}
	})
	got := c.run("apply --yes -f app.yaml --state state.json --server " + address)
	assert.Equal(t, 1, got.code)
	assert.NotContains(t, got.out, "replicas", "it wasn't so yet")
	assert.Contains(t, got.err, "created v1/ConfigMap "+c.Namespace+"/conf\n")
	assert.Contains(t, got.err, "apps/v1/Deployment "+c.Namespace+"/web: something else than was shown: now Update: ")
	assert.Contains(t, got.err, "replicas: 7 → 2")
	assert.Contains(t, got.err, "left out 1 behind what failed: correct that, and apply again")
	assert.Equal(t, "7 web:1", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"))
	assert.Equal(t, 0, c.run("apply --yes -f app.yaml --state state.json").code, "the next run shows it, and does it")
}

const machine = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.NAME.example.com}
spec:
  group: NAME.example.com
  scope: Namespaced
  names: {kind: Machine, plural: machines, singular: machine}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}},
      status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
apiVersion: NAME.example.com/v1
kind: Machine
metadata: {name: one}
spec: {size: 1}
`

// What waits for its first Pod, is suspended or paused counts as ready; a custom resource with a rule only if its condition is of now.
func TestWaitingForWhatTakesForever(t *testing.T) {
	c := newCluster(t)
	machine := strings.ReplaceAll(machine, "NAME", c.Namespace)
	write(t, map[string]string{
		"idle.yaml": "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n---\n" +
			"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n---\n" +
			strings.Replace(deployment, "replicas: 2", "replicas: 2\n  paused: true", 1),
		"machine.yaml": machine,
	})
	got := c.run("apply --yes -f idle.yaml --wait --timeout 20s -o jsonl")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, "it may wait for the first Pod that uses it")

	apply := "apply --yes -f machine.yaml --wait --ready Machine." + c.Namespace + ".example.com=Synced --timeout "
	c.apply("-f machine.yaml")
	for _, row := range [][2]string{
		{`{"seen": true}`, "it has no condition Synced yet"},
		{`{"observedGeneration": 0, "conditions": [{"type": "Synced", "status": "True"}]}`, "condition Synced is of generation 0, and the object of 1"},
		{`{"observedGeneration": 1, "conditions": [{"type": "Synced", "status": "False", "message": "no power"}]}`, "condition Synced is False: no power"},
		{`{"observedGeneration": "1", "conditions": [{"type": "Synced", "status": "True"}]}`, ""},
		{`{"observedGeneration": 1, "conditions": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "False"}]}`, ""},
	} {
		status, waits := row[0], row[1]
		c.Patch(t, "controller", lab.Objectf(t, "{apiVersion: %s.example.com/v1, kind: Machine, metadata: {name: one}}", c.Namespace), `{"status": `+status+`}`, "status")
		if waits == "" {
			got := c.run(apply + "60s")
			assert.Equal(t, 0, got.code, got.err)
			continue
		}
		got := c.run(apply + "10s")
		assert.Equal(t, 1, got.code, status)
		assert.Contains(t, got.err, "Machine "+c.Namespace+"/one: "+waits, status)
	}
}

// A kind that is remembered, and whose definition somebody removed, is no reason to fail.
func TestApplySetWithoutAKind(t *testing.T) {
	c := newCluster(t)
	machine := strings.ReplaceAll(machine, "NAME", c.Namespace)
	write(t, map[string]string{"app.yaml": machine + "---\n" + maps("one", "two")})
	c.apply(" --applyset shop --prune -f app.yaml")
	c.Delete(t, lab.Objectf(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: machines.%s.example.com}}", c.Namespace))
	lab.Eventually(t, "the kind isn't served", func() bool {
		return strings.TrimSpace(c.kubectl("api-resources", "--api-group", c.Namespace+".example.com", "-o", "name")) == ""
	})
	c.overwrite("app.yaml", maps("one"))
	got := c.run("apply --yes --applyset shop --prune -f app.yaml")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, "one", c.objects())
	assert.Equal(t, "ConfigMap", c.annotation("contains-group-kinds"))
}

// A definition that an object of the set has an operator make comes later; a typo is told from it by who asked for patience.
func TestDefinitionThatAnOperatorMakes(t *testing.T) {
	c := newCluster(t)
	definition, object, _ := strings.Cut(strings.ReplaceAll(machine, "NAME", c.Namespace), "---\n")
	write(t, map[string]string{"app.yaml": configMap("template", "x") + "---\n" + object, "definition.yaml": definition})
	got := c.run("apply --yes -f app.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "neither the server nor the set has a kind Machine")
	got = c.run("apply --yes -f app.yaml --allow-missing")
	assert.Equal(t, 3, got.code, got.err)
	assert.Contains(t, got.err, "created v1/ConfigMap "+c.Namespace+"/template\n")
	c.apply("-f definition.yaml")
	c.WaitServed(t, schema.GroupVersionKind{Group: c.Namespace + ".example.com", Version: "v1", Kind: "Machine"})
	got = c.run("apply --yes -f app.yaml --allow-missing")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.err, "Machine "+c.Namespace+"/one\n")
}
