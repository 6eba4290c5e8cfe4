package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// cluster is a namespace of its own on the real API server that the tests share.
type cluster struct {
	*lab.Cluster
	t *testing.T
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{lab.New(t), t}
}

// kubectl is what somebody else does to the cluster.
func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	return c.Kubectl(c.t, "", args...)
}

// run runs a command line, which is split at spaces, in the namespace.
func (c *cluster) run(line string) result {
	c.t.Helper()
	args := append(strings.Fields(line), "--kubeconfig", c.Server.Kubeconfig(), "-n", c.Namespace)
	return run(c.t.Context(), "", args...)
}

// expect runs a command line and wants an exit code, an output and no errors.
func (c *cluster) expect(line string, code int, out string) {
	c.t.Helper()
	got := c.run(line)
	got.out = strings.ReplaceAll(got.out, c.Namespace, "NS")
	assert.Equal(c.t, result{code, out, ""}, got, line)
}

func (c *cluster) apply(line string) {
	c.t.Helper()
	got := c.run("apply --yes " + line)
	require.Equal(c.t, 0, got.code, got.out+got.err)
}

func (c *cluster) edit(file, before, after string) {
	c.t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(c.t, err)
	require.Contains(c.t, string(text), before)
	require.NoError(c.t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), before, after)), 0o600))
}

func (c *cluster) overwrite(file, text string) {
	c.t.Helper()
	require.NoError(c.t, os.WriteFile(file, []byte(text), 0o600))
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web:1
        resources: {requests: {cpu: 1000m}}
      - name: log
        image: log:1
`

func TestLifeOfAnObject(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})

	c.expect("plan -f app.yaml", 2, "+ apps/v1/Deployment NS/web  create with 8 fields\n\nPlan: 1 to create.\n")
	got := c.run("apply --yes -f app.yaml")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, "created apps/v1/Deployment "+c.Namespace+"/web\n", got.err)
	c.expect("plan -f app.yaml", 0, "Plan: 1 unchanged.\n")

	version := c.kubectl("get", "deployment", "web", "-o", "jsonpath={.metadata.resourceVersion}")
	c.expect("apply --yes -f app.yaml", 0, "Plan: 1 unchanged.\n")
	assert.Equal(t, version, c.kubectl("get", "deployment", "web", "-o", "jsonpath={.metadata.resourceVersion}"))

	c.edit("app.yaml", "web:1", "web:2")
	c.expect("plan -f app.yaml", 2, `~ apps/v1/Deployment NS/web  update: 1 edited
  ~ spec.template.spec.containers[name="web"].image: "web:1" → "web:2"

Plan: 1 to update.
`)
	c.apply("-f app.yaml")
	c.expect("plan -f app.yaml", 0, "Plan: 1 unchanged.\n")

	c.edit("app.yaml", "        resources: {requests: {cpu: 1000m}}\n", "")
	c.expect("plan -f app.yaml", 2, `~ apps/v1/Deployment NS/web  update: 1 dropped from the manifest
  - spec.template.spec.containers[name="web"].resources.requests.cpu: "1"  # no longer in the manifest

Plan: 1 to update.
`)
}

func TestDrift(t *testing.T) {
	for _, state := range []string{"", " --state state.json"} {
		t.Run("state "+strconv.FormatBool(state != ""), func(t *testing.T) {
			c := newCluster(t)
			write(t, map[string]string{"app.yaml": deployment})
			c.apply("-f app.yaml" + state)

			c.kubectl("patch", "deployment", "web", "--field-manager", "injector", "--type", "json", "-p",
				`[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"mesh","image":"mesh:1"}}]`)
			c.expect("plan -f app.yaml"+state, 0, "Plan: 1 unchanged.\n")

			c.kubectl("scale", "deployment", "web", "--replicas", "7")
			c.kubectl("patch", "deployment", "web", "--field-manager", "night-shift", "-p",
				`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:0"}]}}}}`)
			got := c.run("plan -f app.yaml" + state)
			assert.Equal(t, 2, got.code)
			assert.Contains(t, got.out, "update: 2 drifted\n")
			assert.Contains(t, got.out, `~ replicas: 7 → 2  # drifted: "kubectl" changed it (Update of scale`)
			assert.Regexp(t, `~ template.spec.containers\[name="web"\].image: "web:0" → "web:1"\n? *# drifted: "night-shift" changed it \(Update, \d+s ago\)`, got.out)
			assert.Contains(t, got.out, `○ taken from "kubectl" (Update of scale): spec.replicas`)

			got = c.run("plan -f app.yaml --force-conflicts=false" + state)
			assert.Equal(t, 3, got.code)
			assert.Contains(t, got.out, `! spec.replicas: owned by "kubectl" (Update of scale)`)
			assert.Contains(t, got.out, `! spec.template.spec.containers[name="web"].image: owned by "night-shift" (Update)`)
			assert.Contains(t, got.out, "Plan: 1 in conflict.\n")

			got = c.run("apply --yes -f app.yaml --force-conflicts=false" + state)
			assert.Equal(t, 3, got.code)
			assert.Equal(t, "left out 1 in conflict: leave the fields to their managers, or take them over with --force-conflicts\n", got.err)

			c.apply("-f app.yaml" + state)
			c.expect("plan -f app.yaml"+state, 0, "Plan: 1 unchanged.\n")
			names := c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[*].name}")
			assert.Equal(t, "mesh web log", names, "what others added stays")
		})
	}
}

