package provider_test

import (
	"strings"
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
	requireNoToken(t, tf.state.String()+string(tf.private), first)

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

// writeOnly is a configuration whose manifest is kept nowhere.
func (c *cluster) writeOnly(text string, version int64, more ...map[string]any) map[string]any {
	return c.config("", append(more, map[string]any{"yaml_body": nil, "yaml_body_wo": c.in(text), "yaml_body_wo_version": version})...)
}

// A manifest that is kept nowhere is applied with each version, and when the object drifted. All that is told of it is which fields change, by whom.
func TestWriteOnlyManifest(t *testing.T) {
	c := newCluster(t)
	settings := func(password string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: NAMESPACE}, data: {user: root, password: " + password + "}}"
	}
	password := func() string { return c.value(t, "configmaps", "settings", "data", "password") }
	planned := newCore(t).plan(t, c.writeOnly(settings(oldCanary), 1)).planned
	require.Equal(t, map[string]string{"data.password": "(write-only)", "data.user": "(write-only)"}, rows(t, planned, "fields"))
	tf := applied(t, c.writeOnly(settings(oldCanary), 1))
	require.Equal(t, map[string]string{"data.password": "(write-only)", "data.user": "(write-only)"}, rows(t, tf.state, "fields"))
	tf.nothingLeft(t, c.writeOnly(settings(newCanary), 1)) // the version says that it was applied
	require.Equal(t, oldCanary, password())

	plan := tf.plan(t, c.writeOnly(settings(newCanary), 2))
	require.Equal(t, "Update", plan.action)
	require.Equal(t, map[string]string{"data.password": "?", "data.user": "(write-only)"}, rows(t, plan.planned, "fields"))
	tf.apply(t, plan)
	require.Equal(t, newCanary, password())
	tf.nothingLeft(t, c.writeOnly(settings(newCanary), 2))

	c.foreign(t, "configmaps", "settings", `{"data":{"password":"`+oldCanary+`"}}`)
	tf = tf.next(t)
	_, err := tf.refresh(t)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"data.password": "somebody (Update)"}, rows(t, tf.state, "other_owners"), "a refresh shows who")
	plan = tf.plan(t, c.writeOnly(settings(newCanary), 2))
	require.Equal(t, "Update", plan.action)
	require.Equal(t, "?", rows(t, plan.planned, "fields")["data.password"])
	require.Contains(t, strings.Join(plan.warnings, "\n"), `data.password: `)
	require.Contains(t, strings.Join(plan.warnings, "\n"), `drifted: changed by "somebody" (Update)`)
	tf.apply(t, plan)
	require.Equal(t, newCanary, password())

	plan = tf.plan(t, c.writeOnly(settings(oldCanary), 3))
	c.foreign(t, "configmaps", "settings", `{"data":{"password":"another"}}`)
	_, err = tf.next(t).tryApply(t, plan)
	require.ErrorContains(t, err, "somebody changed the object since the plan was made: data.password")
	tf = tf.next(t)
	tf.apply(t, tf.plan(t, c.writeOnly(settings(oldCanary), 3)))

	tf.nothingLeft(t, c.writeOnly("", 3, map[string]any{"yaml_body_wo": unknown{}})) // an ephemeral value may not be known yet

	plan = tf.plan(t, c.writeOnly(settings(newCanary), 3, map[string]any{"delete_protection": true}))
	require.Equal(t, "Update", plan.action)
	tf.apply(t, plan)
	require.Equal(t, oldCanary, password(), "what changes in the configuration alone sends no other value")

	require.NotContains(t, tf.said.String()+tf.state.String(), "pbkdf2")
	requireNoCanary(t, tf.said.String()+tf.state.String()+string(tf.private))
}

// What was kept can be kept nowhere later, and the other way round.
func TestManifestBecomesWriteOnly(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	tf.apply(t, tf.plan(t, c.writeOnly(configMap, 1)))
	require.Equal(t, map[string]string{"data.color": "(write-only)", "data.size": "(write-only)"}, rows(t, tf.state, "fields"))
	require.True(t, attribute(t, tf.state, "yaml_body").IsNull())
	require.True(t, attribute(t, tf.state, "manifest").IsNull())
	tf.nothingLeft(t, c.writeOnly(configMap, 1))
	plan := tf.plan(t, c.config(configMap))
	tf.apply(t, plan)
	require.Equal(t, map[string]string{"data.color": "blue", "data.size": `"5"`}, rows(t, tf.state, "fields"))
	tf.nothingLeft(t, c.config(configMap))
}
