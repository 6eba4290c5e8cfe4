package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/set/applyset"
	"github.com/ssaplan/primitives/test/lab"
)

// kubectlApplySet runs kubectl apply --prune --applyset, and returns its exit code and output.
func (c *cluster) kubectlApplySet(name string) result {
	c.t.Helper()
	command := exec.Command(c.Server.Bin("kubectl"), "--kubeconfig", c.Server.Kubeconfig(), "-n", c.Namespace,
		"apply", "--server-side", "--prune", "--applyset="+name, "-f", "app.yaml")
	command.Env = append(os.Environ(), "KUBECTL_APPLYSET=true")
	out, err := command.CombinedOutput()
	if err != nil {
		return result{code: 1, out: string(out)}
	}
	return result{out: string(out)}
}

func maps(names ...string) string {
	var texts []string
	for _, name := range names {
		texts = append(texts, configMap(name, "x"))
	}
	return strings.Join(texts, "---\n")
}

// objects returns the names of the ConfigMaps that are there, but for that of every namespace.
func (c *cluster) objects() string {
	c.t.Helper()
	return strings.TrimSpace(strings.ReplaceAll(c.kubectl("get", "configmap", "-o", "jsonpath={.items[*].metadata.name}"), "kube-root-ca.crt", ""))
}

func (c *cluster) annotation(name string) string {
	c.t.Helper()
	secret := c.Get(c.t, lab.Objectf(c.t, "{apiVersion: v1, kind: Secret, metadata: {name: shop, namespace: %s}}", c.Namespace))
	return secret.GetAnnotations()["applyset.kubernetes.io/"+name]
}

const shared = " --applyset shop --applyset-tooling kubectl/v1.36.3 --prune -f app.yaml"

// What kubectl has applied is pruned by us, and what we have applied by kubectl.
func TestApplySetBothWays(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": maps("one", "two", "three") + "---\n" + twoKinds})
	require.Equal(t, 0, c.kubectlApplySet("shop").code)

	c.overwrite("app.yaml", maps("one", "two")+"---\n"+twoKinds)
	got := c.run("plan" + shared)
	assert.Contains(t, got.out, "To be deleted:\n")
	assert.Contains(t, got.out, "ConfigMap "+c.Namespace+"/three  delete\n")
	assert.Contains(t, c.objects(), "three", "a plan changes nothing")
	c.apply(shared)
	assert.Equal(t, "db-conf one two web-conf", c.objects())
	c.overwrite("app.yaml", maps("one", "two"))
	c.apply(shared)
	assert.Equal(t, "one two", c.objects())
	assert.Equal(t, "ConfigMap", c.annotation("contains-group-kinds"))

	c.overwrite("app.yaml", maps("one"))
	kubectl := c.kubectlApplySet("shop")
	require.Equal(t, 0, kubectl.code, kubectl.out)
	assert.Contains(t, kubectl.out, "configmap/two pruned")
	assert.Equal(t, "one", c.objects())
	assert.Equal(t, 0, c.run("plan"+shared).code)
}

// A set of our own is none of kubectl's, nor the other way round.
func TestApplySetsOfOthers(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": maps("one", "two")})
	c.apply(" --applyset shop --prune -f app.yaml")
	refused := c.kubectlApplySet("shop")
	assert.Equal(t, 1, refused.code)
	assert.Contains(t, refused.out, `is managed by tooling "kubectl-ssaplan" instead of "kubectl"`)

	c.overwrite("app.yaml", maps("three"))
	require.Equal(t, 0, c.kubectlApplySet("theirs").code)
	got := c.run("apply --yes --applyset theirs --prune -f app.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "the ApplySet belongs to kubectl, and not to kubectl-ssaplan")
	c.kubectl("create", "secret", "generic", "plain")
	assert.Contains(t, c.run("apply --yes --applyset plain --prune -f app.yaml").err, "it is there and no ApplySet")
}

// Who copies the label to an object doesn't make it a member; nor does what failed have anything pruned or forgotten.
func TestApplySetPrunesNothingOfOthers(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": maps("one", "two")})
	own := " --applyset shop --prune -f app.yaml"
	c.apply(own)
	id := c.kubectl("get", "configmap", "one", "-o", `jsonpath={.metadata.labels.applyset\.kubernetes\.io/part-of}`)
	copied := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: copied, namespace: %s, labels: {applyset.kubernetes.io/part-of: %s}}}", c.Namespace, id)
	c.Apply(t, "copier", copied)
	got := c.run("plan" + own)
	assert.Contains(t, got.out, "ConfigMap "+c.Namespace+"/copied  kept: its label was set by others than kubectl-ssaplan\n")
	c.apply(own)
	assert.Equal(t, "copied one two", c.objects())

	c.overwrite("app.yaml", maps("one")+"---\n"+strings.Replace(deployment, "replicas: 2", "replicas: -2", 1))
	got = c.run("apply --yes --keep-going" + own)
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "copied one two", c.objects())
	assert.Equal(t, "ConfigMap,Deployment.apps", c.annotation("contains-group-kinds"), "what failed may have been made all the same")
	c.overwrite("app.yaml", maps("one"))
	c.apply(own)
	assert.Equal(t, "copied one", c.objects())
	c.overwrite("app.yaml", strings.Replace(maps("one"), "name: one", "name: one\n  labels: {applyset.kubernetes.io/part-of: x}", 1))
	assert.Contains(t, c.run("plan"+own).err, "set by the manifest itself; leave it out")
}

