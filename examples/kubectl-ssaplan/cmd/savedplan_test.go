package cmd_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// apart is an application in a namespace of its own, which comes with it, with rights, a new kind and an object of it, and no secret.
const apart = `apiVersion: v1
kind: Namespace
metadata: {name: NS-apart}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: NS-apart}
data: {a: b}
immutable: no
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: NS}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get, list]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {plural: parts, singular: part, kind: Part, listKind: PartList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}}}
---
apiVersion: NS.example.com/v1
kind: Part
metadata: {name: one, namespace: NS}
spec: {}
`

// A plan that was saved is shown as it was printed, carried out in one run, stage by stage, and not a second time.
func TestSavedPlan(t *testing.T) {
	c := newCluster(t)
	t.Cleanup(func() { c.kubectl("delete", "crd", "parts."+c.Namespace+".example.com") })
	write(t, map[string]string{"app.yaml": strings.ReplaceAll(apart, "NS", c.Namespace) + "---\n" + strings.Replace(deployment, "name: web\n", "name: web\n  namespace: "+c.Namespace+"\n", 1)})
	command := func(line string) result {
		return run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", c.Server.Kubeconfig())...)
	}
	planned := command("plan -f app.yaml --out saved.plan --state state.json")
	require.Equal(t, 2, planned.code, planned.err)
	require.Regexp(t, `^saved the plan in saved.plan, sha256:[0-9a-f]{64}\n$`, planned.err)
	assert.Contains(t, planned.out, "widens rights")
	info, err := os.Stat("saved.plan")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	for _, format := range []string{"text", "text -v", "json", "json -v", "jsonl", "yaml", "markdown", "html"} {
		again := command("plan -f app.yaml --state state.json -o " + format)
		shown := run(t.Context(), "", strings.Fields("show saved.plan -o "+format)...)
		assert.Equal(t, result{0, again.out, ""}, shown, "%s, without a cluster", format)
	}
	digest := strings.TrimSpace(strings.TrimPrefix(planned.err, "saved the plan in saved.plan, "))
	assert.Equal(t, 1, run(t.Context(), "", "show", "saved.plan", "--digest", "sha256:0").code)

	require.NoError(t, os.Remove("app.yaml"))
	applied := command("apply --plan saved.plan --digest " + digest)
	require.Equal(t, 0, applied.code, applied.err)
	assert.Contains(t, applied.err, "created "+c.Namespace+".example.com/v1/Part "+c.Namespace+"/one\n")
	assert.Contains(t, applied.out, "Plan: 4 to create, 2 deferred.")
	assert.FileExists(t, "state.json", "as the plan was made")

	twice := command("apply --plan saved.plan")
	assert.Equal(t, 1, twice.code)
	assert.Empty(t, twice.out)
	assert.Contains(t, twice.err, "apps/v1/Deployment "+c.Namespace+"/web: reviewed was Create:")
	assert.Contains(t, twice.err, "nothing was applied: not as it was reviewed: 6 of 6 objects; plan again\n")
}

