package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A patch of what another tool applied, with the real program, and next to a resource for the same object, which is refused.
func patched(t *testing.T, c *cluster, tf *terraform) {
	c.helm(t, "deployments", deployment)
	block := func(yaml string) string {
		return "resource \"ssaplan_patch\" \"web\" {\n  yaml_body = <<-EOT\n" + c.in(yaml) + "\n  EOT\n}\n"
	}
	tf.write(t, block(patchOfDeployment))
	require.Contains(t, tf.plan(t), `+ "spec.replicas"`)
	tf.apply(t)
	tf.nothingLeft(t)
	require.Equal(t, "shop", c.value(t, "deployments", "web", "metadata", "labels", "team"))
	tf.apply(t, "-replace=ssaplan_patch.web")
	code, output := tf.run(t, "taint", "ssaplan_patch.web")
	require.Equal(t, 0, code, output)
	tf.apply(t)
	tf.nothingLeft(t)

	tf.write(t, block(patchOfDeployment)+resource("web", c.in(deployment)))
	code, output = tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "another one patches it")

	tf.write(t, "")
	require.Contains(t, tf.apply(t), "1 destroyed")
	require.Equal(t, "7", c.value(t, "deployments", "web", "spec", "replicas"))
	for _, entry := range c.live(t, "deployments", "web").GetManagedFields() {
		require.NotContains(t, entry.Manager, "terraform")
	}
}
