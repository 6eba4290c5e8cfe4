package provider_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A resource without a cluster has that of KUBECONFIG. The scripts of TestProtocol have all other ways to a cluster.
func TestClusterOfTheEnvironment(t *testing.T) {
	c := newCluster(t)
	t.Setenv("KUBECONFIG", c.Server.Kubeconfig())
	_, err := applied(t, map[string]any{"yaml_body": c.in(configMap)}).destroy(t)
	require.NoError(t, err)
}

func TestValidate(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	tf := newCore(t)
	const canary = "hunter2-canary"
	manifest := configMap
	for _, test := range []struct {
		why, want string // an empty text is no error
		config    map[string]any
	}{
		{"nothing is known yet", "", map[string]any{"yaml_body": unknown{}, "cluster": map[string]any{"host": unknown{}}}},
		{"a manifest", "", map[string]any{"yaml_body": manifest}},
		{"no manifest", "name one of yaml_body, yaml_body_wo, object and manifest", map[string]any{}},
		{"two manifests", "name one of yaml_body, yaml_body_wo, object and manifest", map[string]any{"yaml_body": manifest, "manifest": manifest}},
		{"two manifests, of which one is kept nowhere", "name one of", map[string]any{"yaml_body": manifest, "yaml_body_wo": manifest, "yaml_body_wo_version": 1}},
		{"a manifest that is kept nowhere", "", map[string]any{"yaml_body_wo": secret(canary), "yaml_body_wo_version": 1}},
		{"one that has no version", "need each other", map[string]any{"yaml_body_wo": secret(canary)}},
		{"a version of none", "need each other", map[string]any{"yaml_body": manifest, "yaml_body_wo_version": 1}},
		{"one that can't be read", "yaml_body_wo: ", map[string]any{"yaml_body_wo": "{" + canary, "yaml_body_wo_version": 1}},
		{"a value", "", map[string]any{"object": map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}},
		{"a value that isn't known", "", map[string]any{"object": unknown{}}},
		{"a value and a text", "name one of", map[string]any{"object": map[string]any{}, "yaml_body": manifest}},
		{"a value that names no object", "object: ", map[string]any{"object": map[string]any{"kind": canary, "metadata": map[string]any{}}}},
		{"a value that is no object", "object: expected an object with apiVersion, kind and metadata", map[string]any{"object": canary}},
		{"too large a number", "spec.size: is an integer of more than 64 bits", map[string]any{"object": map[string]any{"spec": map[string]any{"size": new(big.Float).SetMantExp(big.NewFloat(1), 64)}}}},
		{"a Secret as a value", "object: is shown in plans", map[string]any{"object": map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": canary}}}},
		{"a manifest that is shown", "", map[string]any{"manifest": manifest}},
		{"a Secret inside that would be shown", "or has one", map[string]any{"manifest": `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: "kind: Secret\ndata: {p: ` + canary + `}"}}`}},
		{"a Secret that would be shown", "since it is a Secret", map[string]any{"manifest": secret(canary)}},
		{"sensitive fields that would be shown", "since it has sensitive_fields", map[string]any{"manifest": manifest, "sensitive_fields": []string{"data"}}},
		{"no object", "yaml_body: holds no object", map[string]any{"yaml_body": ""}},
		{"a pattern", "ignore_fields: ", map[string]any{"yaml_body": manifest, "ignore_fields": []string{"spec.[x"}}},
		{"no address", "cluster: name either host or kubeconfig", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"token": canary}}},
		{"two addresses", "cluster: name either host or kubeconfig", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"host": "h", "kubeconfig": canary}}},
		{"two credentials", "credentials come from there", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"kubeconfig": "k", "token": canary}}},
		{"a context of nothing", "context needs kubeconfig", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"host": "h", "context": "c"}}},
		{"half a certificate", "need each other", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"host": "h", "client_key": canary}}},
		{"no command", "Missing Configuration for Required Attribute", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"host": "h", "exec": map[string]any{}}}},
		{"a path for a kubeconfig", "not its path", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"kubeconfig": "[" + canary}}},
		{"two tokens", "name either token or token_wo", map[string]any{"yaml_body": manifest, "token_wo": canary, "cluster": map[string]any{"host": "h", "token": canary}}},
		{"a token for nothing", "token_wo: needs cluster", map[string]any{"yaml_body": manifest, "token_wo": canary}},
		{"a cluster that says nothing", "", map[string]any{"yaml_body": manifest, "cluster": map[string]any{}}},
		{"an unknown context", "context was not found for specified context: c", map[string]any{"yaml_body": manifest, "cluster": map[string]any{"kubeconfig": "{apiVersion: v1, kind: Config, x: " + canary + "}", "context": "c"}}},
	} {
		t.Run(test.why, func(t *testing.T) {
			_, err := tf.validate(t, test.config)
			require.NotContains(t, fmt.Sprint(err), canary)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err := tf.tryPlan(t, map[string]any{"yaml_body": manifest})
	require.ErrorContains(t, err, "neither the resource nor the provider has a cluster, and KUBECONFIG isn't set")
}

// Words that YAML 1.1 reads as booleans are warned of at the attribute, before anything is planned.
func TestValidateWarns(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: x}\nstringData:\n  answer: Yes\n"
	const nowhere = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: no\n"
	const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  on: x\n  x: no\n"
	for _, row := range []struct {
		why    string
		config map[string]any
		at     string
		want   []string
	}{
		{"quoted words, and a word that means the same in each version", map[string]any{"yaml_body": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: 'on', true: x}}"}, "yaml_body", nil},
		{"a key, and a value", map[string]any{"yaml_body": settings}, "yaml_body", []string{
			"v1/ConfigMap a: could be read differently than you expect\nline 5: data: the key on is read as \"true\"; put it into quotes",
			"v1/ConfigMap a: could be read differently than you expect\nline 6: data.x: no is read as false; write false, or put it into quotes",
		}},
		{"the value of a Secret isn't shown", map[string]any{"yaml_body": secret}, "yaml_body", []string{
			"v1/Secret x/a: could be read differently than you expect\nline 5: stringData.answer: is read as a boolean; put it into quotes"}},
		{"nor is the path in a manifest that is kept nowhere", map[string]any{"yaml_body_wo": nowhere, "yaml_body_wo_version": 1}, "yaml_body_wo", []string{
			"v1/ConfigMap a: could be read differently than you expect\nline 5: a word is read as a boolean; put it into quotes"}},
	} {
		tf := newCore(t)
		warnings, err := tf.validate(t, row.config)
		require.NoError(t, err, row.why)
		require.Equal(t, row.want, warnings, row.why)
		require.Equal(t, len(row.want), strings.Count(tf.said.String(), `AttributeName("`+row.at+`")`), row.why)
	}
}