// Whatever makes another plan of it than was reviewed keeps all of it from being applied, and is shown.
func TestSavedPlanIsRefused(t *testing.T) {
	for _, row := range []struct {
		why, with string // flags of plan
		change    func(c *cluster)
		says      string
	}{
		{"somebody changed a field of it", "", func(c *cluster) {
			c.kubectl("patch", "configmap", "web-conf", "--field-manager", "night-shift", "-p", `{"data":{"a":"z"}}`)
		}, `reviewed was NoOp: `},
		{"somebody changed what would change", "", func(c *cluster) {
			c.kubectl("patch", "configmap", "db-conf", "--field-manager", "night-shift", "-p", `{"data":{"a":"z"}}`)
		}, "reviewed was Update: 1 edited; now it is Update: 1 drifted; changes, ownership differ\n"},
		{"somebody deleted it", "", func(c *cluster) { c.kubectl("delete", "configmap", "db-conf") }, "reviewed was Update: 1 edited; now it is Create: "},
		{"somebody made it anew", "", func(c *cluster) {
			text := c.kubectl("get", "configmap", "db-conf", "-o", "yaml", "--show-managed-fields")
			c.kubectl("delete", "configmap", "db-conf")
			require.NoError(c.t, os.WriteFile("again.yaml", []byte(text), 0o600))
			c.run("apply --yes -f before.yaml")
		}, "now it is Update: 1 edited; what differs isn't shown: "},
		{"what is to be pruned isn't remembered any more", "--state state.json --prune", func(c *cluster) {
			require.NoError(c.t, os.Remove("state.json"))
		}, "was to be deleted, and isn't remembered any more"},
		{"what is to be pruned has a finalizer by now", "--state state.json --prune", func(c *cluster) {
			c.kubectl("patch", "configmap", "old", "--field-manager", "other", "-p", `{"metadata":{"finalizers":["example.com/keep"]}}`)
			c.t.Cleanup(func() { c.kubectl("patch", "configmap", "old", "-p", `{"metadata":{"finalizers":null}}`) })
		}, "would be deleted, which wasn't reviewed so"},
		{"something else would be pruned", "--state state.json --prune", func(c *cluster) {
			c.run("apply --yes -f more.yaml --state state.json")
		}, "would be deleted, which wasn't reviewed so"},
		{"another file", "", func(c *cluster) { require.NoError(c.t, os.WriteFile("saved.plan", []byte("apiVersion: v1\n"), 0o600)) }, "saved.plan: not a saved plan\n"},
		{"a cut file", "", func(c *cluster) { c.tamper(func(text []byte) []byte { return text[:len(text)-9] }) }, "cut or changed"},
		{"a changed file", "", func(c *cluster) {
			c.tamper(func(text []byte) []byte { return bytes.Replace(text, []byte(`"a":"c"`), []byte(`"a":"d"`), 1) })
		}, "cut or changed"},
		{"a manifest that was changed with its digest", "", func(c *cluster) {
			c.tamper(func(text []byte) []byte {
				return withDigest(bytes.ReplaceAll(text, []byte(`"a":"c"`), []byte(`"a":"d"`)))
			})
		}, "now it is Update: 1 edited; changes differ\n"},
		{"another version", "", func(c *cluster) {
			c.tamper(func(text []byte) []byte { return bytes.Replace(text, []byte("plan 1 "), []byte("plan 2 "), 1) })
		}, "of version 2, but this program reads version 1: plan again"},
	} {
		t.Run(row.why, func(t *testing.T) {
			c := newCluster(t)
			write(t, map[string]string{"before.yaml": twoKinds, "app.yaml": strings.Replace(twoKinds, "db}}\ndata: {a: b}", "db}}\ndata: {a: c}", 1),
				"more.yaml": configMap("more", "x"), "old.yaml": configMap("old", "x")})
			flags := " " + row.with
			c.apply("-f before.yaml -f old.yaml" + strings.ReplaceAll(flags, "--prune", ""))
			planned := c.run("plan -f app.yaml --out saved.plan" + flags)
			require.Equal(t, 2, planned.code, planned.err)
			row.change(c)
			before := c.kubectl("get", "configmaps,services", "-o", "yaml", "--show-managed-fields")
			got := c.run("apply --plan saved.plan")
			assert.Equal(t, 1, got.code, got.out)
			assert.Contains(t, got.err, row.says)
			if !strings.Contains(got.err, "saved.plan: ") {
				assert.Contains(t, got.err, "nothing was applied: ")
			}
			assert.Equal(t, before, c.kubectl("get", "configmaps,services", "-o", "yaml", "--show-managed-fields"), "nothing was written")
		})
	}
}

