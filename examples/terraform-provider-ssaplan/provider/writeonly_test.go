package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A token that is kept nowhere serves the runs that have it; what has only the state takes the provider's.
func TestWriteOnlyToken(t *testing.T) {
	c := newCluster(t)
	t.Setenv("KUBECONFIG", "")
	with := func(token string) map[string]any {
		block := c.withToken("")
		delete(block, "token")
		return c.config(configMap, map[string]any{"cluster": block, "token_wo": token})
	}
	first, second := c.robot(t, "first"), c.robot(t, "second")
	tf := newCore(t)
	tf.apply(t, tf.plan(t, with(first)))
	require.NotContains(t, tf.state.String(), first)
	require.NotContains(t, string(tf.private), first)

	tf = tf.next(t)
	plan := tf.plan(t, with(second))
	require.Equal(t, "NoOp", plan.action, "another token is no change")
	require.Empty(t, plan.warnings)
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)
	plan = tf.next(t).plan(t, with(second))
	require.Equal(t, "Update", plan.action, "the plan reads the object itself")
	tf.apply(t, plan)
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))

	_, err := tf.next(t).destroy(t)
	require.ErrorContains(t, err, "token_wo is kept nowhere")
	tf = tf.nextWith(t, map[string]any{"cluster": c.withToken(second)})
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)
	_, err = tf.refresh(t)
	require.NoError(t, err)
	require.Equal(t, "red", rows(t, tf.state, "fields")["data.color"], "a refresh takes the provider's token")
	require.True(t, tf.remembers(t).Stale.IsZero())
	_, err = tf.destroy(t)
	require.NoError(t, err)
}