func TestIdentityChange(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x")})
	c.apply("-f app.yaml --state state.json")
	c.edit("app.yaml", "name: one", "name: other")

	c.expect("plan -f app.yaml --state state.json", 2, `± v1/ConfigMap NS/other  replaces v1/ConfigMap NS/one, which stays until somebody deletes it
  ± metadata.name: "one" -> "other"
  ▲ objects that name this one as their owner are deleted with it

Plan: 1 to replace, 1 unchanged.
`)
	got := c.run("apply --yes -f app.yaml --state state.json")
	assert.Equal(t, 3, got.code)
	assert.Equal(t, "left out 1 to be replaced: --replace deletes the old object and creates the new one\n", got.err)
	assert.NotContains(t, c.kubectl("get", "configmaps", "-o", "name"), "other")

	c.expect("plan -f app.yaml", 2, "+ v1/ConfigMap NS/other  create with 1 field\n\nPlan: 1 to create, 1 unchanged.\n")
}

func TestStateFile(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x") + "---\n" + configMap("b", "x")})
	c.apply("-f app.yaml --state state.json")
	info, err := os.Stat("state.json")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	text, err := os.ReadFile("state.json")
	require.NoError(t, err)
	var content struct {
		APIVersion string
		Objects    []struct {
			Source string
			State  struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &content))
	assert.Equal(t, "ssaplan/v1", content.APIVersion)
	require.Len(t, content.Objects, 2)
	assert.Equal(t, "app.yaml#2", content.Objects[1].Source)
	assert.Equal(t, "b", content.Objects[1].State.Name)
}

const crontab = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.deferred.example.com}
spec:
  group: deferred.example.com
  scope: Namespaced
  names: {kind: CronTab, plural: crontabs, singular: crontab}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {schedule: {type: string}}}}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: deferred}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: deferred}
---
apiVersion: deferred.example.com/v1
kind: CronTab
metadata: {name: a, namespace: deferred}
spec: {schedule: daily}
`

func TestDeferred(t *testing.T) {
	server := controlplane.Shared(t)
	write(t, map[string]string{"app.yaml": crontab})
	plan := func(command string) result {
		return run(t.Context(), "", append(strings.Fields(command), "-f", "app.yaml", "--kubeconfig", server.Kubeconfig())...)
	}
	assert.Equal(t, result{2, `Stage 1 of 3: namespaces and definitions
+ apiextensions.k8s.io/v1/CustomResourceDefinition crontabs.deferred.example.com  create with 6 fields
+ v1/Namespace deferred  create

Stage 2 of 3: rights and configuration
… v1/ConfigMap deferred/a  deferred: namespace "deferred" doesn't exist (yet), the same set creates it

Stage 3 of 3: custom resources and the rest
… deferred.example.com/v1/CronTab deferred/a  deferred with 1 field: the server doesn't serve deferred.example.com/v1 CronTab (yet), the same set defines it (CustomResourceDefinition crontabs.deferred.example.com)

Plan: 2 to create, 2 deferred.
`, ""}, plan("plan"))
	// What is deferred is as readable as what is created: counted, and listed where one asks for it.
	for form, line := range map[string]string{"plan -v": `  + spec.schedule: "daily"`, "plan -v -o markdown": `+ spec.schedule: "daily"`} {
		assert.Contains(t, plan(form).out, "\n"+line+"\n", form)
		assert.Regexp(t, `\n *\+ *scope: "Namespaced"\n`, plan(form).out, form)
	}
	assert.Contains(t, plan("plan -o markdown").out, "deferred with 1 field: ")
	planned := plan("plan -o json")
	fitsSchema(t, planned.out)
	var report struct{ Plans []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(planned.out), &report))
	require.Len(t, report.Plans, 4)
	assert.Equal(t, []any{map[string]any{"path": "spec.schedule", "op": "add", "after": "daily"}}, report.Plans[3]["declared"])
	for _, created := range report.Plans[:2] {
		assert.NotContains(t, created, "declared", "the changes tell it")
	}

	got := plan("apply --yes")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, `created apiextensions.k8s.io/v1/CustomResourceDefinition crontabs.deferred.example.com