// A plan is carried out in the cluster that it was made for, by whichever address, and by whoever may do it. Nothing but the cluster tells that what
// is to be created isn't as it was reviewed.
func TestSavedPlanIsOfOneCluster(t *testing.T) {
	other, err := controlplane.Start(t.Context(), controlplane.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Stop()) })
	c := newCluster(t)
	c.kubectl("create", "role", "writer", "--verb", "*", "--resource", "configmaps")
	c.kubectl("create", "rolebinding", "writer", "--role", "writer", "--user", "writer-of-"+c.Namespace)
	lab.Connect(t, other.Config()).Apply(t, "test", lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace))
	uid := func(server *controlplane.Server) string {
		system := lab.Connect(t, server.Config()).Get(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}"))
		return string(system.GetUID())
	}
	host := c.Server.Config().Host
	tunnel := " --server " + strings.Replace(host, "127.0.0.1", "localhost", 1)
	limited := " --as writer-of-" + c.Namespace
	for _, row := range []struct {
		why, plan, apply string
		of               *controlplane.Server // that of the plan if nil
		says             string               // empty if it is carried out
	}{
		{why: "the same one"},
		{why: "by another address", apply: tunnel},
		{why: "by who may not read kube-system, although it was planned by who may", apply: limited},
		{why: "by who may read kube-system, although it was planned by who may not", plan: limited},
		{why: "by who may not read kube-system", plan: limited, apply: limited},
		{why: "another address, and by it nobody knows", plan: limited, apply: tunnel, says: "address \"sha256:"},
		{why: "another address, and of it nobody knows", apply: limited + tunnel, says: "since the namespace kube-system can't be read"},
		{why: "another cluster", of: other, says: uid(other)},
		{why: "another cluster, although it was planned by who may not read kube-system", plan: limited, of: other, says: uid(other)},
	} {
		t.Run(row.why, func(t *testing.T) {
			write(t, map[string]string{"app.yaml": configMap("settings", "x")})
			planned := c.run("plan -f app.yaml --out saved.plan" + row.plan)
			require.Equal(t, 2, planned.code, planned.err)
			at := &cluster{c.Cluster, t}
			if row.of != nil {
				connected := *lab.Connect(t, row.of.Config())
				connected.Server, connected.Namespace = row.of, c.Namespace
				at.Cluster = &connected
			}
			got := at.run("apply --plan saved.plan" + row.apply)
			settings := at.kubectl("get", "configmaps", "settings", "--ignore-not-found", "-o", "name")
			if row.says == "" {
				require.Equal(t, 0, got.code, got.err)
				at.kubectl("delete", "configmaps", "settings")
				return
			}
			assert.Equal(t, 1, got.code, got.out)
			assert.Contains(t, got.err, "nothing was applied: saved.plan was made for another cluster: for ")
			assert.Contains(t, got.err, row.says)
			if row.plan == "" {
				assert.Contains(t, got.err, "for namespace kube-system \""+uid(c.Server)+"\"")
			}
			assert.Empty(t, settings, "nothing was written")
		})
	}
}

func (c *cluster) tamper(change func([]byte) []byte) {
	c.t.Helper()
	text, err := os.ReadFile("saved.plan")
	require.NoError(c.t, err)
	changed := change(bytes.Clone(text))
	require.NotEqual(c.t, text, changed)
	require.NoError(c.t, os.WriteFile("saved.plan", changed, 0o600))
}

// withDigest makes a saved plan of what somebody changed who knows the form.
func withDigest(text []byte) []byte {
	_, body, _ := bytes.Cut(text, []byte("\n"))
	return append([]byte("ssaplan saved plan 1 "+review.Digest(body)+"\n"), body...)
}

// What was reviewed is done although something changed that no part of the plan tells of.
func TestSavedPlanOutlivesWhatDoesntMatter(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x"), "more.yaml": configMap("b", "x")})
	c.apply("-f app.yaml -f more.yaml --state state.json")
	c.edit("app.yaml", "key: x", "key: z")
	planned := c.run("plan -f app.yaml --state state.json --prune --out saved.plan")
	require.Equal(t, 2, planned.code, planned.err)
	c.kubectl("patch", "configmap", "a", "--field-manager", "night-shift", "-p", `{"data":{"other":"thing"}}`)
	got := c.run("apply --plan saved.plan")
	require.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.err, "deleted v1/ConfigMap "+c.Namespace+"/b\n")
	assert.Equal(t, "z", c.kubectl("get", "configmap", "a", "-o", "jsonpath={.data.key}"))
}

