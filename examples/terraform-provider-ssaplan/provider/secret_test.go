package provider_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	oldCanary = "canary-old-3141"
	newCanary = "canary-new-2718"
)

func secret(password string) string {
	return `{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: NAMESPACE}, stringData: {user: root, password: ` + password + `}}`
}

// canaries are the secret values in every form in which they could show.
func canaries() []string {
	var out []string
	for _, canary := range []string{oldCanary, newCanary} {
		out = append(out, canary, base64.StdEncoding.EncodeToString([]byte(canary)))
	}
	return out
}

func TestSecretsShowNowhere(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(secret(oldCanary)))
	before := rows(t, tf.state, "fields")
	require.Contains(t, before["data.password"], "pbkdf2-sha256:")

	plan := tf.plan(t, c.config(secret(newCanary)))
	require.Equal(t, "Update", plan.action)
	after := rows(t, plan.planned, "fields")
	require.NotEqual(t, before["data.password"], after["data.password"], "that it changes is shown")
	require.Equal(t, before["data.user"], after["data.user"])
	tf.apply(t, plan)
	tf.nothingLeft(t, c.config(secret(newCanary)))

	c.foreign(t, "secrets", "login", `{"stringData":{"password":"`+oldCanary+`"}}`)
	plan = tf.plan(t, c.config(secret(newCanary)))
	require.Equal(t, "Update", plan.action)
	require.Contains(t, strings.Join(plan.warnings, "\n"), "data.password")
	tf.apply(t, plan)

	_, err := tf.tryPlan(t, c.config(strings.Replace(secret(oldCanary), "stringData: {", "data: {", 1)))
	require.Error(t, err, "it is no base64")
	_, err = tf.tryPlan(t, c.config(secret(newCanary)+"\n"+oldCanary))
	require.Error(t, err)

	for _, canary := range canaries() {
		require.NotContains(t, tf.said.String(), canary)
		require.NotContains(t, string(tf.private), canary)
	}
	text, err := tf.remembers(t).MarshalJSON()
	require.NoError(t, err)
	for _, canary := range canaries() {
		require.NotContains(t, string(text), canary)
	}
	require.Contains(t, tf.said.String(), "data.password", "what was looked at is what a user sees")
}
