package cmd_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// A server's answer may quote the value of a Secret. No command shows the value on a stream or in a file. The library
// redacts the answers, and test/e2e/planner tests it with every answer; LEAKS=all tries every answer here, too.
func TestQuotedSecretsStaySecret(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	proxy := faultproxy.StartAs(t, c.Server.Config())
	at := " --server " + proxy.Client("").Host
	hurried := clock.With(t.Context(), &clock.Fake{LongestSleep: time.Millisecond})
	c.write(quotedFiles())
	c.apply("-f old.yaml --state state.json")
	c.apply("-f few.yaml --state few.json")
	silent := map[string]bool{ // runs that print no answer: what blocks a delete is printed before
		"question, delete --dry-run --state state.json": true, "dry run, apply --yes --prune --keep-going -o jsonl -f other.yaml --state few.json": true,
	}
	for _, row := range []struct {
		phase faultproxy.Phase
		lines []string
	}{
		{faultproxy.Reads, []string{
			"plan -o json -f new.yaml --state state.json", "plan -f old.yaml --memory noops", "apply --yes --wait --keep-going -o jsonl -f old.yaml",
			"apply --yes --prune --keep-going -f other.yaml --state few.json", "delete --dry-run --state state.json", "release --dry-run --state state.json",
		}},
		{faultproxy.Questions, []string{"plan -v -f new.yaml", "delete --dry-run --state state.json"}},
		{faultproxy.DryRuns, []string{
			"plan -f retyped.yaml", "plan -o yaml -f new.yaml", "plan -o markdown -f new.yaml", "plan -o html -f new.yaml", "plan -o diff -f new.yaml",
			"plan -f other.yaml --prune --state few.json", "plan -o json -f new.yaml --shard 1/2", "apply --yes --prune --keep-going -o jsonl -f other.yaml --state few.json",
		}},
		{faultproxy.Writes, []string{
			"apply --yes --keep-going -f new.yaml --state state.json", "apply --yes --keep-going -o jsonl -f new.yaml --state state.json",
			"apply --yes --keep-going -o json -f new.yaml", "apply --yes --keep-going -o html -f new.yaml",
			"apply --yes --prune --keep-going -o jsonl -f other.yaml --state few.json", "release --yes -f few.yaml", "delete --yes -f few.yaml",
		}},
	} {
		for _, line := range row.lines {
			what := fmt.Sprintf("%s, %s", row.phase, line)
			t.Run(what, func(t *testing.T) {
				proxy.InjectQuotes(row.phase)
				got := c.runIn(hurried, line+at)
				shown := got.out + got.err
				if strings.Contains(line, "--shard 1/2") {
					other := c.runIn(hurried, strings.Replace(line, "1/2", "2/2", 1)+at)
					c.write(map[string]string{"1.json": got.out, "2.json": other.out})
					merged := c.command(t.Context(), "", "plan", "merge", "1.json", "2.json")
					require.Contains(t, merged.err, "plans: ", "they are put together")
					shown += other.out + other.err + merged.out + merged.err
				}
				shown += c.read("state.json") + c.read("few.json")
				if strings.Contains(line, "noops") {
					shown += c.read("noops")
				}
				assert.Empty(t, leak.Found(shown), leaking(shown))
				assert.Equal(t, !silent[what], strings.Contains(shown, "redacted"))
			})
		}
	}
	proxy.InjectQuotes(faultproxy.DryRuns)
	for _, flag := range []string{"", " --show-server-text"} {
		got := c.run("plan -f new.yaml" + at + flag)
		assert.Equal(t, flag == "", len(leak.Found(got.out+got.err)) == 0, "what looks for them would find them")
	}
	proxy.InjectQuotes(faultproxy.Reads)
	for _, one := range leak.Tried(len(faultproxy.Quotes), 41) { // a single object on the command line
		for _, line := range []string{"owners secret/" + one.Name(), "import " + c.Namespace + "/Secret/" + one.Name()} {
			got := c.runIn(hurried, line+at)
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
	for _, c := range leak.Tried(len(faultproxy.Quotes), 17) {
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
			for _, line := range []string{"plan -f app.yaml", "apply --yes -f app.yaml", "plan -f app.yaml -o json", "owners cm/a", "import x/ConfigMap/a"} {
				got := run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", "kubeconfig", "--request-timeout", "2s")...)
				assert.Equal(t, 1, got.code, "%s %s %s", key, address, line)
				assert.NotContains(t, got.out+got.err, "c4n4ry", "%s %s %s", key, address, line)
				if strings.HasSuffix(line, "json") {
					fitsSchema(t, got.out)
				}
			}
		}
	}
}

// The status of an object may quote a sensitive value of the object. apply --wait shows the value in no format.
func TestStatusesThatQuoteSecrets(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const kind = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: logins.quoting.example.com}, spec: {group: quoting.example.com,
		scope: Namespaced, names: {plural: logins, kind: Login}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object,
		properties: {spec: {type: object, properties: {token: {type: string}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`
	c.Define(t, lab.Object(t, kind))
	cases := leak.Tried(len(leak.Echoes), 17)
	var files strings.Builder
	for _, one := range cases {
		fmt.Fprintf(&files, "---\napiVersion: quoting.example.com/v1\nkind: Login\nmetadata: {name: %s}\nspec: {token: %q}\n", one.Name(), one.Secret())
	}
	c.overwrite("all.yaml", files.String())
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
	for _, line := range []string{"", "-o json", "-o jsonl", "-o markdown", "-o html", "-o yaml --ready Login.quoting.example.com=Ready"} {
		got := c.runIn(clock.With(t.Context(), &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 5}), "apply --yes --wait --sensitive spec.token -f all.yaml "+line)
		assert.Equal(t, 1, got.code, line)
		assert.Empty(t, leak.Found(got.out+got.err), "%s: %s", line, leaking(got.out+got.err))
		assert.Contains(t, got.err, "redacted", line)
		assert.NotContains(t, got.out+got.err, "\x1b", line)
	}
	got := c.runIn(clock.With(t.Context(), &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 5}), "apply --yes --wait -f all.yaml")
	assert.NotEmpty(t, leak.Found(got.err), "what looks for them would find them")
	assert.NotContains(t, got.out+got.err, "\x1b[2K")
}

// A secret comes into objects that aren't Secrets in more than one shape. No output has it in any of them, and neither
// has a saved plan, what is shown of that, or a state.
func TestShapesOfSecrets(t *testing.T) {
	cases := leak.TriedValues(7)
	const marked = ", format: password"
	for name, shape := range map[string]struct {
		old, new string // what is applied before, if that is something, and what is planned
		oldMark  string
		flags    string
		shows    string // in JSON
	}{
		"a definition in the same set":        {new: "vault", shows: `"janenew"`},
		"a definition that marks more":        {old: "vault", new: "vault", shows: `"janenew"`},
		"an old object of another kind":       {old: "vault", oldMark: marked, new: "settings", flags: " --prune", shows: `"removals"`},
		"a manifest of a Secret in a setting": {old: "carried", oldMark: marked, new: "carried", shows: `"janenew"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			all := func(kind, mark, edit string) string {
				var text strings.Builder
				text.WriteString(strings.NewReplacer("NS", c.Namespace, "MARK", mark).Replace(vaults))
				for _, one := range cases {
					value := edit + one.Secret()
					secret, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"password": value}})
					require.NoError(t, err)
					annotations := fmt.Sprintf("{copy: %q}", edit+one.Said())
					if kind == "settings" { // which has no secret, and so nothing that could be a copy of one
						annotations = "{}"
					}
					fmt.Fprintf(&text, "---\nmetadata: {name: %s, annotations: %s}\n", one.Name(), annotations)
					switch kind {
					case "vault":
						fmt.Fprintf(&text, "apiVersion: %s.example.com/v1\nkind: Vault\nspec: {user: jane%s, password: %q, tokens: [%[3]q, same], keys: [{key: %[3]q, name: k}]}\n", c.Namespace, edit, value)
					case "settings":
						fmt.Fprintf(&text, "apiVersion: v1\nkind: ConfigMap\ndata: {user: jane%s}\n", edit)
					case "carried":
						fmt.Fprintf(&text, "apiVersion: v1\nkind: ConfigMap\ndata: {user: jane%s, app.json: %q}\n", edit, secret)
					}
				}
				return text.String()
			}
			if shape.old != "" {
				c.overwrite("all.yaml", all(shape.old, shape.oldMark, ""))
				got := c.run("apply --yes -o json -f all.yaml --state state.json")
				require.Equal(t, 0, got.code, got.err)
				assert.Equal(t, shape.oldMark == marked, len(leak.Found(got.out+got.err+c.read("state.json"))) == 0, "what looks for them would find them")
			}
			c.overwrite("all.yaml", all(shape.new, marked, "new"))
			line := " -f all.yaml --state state.json" + shape.flags
			outputs := []string{" -v", " -o json"}
			if name == "an old object of another kind" { // which has removals, too: once in every format
				for _, format := range completed(t, "plan", "-o", "") {
					outputs = append(outputs, " -o "+format)
				}
				require.Greater(t, len(outputs), 6)
			}
			for _, output := range outputs {
				got := c.run("plan" + line + output)
				require.Equal(t, 2, got.code, got.err)
				assert.Empty(t, leak.Found(got.out+got.err), "%s: %s", output, leaking(got.out+got.err))
				if output == " -o json" {
					assert.Contains(t, got.out, shape.shows)
				}
			}
			got := c.run("plan" + line + " --out saved")
			require.Equal(t, 2, got.code, got.err)
			assert.Empty(t, leak.Found(c.read("saved")), leaking(c.read("saved")))
			for _, output := range []string{"-v", "-o json"} {
				got := c.command(t.Context(), "", strings.Fields("show saved "+output)...)
				require.Equal(t, 0, got.code, got.err)
				assert.Empty(t, leak.Found(got.out+got.err), "show %s: %s", output, leaking(got.out+got.err))
			}
			got = c.run("apply --yes --replace -o json" + line)
			require.Equal(t, 0, got.code, got.err)
			assert.Empty(t, leak.Found(got.out+got.err), "apply: %s", leaking(got.out+got.err))
			assert.Empty(t, leak.Found(c.read("state.json")), leaking(c.read("state.json")))
		})
	}
}

// vaults is a definition of a kind in the group of a namespace, in which MARK says what is secret.
const vaults = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: vaults.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {plural: vaults, singular: vault, kind: Vault}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              user: {type: string}
              password: {type: stringMARK}
              tokens: {type: array, x-kubernetes-list-type: set, items: {type: stringMARK}}
              keys:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                items: {type: object, required: [key], properties: {key: {type: stringMARK}, name: {type: string}}}
`