// Where a plan is saved can be a pipe, and is looked at before anything is planned.
func TestSavedPlanIntoAPipe(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	require.NoError(t, exec.Command("mkfifo", "pipe").Run())
	read := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile("pipe")
		read <- string(text)
	}()
	planned := c.run("plan -f app.yaml --out pipe")
	require.Equal(t, 2, planned.code, planned.err)
	text := <-read
	require.Contains(t, planned.err, "saved the plan in pipe, "+review.Digest([]byte(text)))
	require.NoError(t, os.WriteFile("saved.plan", []byte(text), 0o600))
	got := c.run("apply --plan saved.plan")
	require.Equal(t, 0, got.code, got.err)
}

func TestSavedPlansAreBounded(t *testing.T) {
	write(t, map[string]string{"saved.plan": "ssaplan saved plan 1 sha256:0\n"})
	require.NoError(t, os.Truncate("saved.plan", 1<<30))
	for _, args := range []string{"show saved.plan", "apply --plan saved.plan"} {
		got := run(t.Context(), "", strings.Fields(args)...)
		require.Equal(t, result{1, "", "saved.plan: can't be read: is larger than 256 MiB; check what it is, or split it up\n"}, got)
	}
}

// Secrets are saved if that was asked for, and otherwise taken from the manifests once more, which have to be the same.
func TestSavedPlanWithSecrets(t *testing.T) {
	const canary, coded = "c4n4ry-of-a-saved-plan", "YzRuNHJ5LW9mLWEtc2F2ZWQtcGxhbg"
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: NS}\nstringData: {a: " + canary + "}\n"
	c := newCluster(t)
	write(t, map[string]string{
		"app.yaml": strings.ReplaceAll(secret, "NS", c.Namespace) + "---\n" + configMap("a", "x"),
		"new.yaml": strings.ReplaceAll("apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---\n"+secret, "NS", c.Namespace+"-new"),
	})
	planned := run(t.Context(), "", "plan", "-f", "new.yaml", "--out", "new.plan", "--kubeconfig", c.Server.Kubeconfig())
	require.Equal(t, 2, planned.code, planned.err)
	require.NoError(t, os.WriteFile("public", nil, 0o644))
	require.NoError(t, os.Symlink("public", "saved.plan"))
	planned = c.run("plan -f app.yaml --out saved.plan")
	require.Equal(t, 2, planned.code)
	assert.Contains(t, planned.err, "manifests with secrets aren't in it (1)")
	for _, file := range []string{"saved.plan", "new.plan"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(text), canary, file)
		assert.NotContains(t, string(text), coded, file)
	}
	info, err := os.Stat("public")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "of a file that a link leads to, and that others could read")
	got := c.run("apply --plan saved.plan")
	assert.Equal(t, result{1, "", "saved.plan: manifests with secrets aren't in it (1): name the manifests that were planned with -f or -k, too\n"}, got)

	good, err := os.ReadFile("app.yaml")
	require.NoError(t, err)
	c.edit("app.yaml", canary, "other")
	got = c.run("apply --plan saved.plan -f app.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "v1/Secret "+c.Namespace+"/s: reviewed was Create")
	c.overwrite("app.yaml", string(good))
	require.Equal(t, 2, c.run("plan -f app.yaml --out whole.plan --out-secrets").code)
	require.NotContains(t, c.run("show whole.plan -v").out, canary)
	got = c.run("apply --plan saved.plan -f app.yaml")
	require.Equal(t, 0, got.code, got.err)

	c.kubectl("delete", "secret/s", "configmap/a")
	got = c.run("apply --plan whole.plan")
	require.Equal(t, 0, got.code, got.err)
	assert.Equal(t, canary, c.kubectl("get", "secret", "s", "-o", "go-template={{.data.a | base64decode}}"))
}