// Several runs at once on one set lose none of its members.
func TestApplySetRunsAtOnce(t *testing.T) {
	c := newCluster(t)
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("%d.yaml", i)] = maps("one", "two") + "---\n" + twoKinds
	}
	write(t, files)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			got := c.run(fmt.Sprintf("apply --yes --applyset shop --prune -f %d.yaml", i))
			assert.Equal(t, 0, got.code, got.err)
		})
	}
	wg.Wait()
	assert.Equal(t, "db-conf one two web-conf", c.objects())
	assert.Equal(t, "ConfigMap,Service", c.annotation("contains-group-kinds"))
	c.overwrite("0.yaml", maps("one"))
	c.apply(" --applyset shop --prune -f 0.yaml")
	assert.Equal(t, "one", c.objects(), "all were members")
}

// The namespace of the parent may come with the set, which kubectl refuses.
func TestApplySetInItsOwnNamespace(t *testing.T) {
	c := newCluster(t)
	home := c.Namespace + "-new"
	app := maps("one", "two") + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: " + home + ", labels: {app: shop}}}\n"
	write(t, map[string]string{"app.yaml": app})
	command := func(line string) result {
		return run(t.Context(), "", append(strings.Fields(line), "--prune", "-n", home, "-f", "app.yaml", "--kubeconfig", c.Server.Kubeconfig())...)
	}
	got := command("plan --applyset shop")
	assert.Contains(t, got.out, "Stage 1 of 2: the namespace of the ApplySet\n")
	got = command("apply --yes --applyset shop")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, 0, command("plan --applyset shop").code)
	c.overwrite("app.yaml", strings.Replace(app, maps("two"), "", 1))
	got = command("apply --yes --applyset shop")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.err, "deleted v1/ConfigMap "+home+"/two\n")

	home += "er"
	c.overwrite("app.yaml", maps("one"))
	assert.Contains(t, command("apply --yes --applyset shop --allow-missing").err,
		"--applyset: namespace \""+home+"\": doesn't exist, and the manifests don't have it; nothing was applied\n")
}

// A custom resource of no namespace is the parent of members in several, for kubectl as for us.
func TestApplySetInSeveralNamespaces(t *testing.T) {
	c := newCluster(t)
	group := c.Namespace + ".example.com"
	c.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: apps.%[1]s, labels: {applyset.kubernetes.io/is-parent-type: "true"}},
		spec: {group: %[1]s, scope: Cluster, names: {plural: apps, singular: app, kind: App, listKind: AppList}, versions: [{name: v1, served: true, storage: true,
			schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`, group))
	parent := applyset.Parent{Object: identity.Identity{APIVersion: group + "/v1", Kind: "App", Name: "shop"}, Tooling: "kubectl/v1.36.3"}
	name := "apps." + group + "/shop"
	flags := " --applyset " + name + " --applyset-tooling kubectl/v1.36.3 --prune -f app.yaml"
	other := lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s-b}}", c.Namespace)
	c.Apply(t, "admin", other)
	in := func(namespace string, names ...string) string {
		return strings.ReplaceAll(maps(names...), "metadata:\n", "metadata:\n  namespace: "+namespace+"\n")
	}
	text := func(a, b []string) string { return in(c.Namespace, a...) + "---\n" + in(other.GetName(), b...) }
	write(t, map[string]string{"app.yaml": text([]string{"one", "two"}, []string{"three", "four"})})
	theirs := &cluster{c.In(other.GetName()), t}
	there := func() string { return c.objects() + " | " + theirs.objects() }
	anywhere := func(line string) result {
		return run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", c.Server.Kubeconfig())...)
	}
	assert.Contains(t, anywhere("apply --yes"+flags).err, "there is no such object; only a Secret or ConfigMap is made")
	c.Apply(t, "admin", parent.Manifest())
	got := anywhere("apply --yes" + flags)
	require.Equal(t, 0, got.code, got.err)

	c.overwrite("app.yaml", text([]string{"one", "two"}, []string{"three"}))
	command := exec.Command(c.Server.Bin("kubectl"), "--kubeconfig", c.Server.Kubeconfig(), "apply", "--server-side", "--prune", "--applyset="+name, "-f", "app.yaml")
	command.Env = append(os.Environ(), "KUBECTL_APPLYSET=true")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "configmap/four pruned")
	assert.Equal(t, "one two | three", there())

	c.overwrite("app.yaml", in(other.GetName(), "three"))
	got = anywhere("apply --yes" + flags)
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, " | three", there())
	live := c.Get(t, parent.Manifest())
	assert.Equal(t, other.GetName(), live.GetAnnotations()["applyset.kubernetes.io/additional-namespaces"])
	assert.Equal(t, 0, anywhere("plan"+flags).code)
}
