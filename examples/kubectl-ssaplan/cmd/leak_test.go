package cmd_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
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

// Whoever answers may quote the value of a Secret: no command shows it, in no format, on no stream and in no file.
func TestQuotedSecretsStaySecret(t *testing.T) {
	c := newCluster(t)
	proxy := faultproxy.StartAs(t, c.Server.Config())
	files := quotedFiles()
	write(t, files)
	c.apply("-f old.yaml --state state.json")
	c.apply("-f few.yaml --state few.json")
	silent := map[string]bool{ // where nothing is told of the answers: what keeps an object from being deleted is told before
		"question, delete --dry-run --state state.json": true, "dry run, apply --yes --prune --keep-going -o jsonl -f other.yaml --state few.json": true,
	}
	for _, row := range []struct {
		phase faultproxy.Phase
		lines []string
	}{
		{faultproxy.Reads, []string{
			"plan -f new.yaml", "plan -o json -f new.yaml --state state.json", "apply --yes --keep-going -f new.yaml --state state.json", "delete --dry-run --state state.json",
			"plan -f old.yaml --memory noops", "apply --yes --wait --timeout 5s --keep-going -o jsonl -f old.yaml", "release --dry-run --state state.json",
			"apply --yes --prune --keep-going -f other.yaml --state few.json",
		}},
		{faultproxy.Questions, []string{"plan -v -f new.yaml", "plan -o json -f new.yaml", "apply --yes --keep-going -f new.yaml --state state.json", "delete --dry-run --state state.json"}},
		{faultproxy.DryRuns, []string{
			"plan -v -f new.yaml", "plan -f retyped.yaml", "plan -o json -f retyped.yaml", "plan -o yaml -f new.yaml", "plan -o markdown -f new.yaml",
			"plan -o html -f new.yaml", "plan -f other.yaml --prune --state few.json", "apply --yes --keep-going -o json -f new.yaml", "delete --dry-run --state state.json",
			"plan -f new.yaml --memory noops", "plan -o json -f new.yaml --shard 1/2", "apply --yes --prune --keep-going -o jsonl -f other.yaml --state few.json",
		}},
		{faultproxy.Writes, []string{
			"apply --yes --keep-going -f new.yaml --state state.json", "apply --yes --keep-going -o jsonl -f new.yaml --state state.json",
			"apply --yes --keep-going -o json -f new.yaml", "apply --yes --keep-going -o html -f new.yaml", "apply --yes --prune --keep-going -o jsonl -f other.yaml --state few.json",
			"release --yes -f few.yaml", "delete --yes -f few.yaml",
		}},
	} {
		for _, line := range row.lines {
			what := fmt.Sprintf("%s, %s", row.phase, line)
			t.Run(what, func(t *testing.T) {
				proxy.InjectQuotes(row.phase)
				got := c.run(line + " --server " + proxy.Client("").Host)
				shown := got.out + got.err
				if strings.Contains(line, "--shard 1/2") {
					other := c.run(strings.Replace(line, "1/2", "2/2", 1) + " --server " + proxy.Client("").Host)
					require.NoError(t, os.WriteFile("1.json", []byte(got.out), 0o600))
					require.NoError(t, os.WriteFile("2.json", []byte(other.out), 0o600))
					merged := run(t.Context(), "", "plan", "merge", "1.json", "2.json")
					require.Contains(t, merged.err, "plans: ", "they are put together")
					shown += other.out + other.err + merged.out + merged.err
				}
				for _, file := range []string{"state.json", "few.json", "noops"} {
					kept, err := os.ReadFile(file)
					require.True(t, err == nil || file == "noops", err)
					shown += string(kept)
				}
				assert.Empty(t, leak.Found(shown), leaking(shown))
				assert.Equal(t, !silent[what], strings.Contains(shown, "withheld"))
			})
		}
	}
	proxy.InjectQuotes(faultproxy.DryRuns)
	for _, flag := range []string{"", " --show-server-text"} {
		got := c.run("plan -f new.yaml --server " + proxy.Client("").Host + flag)
		assert.Equal(t, flag == "", len(leak.Found(got.out+got.err)) == 0, "what looks for them would find them")
	}
	for range 20 { // a single object on the command line
		name := leak.Cases(len(faultproxy.Quotes), false)[rand.N(len(faultproxy.Quotes)*len(leak.Echoes))].Name()
		proxy.InjectQuotes(faultproxy.Reads)
		for _, line := range []string{"owners secret/" + name, "import " + c.Namespace + "/Secret/" + name} {
			got := c.run(line + " --server " + proxy.Client("").Host)
			assert.Empty(t, leak.Found(got.out+got.err), "%s\n%s", line, got.out+got.err)
		}
	}
}

