package cmd_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What --like kubectl says is what the real kubectl then does: the values, who owns what, and whether it is refused.
func TestLikeKubectl(t *testing.T) {
	const before = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: one, b: two}\n"
	for _, row := range []struct {
		why     string
		prepare func(c *cluster)
		after   string
		flags   []string
		code    int
		says    string
	}{
		{"nothing is there", func(*cluster) {}, before, nil, 2, "+ v1/ConfigMap NS/a  create with 2 fields\n"},
		{"it applied before", func(c *cluster) { c.kubectl("apply", "--server-side", "-f", "before.yaml") }, strings.Replace(before, ", b: two", "", 1), nil, 2, "- data.b: \"two\"  # no longer in the manifest"},
		{"nothing changes", func(c *cluster) { c.kubectl("apply", "--server-side", "-f", "before.yaml") }, before, nil, 0, "Plan: 1 unchanged.\n"},
		{"another manager has a value", func(c *cluster) { c.kubectl("apply", "--server-side", "--field-manager", "other", "-f", "before.yaml") }, strings.Replace(before, "one", "three", 1), nil, 3, "1 in conflict"},
		{"and force", func(c *cluster) { c.kubectl("apply", "--server-side", "--field-manager", "other", "-f", "before.yaml") }, strings.Replace(before, "one", "three", 1),
			[]string{"--force-conflicts"}, 2, "~ data.a: \"one\" → \"three\""},
		{"it applied on the client's side", func(c *cluster) { c.kubectl("apply", "-f", "before.yaml") }, strings.Replace(before, ", b: two", "", 1), nil, 2, "- data.b: \"two\""},
		{"and changes a value", func(c *cluster) { c.kubectl("apply", "-f", "before.yaml") }, strings.Replace(before, "one", "three", 1), nil, 2, "~ data.a: \"one\" → \"three\""},
		{"and nothing tells what it applied", func(c *cluster) {
			c.kubectl("apply", "-f", "before.yaml")
			c.kubectl("annotate", "configmap", "a", "kubectl.kubernetes.io/last-applied-configuration-")
		}, strings.Replace(before, "one", "three", 1), nil, 3, "1 in conflict"},
		{"by force, where nothing tells what it applied", func(c *cluster) {
			c.kubectl("apply", "-f", "before.yaml")
			c.kubectl("annotate", "configmap", "a", "kubectl.kubernetes.io/last-applied-configuration-")
		}, strings.Replace(before, "one, b: two", "three", 1) + "# two stays\n", []string{"--force-conflicts"}, 2, "~ data.a: \"one\" → \"three\""},
		{"it applied on the client's side under another name", func(c *cluster) { c.kubectl("apply", "--field-manager", "mine", "-f", "before.yaml") },
			strings.Replace(before, ", b: two", "", 1), nil, 2, "- data.b: \"two\""},
		{"with force", func(c *cluster) { c.kubectl("apply", "-f", "before.yaml") }, strings.Replace(before, "one, b: two", "three", 1), []string{"--force-conflicts"}, 2, "~ a: \"one\" → \"three\""},
	} {
		t.Run(row.why, func(t *testing.T) {
			c := newCluster(t)
			write(t, map[string]string{"before.yaml": before, "app.yaml": row.after})
			row.prepare(c)
			planned := c.run("plan -f app.yaml --like kubectl " + strings.Join(row.flags, " "))
			assert.Equal(t, row.code, planned.code, planned.err)
			assert.Contains(t, strings.ReplaceAll(planned.out, c.Namespace, "NS"), row.says)
			assert.NotContains(t, planned.out, "warning")
			refused := 0
			if row.code == 3 {
				refused = 1
			}
			untouched := c.kubectl("get", "configmaps", "a", "--ignore-not-found", "-o", "jsonpath={.metadata.resourceVersion}")
			out := c.tryKubectl(refused, append([]string{"apply", "--server-side", "-f", "app.yaml"}, row.flags...)...)
			if refused == 1 {
				assert.Contains(t, out, "conflict")
				return
			}
			var live struct {
				Data     map[string]string
				Metadata struct{ ResourceVersion string }
			}
			require.NoError(t, json.Unmarshal([]byte(c.kubectl("get", "configmap", "a", "-o", "json")), &live))
			want := map[string]string{}
			if a := "a"; strings.Contains(row.after, "three") {
				want[a] = "three"
			} else {
				want[a] = "one"
			}
			if strings.Contains(row.after, "two") {
				want["b"] = "two"
			}
			assert.Equal(t, want, live.Data)
			if row.code == 0 {
				assert.Equal(t, untouched, live.Metadata.ResourceVersion)
			}
			again := c.run("plan -f app.yaml --like kubectl " + strings.Join(row.flags, " "))
			assert.Equal(t, 0, again.code, again.out)
		})
	}
}

