package cmd_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/test/lab"
)

// Letting go of objects leaves their values as they are, nothing owned and nothing remembered.
func TestRelease(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x"), "one.yaml": configMap("one", "x")})
	c.apply("-f app.yaml --state app.json")
	version := c.kubectl("get", "configmap", "two", "-o", "jsonpath={.metadata.resourceVersion}")

	got := c.run("release -f one.yaml --state app.json --dry-run")
	assert.Equal(t, 2, got.code, got.err)
	assert.Contains(t, got.out, "Release v1/ConfigMap "+c.Namespace+"/one: stays as it is")
	assert.Contains(t, got.out, "data.")
	assert.NotContains(t, got.out, "/two")
	assert.Contains(t, c.kubectl("get", "configmap", "one", "-o", "jsonpath={.metadata.managedFields[*].manager}"), "kubectl-ssaplan")

	got = c.run("release -f one.yaml --state app.json")
	assert.Equal(t, 1, got.code, "nobody can be asked")
	got = c.run("release -f one.yaml --state app.json --yes")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, "released v1/ConfigMap "+c.Namespace+"/one\n", got.err)
	assert.Empty(t, c.kubectl("get", "configmap", "one", "-o", "jsonpath={.metadata.managedFields[*].manager}"))
	assert.NotEmpty(t, c.kubectl("get", "configmap", "one", "-o", "jsonpath={.data}"))
	assert.Equal(t, version, c.kubectl("get", "configmap", "two", "-o", "jsonpath={.metadata.resourceVersion}"), "the other one isn't touched")

	got = c.run("release -f one.yaml --yes")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, "Nothing v1/ConfigMap "+c.Namespace+"/one: nothing of it is owned")
	got = c.run("delete --state app.json --dry-run")
	assert.Contains(t, got.out, "/two")
	assert.NotContains(t, got.out, "/one", "it is forgotten")

	c.kubectl("delete", "configmap", "two")
	got = c.run("release --state app.json --yes")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, "Gone v1/ConfigMap "+c.Namespace+"/two: isn't there any more")
	got = c.run("release --state app.json --yes")
	assert.Equal(t, result{0, "", ""}, got, "nothing is left")
}

// What a server won't let go of is shown by the plan, and stays as it is; the rest is let go of.
func TestReleaseThatIsRefused(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x")})
	c.apply("-f app.yaml --state app.json")
	policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]}
  validations: [{expression: "object.metadata.name != 'two'", message: "two is mine"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, c.Namespace)
	c.Kubectl(t, policy, "apply", "-f", "-")
	t.Cleanup(func() { c.Kubectl(t, policy, "delete", "-f", "-") })
	var got result
	lab.Eventually(t, "the policy is at work", func() bool {
		got = c.run("release --state app.json --dry-run")
		return got.code == 1
	})
	assert.Contains(t, got.out, "Release v1/ConfigMap "+c.Namespace+"/one: stays as it is")
	assert.Contains(t, got.out, "Refused v1/ConfigMap "+c.Namespace+"/two: the server won't let go of it: ")
	assert.Contains(t, got.out, "two is mine")
	got = c.run("release --state app.json --yes")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "released v1/ConfigMap "+c.Namespace+"/one\n")
	assert.Contains(t, got.err, "two is mine")
	got = c.run("release --state app.json --dry-run")
	assert.NotContains(t, got.out, "/one", "it is forgotten")
	assert.Contains(t, got.out, "/two", "and this one isn't")
}

// What is there is taken over, unless it is said that it isn't, and what isn't there can be refused.
func TestExisting(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x")})
	got := c.run("plan -f app.yaml --existing required")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "/one")
	c.kubectl("create", "configmap", "one")
	for _, command := range []string{"plan", "apply --yes"} {
		got = c.run(command + " -f app.yaml --existing refuse")
		assert.Equal(t, 1, got.code, got.out)
		assert.Contains(t, got.err, "/one")
	}
	assert.Equal(t, 2, c.run("plan -f app.yaml --existing required").code)
	assert.Equal(t, 2, c.run("plan -f app.yaml").code)
	c.apply("-f app.yaml --existing take-over")
	assert.Equal(t, 0, c.run("plan -f app.yaml --existing refuse").code, "it is ours by now")
	assert.Contains(t, c.run("plan -f app.yaml --existing never").err, "the rules are refuse, required, take-over")
}
