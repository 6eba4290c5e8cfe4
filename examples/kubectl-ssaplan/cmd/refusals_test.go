package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

// quantity returns n manifests of several kinds that a label marks.
func quantity(n int, label string) string {
	var text strings.Builder
	for i := range n {
		kind := []string{"ConfigMap", "Secret", "ServiceAccount"}[i%3]
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: %s, metadata: {name: many-%d, labels: {%s: x}}}\n", kind, i, label)
	}
	return text.String()
}

// 200 objects that are refused for one cause are one line, whoever refuses them; -v has a line for each.
func TestRefusalsOfOneCause(t *testing.T) {
	c := newCluster(t)
	label := c.Namespace
	policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {objectSelector: {matchExpressions: [{key: %[1]s, operator: Exists}]}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: "false", messageExpression: "'no ' + object.metadata.name + ' without a team'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, label)
	c.Kubectl(t, policy, "apply", "-f", "-")
	t.Cleanup(func() { c.Kubectl(t, policy, "delete", "-f", "-") })
	write(t, map[string]string{"policy.yaml": quantity(200, label), "one.yaml": quantity(1, label), "rights.yaml": quantity(200, "other")})
	lab.Eventually(t, "the policy denies", func() bool { return c.run("plan -f one.yaml").code == 1 })

	nobody := "--as nobody-" + c.Namespace
	for line, told := range map[string]string{
		"plan -f policy.yaml":                "without a team",
		"plan " + nobody + " -f rights.yaml": `cannot`,
	} {
		got := c.run(line)
		require.Equal(t, 1, got.code, got.err)
		assert.LessOrEqual(t, strings.Count(got.err, "\n"), 2, "a line, and one for the Secrets, of which less is shown\n%s", got.err)
		assert.Contains(t, got.err, told)
		assert.Contains(t, got.out, "200 errors")
		assert.Equal(t, 200, strings.Count(c.run(line+" -v").err, "\n"))
	}
}