// Each tool takes over what an older version of it wrote, or who wrote for it, so that what the manifest lacks goes, nobody is warned of what isn't
// there, and what it applied is left as it is.
func TestLikeAfterOlderVersions(t *testing.T) {
	const before, after = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: one, b: two}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: three}\n"
	serverSide := func(manager string) []string {
		return []string{"apply", "--server-side", "--field-manager", manager, "-f", "before.yaml"}
	}
	clientSide := func(manager string) []string {
		return []string{"apply", "--field-manager", manager, "-f", "before.yaml"}
	}
	created := func(manager string) []string {
		return []string{"create", "--field-manager", manager, "-f", "before.yaml"}
	}
	for _, row := range []struct {
		why, like  string
		wrote      []string
		code       int
		goes       bool // whether what the manifest lacks goes
		annotation bool // whether that of client-side apply stays
	}{
		{"itself", "flux", serverSide("kustomize-controller"), 2, true, false},
		{"kubectl on the server's side", "flux", serverSide("kubectl"), 2, true, false},
		{"the version that ran kubectl", "flux", clientSide("kubectl-client-side-apply"), 2, true, false},
		{"itself before it applied on the server's side", "flux", created("kustomize-controller"), 2, true, false},
		{"somebody with kubectl edit", "flux", created("kubectl-edit"), 2, true, false},
		{"a stranger", "flux", created("stranger"), 2, false, false},
		{"itself", "argocd", serverSide("argocd-controller"), 2, true, false},
		{"its client-side apply", "argocd", clientSide("argocd-controller"), 2, true, true},
		{"kubectl's client-side apply", "argocd", clientSide("kubectl-client-side-apply"), 2, true, true},
		{"somebody with kubectl create", "argocd", created("kubectl-create"), 2, false, false},
		{"itself", "helm", serverSide("helm"), 2, true, false},
		{"Helm 3", "helm", created("helm"), 2, true, false},
		{"somebody else", "helm", created("kubectl-create"), 3, false, false},
	} {
		t.Run(row.like+" after "+row.why, func(t *testing.T) {
			c := newCluster(t)
			write(t, map[string]string{"before.yaml": before, "app.yaml": after})
			c.kubectl(row.wrote...)
			got := c.run("plan -f app.yaml --like " + row.like)
			assert.Equal(t, row.code, got.code, got.err)
			assert.Equal(t, row.goes, strings.Contains(got.out, `- b: "two"`), got.out)
			assert.NotContains(t, got.out, "warning", "of an annotation that isn't there")
			hasAnnotation := slices.Contains(row.wrote, "apply") && !slices.Contains(row.wrote, "--server-side")
			assert.Equal(t, hasAnnotation && !row.annotation, strings.Contains(got.out, `- ["kubectl.kubernetes.io/last-applied-configuration"]`), got.out)

			c.overwrite("before.yaml", after) // nothing changes
			assert.NotContains(t, c.run("plan -f before.yaml --like "+row.like).out, "warning")
		})
	}
}

// Other tools have other names, and take over from others; flags have the last word.
func TestLikeOtherTools(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"before.yaml": configMap("a", "x"), "app.yaml": configMap("a", "z")})
	c.kubectl("apply", "-f", "before.yaml")
	for like, want := range map[string]struct {
		code int
		says string
	}{
		"flux":                         {2, `~ data.key: "x" → "z"`},
		"argocd":                       {2, `~ data.key: "x" → "z"`},
		"helm":                         {3, "1 in conflict"},
		"helm --force-conflicts":       {2, `○ taken from "kubectl-client-side-apply" (Update): data.key`},
		"flux --force-conflicts=false": {2, `~ data.key: "x" → "z"`},
		"flux --adopt other":           {2, `○ taken from "kubectl-client-side-apply" (Update): data.key`},
		"kubectl --field-manager mine": {3, "1 in conflict"},
	} {
		got := c.run("plan -f app.yaml --like " + like)
		assert.Equal(t, want.code, got.code, "%s: %s", like, got.err)
		assert.Contains(t, got.out, want.says, like)
	}
	assert.Equal(t, result{1, "", "--like kustomize: the tools are argocd, flux, helm, kubectl\n"}, c.run("plan -f app.yaml --like kustomize"))
	assert.Contains(t, c.run("plan -f app.yaml --like flux --out a").err, "--like: what flux is going to do isn't applied here")
}
