package cmd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settings is a ConfigMap with some data.
func settings(name, data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}, data: {" + data + "}}\n"
}

// What --like kubectl says is what the real kubectl then does: the values, who owns what, and whether it is refused.
func TestLikeKubectl(t *testing.T) {
	t.Parallel()
	shared := newCluster(t)
	const both, one, three = "a: one, b: two", "a: one", "a: three, b: two"
	const forget = "annotate configmap NAME kubectl.kubernetes.io/last-applied-configuration-"
	for i, row := range []struct {
		why, wrote string // kubectl's, on what has both
		applied    string
		flags      string
		code       int
		says       string
		want       map[string]string // none if it is refused
	}{
		{"nothing is there", "", both, "", 2, "+ v1/ConfigMap NS/NAME  create with 2 fields\n", map[string]string{"a": "one", "b": "two"}},
		{"it applied before", "apply --server-side -f before.yaml", one, "", 2, "- data.b: \"two\"  # no longer in the manifest", map[string]string{"a": "one"}},
		{"nothing changes", "apply --server-side -f before.yaml", both, "", 0, "Plan: 1 unchanged.\n", map[string]string{"a": "one", "b": "two"}},
		{"another manager has a value", "apply --server-side --field-manager other -f before.yaml", three, "", 3, "1 in conflict", nil},
		{"and force", "apply --server-side --field-manager other -f before.yaml", three, "--force-conflicts", 2, "~ data.a: \"one\" -> \"three\"", map[string]string{"a": "three", "b": "two"}},
		{"it applied on the client's side", "apply -f before.yaml", one, "", 2, "- data.b: \"two\"", map[string]string{"a": "one"}},
		{"and changes a value", "apply -f before.yaml", three, "", 2, "~ data.a: \"one\" -> \"three\"", map[string]string{"a": "three", "b": "two"}},
		{"and nothing tells what it applied", "apply -f before.yaml;" + forget, three, "", 3, "1 in conflict", nil},
		{"by force, where nothing tells what it applied", "apply -f before.yaml;" + forget, "a: three", "--force-conflicts", 2, "~ data.a: \"one\" -> \"three\"",
			map[string]string{"a": "three", "b": "two"}},
		{"it applied on the client's side under another name", "apply --field-manager mine -f before.yaml", one, "", 2, "- data.b: \"two\"", map[string]string{"a": "one"}},
		{"with force", "apply -f before.yaml", "a: three", "--force-conflicts", 2, "~ a: \"one\" -> \"three\"", map[string]string{"a": "three"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			c := &cluster{shared.Cluster, t, t.TempDir()}
			name := fmt.Sprintf("c%d", i)
			c.write(map[string]string{"before.yaml": settings(name, both), "app.yaml": settings(name, row.applied)})
			for _, line := range strings.FieldsFunc(row.wrote, func(r rune) bool { return r == ';' }) {
				c.kubectl(strings.Fields(strings.Replace(line, "NAME", name, 1))...)
			}
			planned := c.run("plan -f app.yaml --like kubectl " + row.flags)
			assert.Equal(t, row.code, planned.code, planned.err)
			assert.Contains(t, planned.of(c).out, strings.Replace(row.says, "NAME", name, 1))
			assert.NotContains(t, planned.out, "warning")
			untouched := c.kubectl("get", "configmaps", name, "--ignore-not-found", "-o", "jsonpath={.metadata.resourceVersion}")
			applied := c.tryKubectl(append([]string{"apply", "--server-side", "-f", "app.yaml", "-n", c.Namespace}, strings.Fields(row.flags)...)...)
			if row.want == nil {
				assert.Equal(t, 1, applied.code)
				assert.Contains(t, applied.out, "conflict")
				return
			}
			require.Zero(t, applied.code, applied.out)
			var live struct {
				Data     map[string]string
				Metadata struct{ ResourceVersion string }
			}
			require.NoError(t, json.Unmarshal([]byte(c.kubectl("get", "configmap", name, "-o", "json")), &live))
			assert.Equal(t, row.want, live.Data)
			if row.code == 0 {
				assert.Equal(t, untouched, live.Metadata.ResourceVersion)
			}
			again := c.run("plan -f app.yaml --like kubectl " + row.flags)
			assert.Equal(t, 0, again.code, again.out)
		})
	}
}

// --like takes over the fields that an older version of the tool wrote, or that kubectl wrote for the tool. The plan
// removes those fields that the manifest lacks. It doesn't warn about a missing annotation, and removes the annotation
// of client-side apply only if the tool does.
func TestLikeAfterOlderVersions(t *testing.T) {
	t.Parallel()
	const applied, clientSide, created = "apply --server-side", "apply", "create"
	type row struct {
		why, how, manager string
		goes, annotation  bool // whether what the manifest lacks goes, and whether what client-side apply noted stays
	}
	for like, rows := range map[string][]row{
		"flux": {
			{"itself", applied, "kustomize-controller", true, false},
			{"kubectl on the server's side", applied, "kubectl", true, false},
			{"the version that ran kubectl", clientSide, "kubectl-client-side-apply", true, false},
			{"itself before it applied on the server's side", created, "kustomize-controller", true, false},
			{"somebody with kubectl edit", created, "kubectl-edit", true, false},
			{"a stranger", created, "stranger", false, false},
		},
		"argocd": {
			{"itself", applied, "argocd-controller", true, false},
			{"its client-side apply", clientSide, "argocd-controller", true, true},
			{"kubectl's client-side apply", clientSide, "kubectl-client-side-apply", true, true},
			{"somebody with kubectl create", created, "kubectl-create", false, false},
		},
		"helm": {
			{"itself", applied, "helm", true, false},
			{"Helm 3", created, "helm", true, false},
			{"somebody else is in conflict", created, "kubectl-create", false, false},
		},
	} {
		t.Run(like, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			var before, after strings.Builder
			for i, row := range rows {
				name := fmt.Sprintf("c%d", i)
				c.overwrite("one.yaml", settings(name, "a: one, b: two"))
				c.kubectl(append(strings.Fields(row.how), "--field-manager", row.manager, "-f", "one.yaml")...)
				fmt.Fprintf(&before, "---\n%s", settings(name, "a: one, b: two"))
				fmt.Fprintf(&after, "---\n%s", settings(name, "a: three"))
			}
			c.write(map[string]string{"before.yaml": before.String(), "after.yaml": after.String()})
			got := c.run("plan -v -f after.yaml --like " + like).of(c)
			assert.NotContains(t, got.out, "warning", "of an annotation that isn't there")
			blocks := strings.Split(got.out, "\n\n")
			for i, row := range rows {
				at := slices.IndexFunc(blocks, func(block string) bool { return strings.Contains(block, fmt.Sprintf(" v1/ConfigMap NS/c%d  ", i)) })
				require.GreaterOrEqual(t, at, 0, got.out)
				assert.Equal(t, strings.Contains(row.why, "in conflict"), strings.HasPrefix(blocks[at], "!"), "%s: %s", row.why, blocks[at])
				assert.Equal(t, row.goes, strings.Contains(blocks[at], `b: "two"`), "%s: %s", row.why, blocks[at])
				assert.Equal(t, row.how == clientSide && !row.annotation, strings.Contains(blocks[at], `- ["kubectl.kubernetes.io/last-applied-configuration"]`), "%s: %s", row.why, blocks[at])
			}
			assert.NotContains(t, c.run("plan -f before.yaml --like "+like).out, "warning", "where nothing changes")
		})
	}
}
