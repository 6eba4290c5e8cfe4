package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

// labelled returns n ConfigMaps of a version.
func labelled(n int, version string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%03d, labels: {version: %q}}, data: {a: b}}\n", i, version)
	}
	return text.String()
}

// What a server answers for 101 objects is said once: the change that all have, and what it warns of those that stay.
func TestWhatRepeatsIsSaidOnce(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"old.yaml": labelled(101, "1"), "new.yaml": labelled(101, "2")})
	c.apply("-f old.yaml")
	got := c.run("plan -f new.yaml")
	require.Equal(t, 2, got.code, got.err)
	assert.True(t, strings.HasPrefix(got.out, "~ 101 objects  the same change\n  ~ metadata.labels.version: \"1\" → \"2\"\n"), got.out)
	assert.Less(t, strings.Count(got.out, "\n"), 8, "and not with each object")
	assert.Equal(t, 102, strings.Count(c.run("plan -v -f new.yaml").out, `"1" → "2"`), "unfolded on request")

	policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]}
  validations: [{expression: "false", message: "say who owns it"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Warn]}
`, c.Namespace)
	c.Kubectl(t, policy, "apply", "-f", "-")
	t.Cleanup(func() { c.Kubectl(t, policy, "delete", "-f", "-") })
	lab.Eventually(t, "the policy warns of all", func() bool {
		got = c.run("plan -f old.yaml")
		return strings.HasPrefix(got.out, "= 101 objects unchanged: ")
	})
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, 1, strings.Count(got.out, "say who owns it"), got.out)
}
