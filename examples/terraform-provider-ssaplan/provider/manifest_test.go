package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A manifest that is written to be shown is planned as yaml_body is, and one can become the other.
func TestShownManifest(t *testing.T) {
	c := newCluster(t)
	with := func(text string) map[string]any {
		return c.config(text, map[string]any{"yaml_body": nil, "manifest": c.in(text)})
	}
	tf := applied(t, with(configMap))
	require.Equal(t, "NoOp", tf.plan(t, with("# another layout\n"+configMap)).action)
	tf = tf.next(t)
	plan := tf.plan(t, with(strings.Replace(configMap, "blue", "red", 1)))
	require.Equal(t, "Update", plan.action)
	require.Equal(t, "red", rows(t, plan.planned, "fields")["data.color"])
	tf.apply(t, plan)
	tf = tf.next(t)
	require.Equal(t, "NoOp", tf.plan(t, c.config(strings.Replace(configMap, "blue", "red", 1))).action, "yaml_body says the same")
	tf = tf.next(t)
	plan = tf.plan(t, with(strings.Replace(configMap, "name: settings", "name: options", 1)))
	require.Equal(t, "Replace", plan.action)
	tf.apply(t, plan)
	_, err := tf.destroy(t)
	require.NoError(t, err)
}