// leaking returns some lines in which a value is.
func leaking(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return len(leak.Found(line)) == 0 })
	return strings.Join(lines[:min(len(lines), 5)], "\n")
}

// quotedFiles returns the Secrets of the cases, as they are, with other values and with another type.
func quotedFiles() map[string]string {
	var old, edited, retyped strings.Builder
	for _, c := range leak.Tried(len(faultproxy.Quotes), 11) {
		secret := func(out *strings.Builder, typ, value string) {
			fmt.Fprintf(out, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: %s}\ntype: vendor.io/%s\ndata: {k: %s}\n", c.Name(), typ,
				base64.StdEncoding.EncodeToString([]byte(value)))
		}
		secret(&old, "a", c.Secret())
		secret(&edited, "a", c.Secret()+", edited")
		secret(&retyped, "b", c.Secret())
	}
	few := strings.Join(strings.SplitAfter(old.String(), "---\n")[:12], "") // each waits for a second or more
	return map[string]string{
		"old.yaml": old.String(), "new.yaml": edited.String(), "retyped.yaml": retyped.String(), "few.yaml": few, "other.yaml": configMap("other", "x"),
	}
}

// An address in a kubeconfig can have a password in it.
func TestAddressesHaveNoPasswords(t *testing.T) {
	for _, address := range []string{"https://user:c4n4ry@127.0.0.1:1", "https://user:c4n4ry@bad host", "https://user:c4n4ry@host:port", "u:c4n4ry@h"} {
		for _, key := range []string{"server", "proxy-url"} {
			settings := map[string]string{"server": "https://127.0.0.1:1", "proxy-url": "http://127.0.0.1:1"}
			settings[key] = address
			write(t, map[string]string{"app.yaml": configMap("a", "x"), "kubeconfig": fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: a, "+
				"contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: %q, proxy-url: %q}}]}", settings["server"], settings["proxy-url"])})
			for _, line := range []string{"plan -f app.yaml", "apply --yes -f app.yaml", "owners cm/a", "import x/ConfigMap/a"} {
				got := run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", "kubeconfig", "--request-timeout", "2s")...)
				assert.Equal(t, 1, got.code, "%s %s %s", key, address, line)
				assert.NotContains(t, got.out+got.err, "c4n4ry", "%s %s %s", key, address, line)
			}
		}
	}
}

// Whoever writes a status may quote a value of its object: no wait shows it, in no format.
func TestStatusesThatQuoteSecrets(t *testing.T) {
	c := newCluster(t)
	const kind = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: logins.quoting.example.com}, spec: {group: quoting.example.com,
		scope: Namespaced, names: {plural: logins, kind: Login}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object,
		properties: {spec: {type: object, properties: {token: {type: string}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`
	c.Define(t, lab.Object(t, kind))
	cases := leak.Tried(len(leak.Echoes), 5)
	var files strings.Builder
	for _, one := range cases {
		fmt.Fprintf(&files, "---\napiVersion: quoting.example.com/v1\nkind: Login\nmetadata: {name: %s}\nspec: {token: %q}\n", one.Name(), one.Secret())
	}
	write(t, map[string]string{"all.yaml": files.String()})
	c.apply("-f all.yaml --sensitive spec.token")
	for _, one := range cases {
		condition := map[string]any{"type": "Ready", "status": "False", "reason": "Refused", "message": "refused: " + one.Said() + "\n\x1b[2K"}
		if one.Echo%3 == 0 { // nothing keeps a status from having anything anywhere
			condition["status"], condition["reason"] = one.Said(), one.Said()
		}
		status, err := json.Marshal(map[string]any{"status": map[string]any{"observedGeneration": 1, "conditions": []any{condition}}})
		require.NoError(t, err)
		login := lab.Objectf(t, "{apiVersion: quoting.example.com/v1, kind: Login, metadata: {name: %s}}", one.Name())
		c.Patch(t, "controller", login, string(status), "status")
	}
	for _, line := range []string{"", "-o json", "-o yaml", "-o jsonl", "-o markdown", "-o html", "-o json --ready Login.quoting.example.com=Ready", "--ready Login.quoting.example.com=Ready"} {
		got := c.run("apply --yes --wait --timeout 5s --sensitive spec.token -f all.yaml " + line)
		assert.Equal(t, 1, got.code, line)
		assert.Empty(t, leak.Found(got.out+got.err), "%s: %s", line, leaking(got.out+got.err))
		assert.Contains(t, got.err, "withheld", line)
		assert.NotContains(t, got.out+got.err, "\x1b", line)
	}
	got := c.run("apply --yes --wait --timeout 5s -f all.yaml")
	assert.NotEmpty(t, leak.Found(got.err), "what looks for them would find them")
	assert.NotContains(t, got.out+got.err, "\x1b[2K")
}
