package cmd_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/test/lab"
)

// A policy may quote a Secret in the message that it makes, as a warning and as a denial: no command shows it in any format.
func TestPoliciesThatQuoteSecrets(t *testing.T) {
	const value = "hunter2-correct-horse"
	c := newCluster(t)
	for _, action := range []string{"Deny", "Warn"} {
		name := c.Namespace + "-" + strings.ToLower(action)
		secret := func(typ, value string) string {
			return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, labels: {quoted: %s}}\ntype: example.com/%s\nstringData: {password: %s}\n", name, name, typ, value)
		}
		write(t, map[string]string{"old.yaml": secret("a", value), "new.yaml": secret("a", value+"-2"), "retyped.yaml": secret("b", value)})
		c.apply("-f old.yaml --state " + action + ".json")
		policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {objectSelector: {matchLabels: {quoted: %[1]s}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [secrets]}]}
  validations: [{expression: "false", messageExpression: "'quoted: ' + string(request.operation == 'DELETE' ? oldObject.data.password : object.data.password)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [%[2]s]}
`, name, action)
		c.Kubectl(t, policy, "apply", "-f", "-")
		t.Cleanup(func() { c.Kubectl(t, policy, "delete", "-f", "-") })
		lab.Eventually(t, "the policy quotes", func() bool {
			got := c.run("plan --show-server-text -f new.yaml")
			return strings.Contains(got.out+got.err, "quoted: ")
		})
		withheld := false
		for _, file := range []string{"old.yaml", "new.yaml", "retyped.yaml"} {
			for _, line := range []string{
				"plan", "plan -v", "plan -o json", "plan -o yaml", "plan -o markdown", "plan --state " + action + ".json",
				"apply --yes --state " + action + ".json", "apply --yes --replace -v", "apply --yes --replace -o json", "apply --yes -o markdown",
			} {
				got := c.run(line + " -f " + file)
				assert.Empty(t, leak.In(got.out+got.err, value), "%s: %s -f %s\n%s", action, line, file, got.out+got.err)
				withheld = withheld || strings.Contains(got.out+got.err, "withheld")
			}
		}
		require.True(t, withheld, "the user is told that there is more")
		state, err := os.ReadFile(action + ".json")
		require.NoError(t, err)
		assert.Empty(t, leak.In(string(state), value))
	}
}