created v1/Namespace deferred
created v1/ConfigMap deferred/a
created deferred.example.com/v1/CronTab deferred/a
`, got.err)
	assert.Equal(t, 0, plan("apply --yes").code)
	assert.Equal(t, result{0, "Plan: 4 unchanged.\n", ""}, plan("plan"))
}

// An error outweighs what is open, and that outweighs changes.
func TestExitCodes(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{
		"same.yaml": configMap("same", "x"), "change.yaml": configMap("change", "x"), "taken.yaml": configMap("taken", "x"),
		"broken.yaml": "kind: ConfigMap\n",
	})
	c.apply("-f same.yaml -f taken.yaml")
	c.kubectl("patch", "configmap", "taken", "--field-manager", "other", "-p", `{"data":{"key":"y"}}`)
	for line, code := range map[string]int{
		"-f same.yaml":                                   0,
		"-f same.yaml -f change.yaml":                    2,
		"-f change.yaml -f taken.yaml -f same.yaml":      3,
		"-f taken.yaml -f change.yaml -f broken.yaml":    1,
		"-f broken.yaml -f same.yaml":                    1,
		"-f taken.yaml -f change.yaml --force-conflicts": 2,
	} {
		if !strings.Contains(line, "--force") {
			line += " --force-conflicts=false"
		}
		assert.Equal(t, code, c.run("plan "+line).code, line)
	}
}

// What can't be planned keeps everything from being applied.
func TestApplyWithErrors(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x") + "---\nkind: ConfigMap\n"})
	got := c.run("apply --yes -f app.yaml")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, `app.yaml: document 2 (line 8): apiVersion: missing; every object needs apiVersion, kind and metadata.name
nothing was applied; correct the errors first
`, got.err)
	assert.NotContains(t, c.kubectl("get", "configmaps", "-o", "name"), "configmap/a")
}

// The input keeps its order, whichever way it comes.
func TestInput(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"dir/b.yaml": configMap("b", "x"), "dir/sub/c.yaml": configMap("c", "x"), "a.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`})
	args := strings.Fields("plan -o json -R -f dir -f - -f a.json -n " + c.Namespace + " --kubeconfig " + c.Server.Kubeconfig())
	got := run(t.Context(), configMap("s", "x"), args...)
	require.Equal(t, 2, got.code, got.err)
	fitsSchema(t, got.out)
	var report struct {
		Plans []struct {
			Object struct{ Name, Namespace string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &report))
	var names []string
	for _, p := range report.Plans {
		assert.Equal(t, c.Namespace, p.Object.Namespace)
		names = append(names, p.Object.Name)
	}
	assert.Equal(t, []string{"b", "c", "s", "a"}, names)
}

func TestKustomization(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{
		"prod/kustomization.yaml": "resources: [app.yaml]\nnamePrefix: prod-\n", "prod/app.yaml": configMap("a", "x") + "---\n" + configMap("b", "x"),
	})
	c.expect("plan -k prod", 2, "+ v1/ConfigMap NS/prod-a  create with 1 field\n+ v1/ConfigMap NS/prod-b  create with 1 field\n\nPlan: 2 to create.\n")
	c.apply("-k prod --state state.json")
	c.edit("prod/kustomization.yaml", "prod-", "live-")
	got := c.run("plan -k prod --state state.json")
	assert.Contains(t, got.out, "± v1/ConfigMap "+c.Namespace+"/live-a  replaces v1/ConfigMap "+c.Namespace+"/prod-a")
}

func TestURL(t *testing.T) {
	c := newCluster(t)
	site := httptest.NewServer(answer(http.StatusOK, "text/plain", configMap("a", "x")))
	defer site.Close()
	c.expect("plan -f "+site.URL+"/app.yaml", 2, "+ v1/ConfigMap NS/a  create with 1 field\n\nPlan: 1 to create.\n")
}