// What decides what a plan says is the plan's; and what can't be saved isn't.
func TestSavedPlanHasItsFlags(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": twoKinds, "wrong.yaml": "kind: nonsense\n"})
	require.Equal(t, 2, c.run("plan -f app.yaml -l app=web --field-manager other --ignore data.x --out saved.plan").code)
	got := c.run("apply --plan saved.plan --field-manager mine")
	assert.Equal(t, result{1, "", "--field-manager: a saved plan has its own; leave it out with --plan, or plan again\n"}, got)
	got = c.run("apply --plan saved.plan")
	require.Equal(t, 0, got.code, got.err)
	assert.Equal(t, "other", c.kubectl("get", "configmap", "web-conf", "-o", "jsonpath={.metadata.managedFields[*].manager}", "--show-managed-fields"))
	assert.NotContains(t, c.kubectl("get", "configmaps", "-o", "name"), "db-conf")

	got = c.run("plan -f wrong.yaml --out wrong.plan")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "wrong.plan wasn't written: correct the errors first\n")
	assert.NoFileExists(t, "wrong.plan")
	assert.Contains(t, c.run("plan -f app.yaml --out a --memory m").err, "--out: what is saved is the plan of the whole set")
	assert.Contains(t, c.run("apply -f app.yaml --digest x").err, "--digest: is that of a saved plan")
}

// A definition that changed makes another plan of an object that didn't.
func TestSavedPlanIsRefusedAfterAnotherDefinition(t *testing.T) {
	c := newCluster(t)
	t.Cleanup(func() { c.kubectl("delete", "crd", "parts."+c.Namespace+".example.com") })
	definition := strings.ReplaceAll(strings.Split(apart, "---\n")[3], "NS", c.Namespace)
	write(t, map[string]string{"crd.yaml": definition, "part.yaml": strings.NewReplacer("NS", c.Namespace, "{}", "{size: 1}").Replace(strings.Split(apart, "---\n")[4])})
	c.apply("-f crd.yaml")
	require.Equal(t, 2, c.run("plan -f part.yaml --out saved.plan").code)
	c.edit("crd.yaml", "{size: {type: integer, default: 3}}", "{weight: {type: integer}}")
	c.apply("-f crd.yaml")
	lab.Eventually(t, "the field is gone", func() bool { return c.run("plan -f part.yaml").code == 1 })
	got := c.run("apply --plan saved.plan")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "nothing was applied: saved.plan can't be planned again as it was reviewed\n")
	assert.Contains(t, got.err, ".spec.size: field not declared in schema")
}

// A saved plan is carried out unasked. So nobody else may write it, unless its digest is named.
func TestSavedPlansOfOthers(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	require.Equal(t, 2, c.run("plan -f app.yaml --out saved.plan").code)
	require.NoError(t, os.Chmod("saved.plan", 0o666))
	got := c.run("apply --plan saved.plan")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "saved.plan: everybody may write it (mode -rw-rw-rw-), and decide what it says; read it, and run chmod o-w\n", got.err)
	shown := run(t.Context(), "", "show", "saved.plan")
	assert.Equal(t, 0, shown.code, shown.err)
	text, err := os.ReadFile("saved.plan")
	require.NoError(t, err)
	got = c.run("apply --plan saved.plan --digest " + review.Digest(text))
	assert.Equal(t, 0, got.code, got.err)
}

// What can't be written is told before anything is planned.
func TestOutIsTriedBefore(t *testing.T) {
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	socket, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	defer socket.Close()
	got := run(t.Context(), "", strings.Fields("plan -f app.yaml --out socket --server http://127.0.0.1:1")...)
	assert.Equal(t, result{1, "", "--out socket: can't be written: is a socket\n"}, got)
}
