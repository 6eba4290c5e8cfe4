package provider_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

const (
	oldCanary = "canary-old-3141"
	newCanary = "canary-new-2718"
)

func secret(password string) string {
	return `{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: NAMESPACE}, stringData: {user: root, password: ` + password + `}}`
}

// requireNoCanary fails if a secret value is in a text, in whatever form: also in the private state, which is base64 in JSON, and in a state is so once
// more.
func requireNoCanary(t *testing.T, text string) {
	t.Helper()
	for _, canary := range []string{oldCanary, newCanary} {
		require.Empty(t, leak.In(text, canary))
	}
}

// requireNoToken fails if a token is in a text. What tells it from others is its signature.
func requireNoToken(t *testing.T, text, token string) {
	t.Helper()
	require.Empty(t, leak.In(text, token[strings.LastIndex(token, ".")+1:]))
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

	requireNoCanary(t, tf.said.String()+string(tf.private))
	require.Contains(t, tf.said.String(), "data.password", "what was looked at is what a user sees")
}

// What sensitive_fields names is as secret as a Secret, also if it is named only later.
func TestSensitiveFieldsShowNowhere(t *testing.T) {
	c := newCluster(t)
	settings := func(password string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: NAMESPACE}, data: {user: root, password: ` + password + `}}`
	}
	named := map[string]any{"sensitive_fields": []string{"data.password"}}
	tf := applied(t, c.config(settings(oldCanary), named))
	before := rows(t, tf.state, "fields")
	require.Contains(t, before["data.password"], "pbkdf2-sha256:")
	require.Equal(t, "root", before["data.user"])
	tf.nothingLeft(t, c.config(settings(oldCanary), named))

	plan := tf.plan(t, c.config(settings(newCanary), named))
	require.Equal(t, "Update", plan.action)
	require.NotEqual(t, before["data.password"], rows(t, plan.planned, "fields")["data.password"], "that it changes is shown")
	tf.apply(t, plan)
	c.foreign(t, "configmaps", "settings", `{"data":{"password":"`+oldCanary+`"}}`)
	plan = tf.plan(t, c.config(settings(newCanary), named))
	require.Contains(t, strings.Join(plan.warnings, "\n"), "data.password", "the drift is told")
	tf.apply(t, plan)
	requireNoCanary(t, tf.said.String()+string(tf.private))

	later := applied(t, c.config(strings.Replace(settings("x"), "name: settings", "name: later", 1)))
	hidden := c.config(strings.Replace(settings("x"), "name: settings", "name: later", 1), named)
	plan = later.plan(t, hidden)
	require.Equal(t, "?", rows(t, plan.planned, "fields")["data.password"])
	later.apply(t, plan)
	require.Contains(t, rows(t, later.state, "fields")["data.password"], "pbkdf2-sha256:")
	later.nothingLeft(t, hidden)

	_, err := tf.tryPlan(t, c.config(settings("x"), map[string]any{"sensitive_fields": []string{"data["}}))
	require.ErrorContains(t, err, "sensitive_fields: ")
}

// Whoever answers may quote the value of a Secret: nothing of it is said or kept, whatever Terraform asks for. LEAKS=all tries all cases.
func TestQuotedSecretsStaySecret(t *testing.T) {
	c := newCluster(t)
	proxy := faultproxy.StartAs(t, c.Server.Config())
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], "+
		"clusters: [{name: a, cluster: {server: %q}}]}", proxy.Client("").Host)), 0o600))
	t.Setenv("KUBECONFIG", kubeconfig)
	withheld := 0
	for _, one := range leak.Tried(len(faultproxy.Quotes), 11) {
		manifest := func(value string) map[string]any {
			return map[string]any{"cluster": blockOf(proxy.Client("")), "yaml_body": c.in(fmt.Sprintf("apiVersion: v1\nkind: Secret\n"+
				"metadata: {name: %s, namespace: NAMESPACE}\ntype: vendor.io/a\ndata: {k: %s}\n", one.Name(), base64.StdEncoding.EncodeToString([]byte(value))))}
		}
		proxy.Heal()
		tf := applied(t, manifest(one.Secret()))
		plan := tf.plan(t, manifest(one.Secret()+", edited"))
		importing := newCore(t)
		importing.said = tf.said
		planning := []func() error{
			func() error { _, err := tf.planChange(t, plan.config); return err },
			func() error { tf.planDestroy(t); return nil },
		}
		for phase, steps := range map[faultproxy.Phase][]func() error{
			faultproxy.Reads: {
				func() error { _, err := tf.refresh(t); return err },
				func() error { return importing.importID(t, c.Namespace+"/Secret/"+one.Name()) },
			},
			faultproxy.Questions: planning, faultproxy.DryRuns: planning,
			faultproxy.Writes: {func() error { _, err := tf.tryApply(t, plan); return err }},
		} {
			proxy.InjectQuotes(phase)
			for _, step := range steps {
				if err := step(); err != nil && strings.Contains(err.Error(), "withheld") {
					withheld++
				}
			}
			kept := tf.said.String() + string(tf.private) + string(importing.private)
			require.Empty(t, leak.In(kept, one.Secret()), "%s quotes %q as %s in a %s: %s", faultproxy.Quotes[one.Answer].Name, one.Secret(), leak.Echoes[one.Echo].Name, phase, kept)
		}
	}
	require.NotZero(t, withheld, "the user is told that there is more")
}