// A word that is read as a boolean is read as the server's other clients do, and said where a reviewer sees it.
func TestBooleanWords(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{
		"good.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: no\n",
		"bad.yaml":  configMap("a", "yes"),
	})
	c.expect("plan -f good.yaml", 2, `+ v1/ConfigMap NS/a  create with 1 field
  ▲ warning: good.yaml: document 1 (line 4): immutable: no is read as false; write false, or put it into quotes

Plan: 1 to create.
`)
	got := c.run("plan -f bad.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, " (line 6: data.key: yes is read as true; write true, or put it into quotes)\n")
}

// Many objects are planned several at a time, and shown in the order of the input.
func TestManyObjects(t *testing.T) {
	const n = 500
	c := newCluster(t)
	var file strings.Builder
	var want []string
	for i := range n {
		name := fmt.Sprintf("c%d", (i*7)%n) // neither the order of the names nor that of the answers
		file.WriteString(configMap(name, "x") + "---\n")
		want = append(want, "+ v1/ConfigMap "+c.Namespace+"/"+name+"  create with 1 field")
	}
	write(t, map[string]string{"app.yaml": file.String()})
	got := c.run("plan -f app.yaml")
	assert.Equal(t, result{2, strings.Join(want, "\n") + "\n\nPlan: 500 to create.\n", ""}, got)
}

// No output and no file shows a secret's value, whatever happens to it.
func TestSecretsStaySecret(t *testing.T) {
	const secret = "c4n4ry" // in base64 YzRuNHJ5
	c := newCluster(t)
	manifest := func(data string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n" + data
	}
	c.kubectl("create", "secret", "generic", "old", "--from-literal", "password="+secret)
	versions := map[string]string{
		"data":       "data: {password: YzRuNHJ5}\n",
		"changed":    "data: {password: YzRuNHJ5YzRuNHJ5}\n",
		"key":        "data: {user: YzRuNHJ5}\n",
		"stringData": "stringData: {password: c4n4ry}\n",
		"immutable":  "type: example.com/other\ndata: {password: YzRuNHJ5}\n",
		"number":     "data: {password: 271828}\n",
		"no base64":  "data: {password: \"c4n4ry!\"}\n",
		"bad key":    "stringData: {\"a/b\": c4n4ry}\n",
		"map":        "stringData: {password: {c4n4ry: c4n4ry}}\n",
		"list":       "data: [c4n4ry]\n",
		"unknown":    "dato: {password: c4n4ry}\n",
		"broken":     "stringData: {password: \"c4n4ry}\n",
	}
	for name, data := range versions {
		write(t, map[string]string{"app.yaml": manifest(data)})
		for _, line := range []string{
			"plan", "plan -v", "plan -o json", "plan -o json -v", "plan -o yaml", "plan -o markdown", "plan -o html", "plan --force-conflicts=false", "plan --field-manager other --force-conflicts=false",
			"apply --yes --state state.json", "plan --state state.json", "apply --yes --state state.json -o json",
		} {
			got := c.run(line + " -f app.yaml")
			if strings.HasSuffix(line, "-o json") {
				fitsSchema(t, got.out)
			}
			for _, canary := range []string{secret, "YzRuNHJ5", "271828"} {
				assert.NotContains(t, got.out+got.err, canary, "%s: %s", name, line)
			}
		}
		state, err := os.ReadFile("state.json")
		if err == nil {
			assert.NotContains(t, string(state), secret)
			assert.NotContains(t, string(state), "YzRuNHJ5")
		}
	}
}

// kubectl keeps a copy of what it applied in an annotation, which shows neither the old value of a Secret nor the new one, but that they differ.
func TestCopiesOfSecretsStaySecret(t *testing.T) {
	c := newCluster(t)
	secret := func(value string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: " + value + ", user: jane}\n"
	}
	c.Kubectl(t, secret("c4n4ry-old"), "apply", "-f", "-")
	write(t, map[string]string{"app.yaml": secret("c4n4ry-new")})
	for _, line := range []string{"plan", "plan -v", "plan -o json", "plan -o json -v", "plan -o yaml", "plan -o markdown", "plan -o html"} {
		for _, adopt := range []string{"", " --adopt auto"} {
			got := c.run(line + adopt + " -f app.yaml")
			assert.Equal(t, 2, got.code, got.err)
			assert.NotContains(t, got.out+got.err, "c4n4ry", line)
			assert.NotContains(t, got.out+got.err, "YzRuNHJ5", line)
			assert.Contains(t, strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(got.out), "<redacted: changed>", line)
		}
	}
	text := c.run("plan --adopt auto -v -f app.yaml").out
	assert.Contains(t, text, "password: <redacted: changed>")
	assert.NotContains(t, text, "user: <redacted: changed>", "what stays isn't told as a change")
}
