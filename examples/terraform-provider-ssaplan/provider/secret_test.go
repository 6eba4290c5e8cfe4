package provider_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// requireNoCanary fails if a secret value is in a text, in whatever form: also in the private state, which is base64 in
// JSON, and in a state is so once more.
func requireNoCanary(t *testing.T, text string) {
	t.Helper()
	for _, canary := range []string{oldCanary, newCanary} {
		require.Empty(t, leak.In(text, canary))
	}
}

// requireNoToken fails if a text contains the token. It looks for the signature, which differs from token to token.
func requireNoToken(t *testing.T, text, token string) {
	t.Helper()
	require.Empty(t, leak.In(text, token[strings.LastIndex(token, ".")+1:]))
}

// A server's answer may quote the value of a Secret. The provider neither shows nor stores the value in any operation
// of Terraform. The library's tests try all ways to quote and all answers. This test tries the answers that get into a
// diagnostic, a warning, the attributes or the state.
func TestQuotedSecretsStaySecret(t *testing.T) {
	c := newCluster(t)
	proxy := faultproxy.StartAs(t, c.Server.Config())
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], "+
		"clusters: [{name: a, cluster: {server: %q}}]}", proxy.Client("").Host)), 0o600))
	t.Setenv("KUBECONFIG", kubeconfig)
	redacted := 0
	for i, quote := range faultproxy.Quotes {
		if !slices.Contains([]string{leak.Refusals[0].Name, "warnings", "an annotation", "another name"}, quote.Name) {
			continue
		}
		one := leak.Case{Answer: i, Value: i % len(leak.Values), Echo: i % len(leak.Echoes)}
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
			func() error { _, err := tf.planDestroyToo(t); return err },
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
				if err := step(); err != nil && strings.Contains(err.Error(), "redacted") {
					redacted++
				}
			}
			kept := tf.said.String() + tf.text(t, nil) + string(tf.private) + importing.text(t, nil) + string(importing.private)
			require.Empty(t, leak.In(kept, one.Secret()), "%s in a %s: %s", quote.Name, phase, kept)
		}
	}
	require.NotZero(t, redacted, "the output says that there is more")
}
