package cmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestImport(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})
	c.apply("-f app.yaml")
	c.kubectl("label", "deployment", "web", "--field-manager", "labeller", "team=a")
	id := c.Namespace + "/Deployment/web"

	own := c.run("import " + id + "?manager=kubectl-ssaplan")
	require.Equal(t, 0, own.code, own.err)
	assert.Empty(t, own.err)
	assert.Equal(t, strings.ReplaceAll(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: NS
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - image: web:1
        name: web
        resources:
          requests:
            cpu: "1"
      - image: log:1
        name: log
`, "NS", c.Namespace), own.out)

	asJSON := c.run("import " + id + "?manager=kubectl-ssaplan -o json")
	converted, err := yaml.YAMLToJSON([]byte(own.out))
	require.NoError(t, err)
	assert.JSONEq(t, string(converted), asJSON.out)
	for _, form := range []string{"/Deployment.apps/web", "/Deployment.v1.apps/web", "/apps/v1/Deployment/web"} {
		assert.Equal(t, own, c.run("import "+c.Namespace+form+"?manager=kubectl-ssaplan"), form)
	}
	assert.Equal(t, own, c.run("import Deployment/web?manager=kubectl-ssaplan"), "the namespace of -n")

	assert.Contains(t, c.run("import "+id+"?manager=labeller").out, "labels:\n    team: a\n")
	unowned := c.run("import " + id + "?unowned").out
	assert.Contains(t, unowned, "terminationGracePeriodSeconds: 30\n")
	assert.NotContains(t, unowned, "replicas")
	all := c.run("import " + id).out
	assert.Contains(t, all, "terminationGracePeriodSeconds: 30\n")
	assert.Contains(t, all, "replicas: 2\n")
	assert.NotContains(t, all, "resourceVersion")

	got := c.run("import " + id + "?manager=nobody")
	assert.Equal(t, result{1, "", "apps/v1/Deployment " + c.Namespace + `/web: read: "nobody" owns no such fields; the owners are "kubectl-ssaplan" (Apply), "labeller" (Update)` + "\n"}, got)
}

// What a manager applied, imported and applied again by the same manager, changes nothing, not even the version.
func TestImportAppliedAgain(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})
	c.apply("-f app.yaml")
	c.kubectl("patch", "deployment", "web", "--field-manager", "injector", "--type", "json", "-p",
		`[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"mesh","image":"mesh:1"}}]`)
	c.kubectl("scale", "deployment", "web", "--replicas", "7")
	version := c.kubectl("get", "deployment", "web", "-o", "jsonpath={.metadata.resourceVersion}")

	own := c.run("import " + c.Namespace + "/Deployment/web?manager=kubectl-ssaplan")
	require.Equal(t, 0, own.code, own.err)
	assert.NotContains(t, own.out, "mesh")
	assert.NotContains(t, own.out, "replicas")
	require.NoError(t, os.WriteFile("own.yaml", []byte(own.out), 0o600))
	c.expect("plan -f own.yaml", 0, "Plan: 1 unchanged.\n")
	c.expect("apply --yes -f own.yaml", 0, "Plan: 1 unchanged.\n")
	assert.Equal(t, version, c.kubectl("get", "deployment", "web", "-o", "jsonpath={.metadata.resourceVersion}"))
}

func TestImportSecret(t *testing.T) {
	c := newCluster(t)
	c.kubectl("create", "secret", "generic", "a", "--from-literal", "password=c4n4ry")
	for _, query := range []string{"", "?manager=kubectl-create"} {
		want := "v1/Secret " + c.Namespace + "/a: its manifest holds secret values; print them with --show-secrets\n"
		assert.Equal(t, result{1, "", want}, c.run("import "+c.Namespace+"/Secret/a"+query))
	}
	got := c.run("import --show-secrets -o json " + c.Namespace + "/v1/Secret/a")
	require.Equal(t, 0, got.code, got.err)
	var secret struct{ Data map[string][]byte }
	require.NoError(t, json.Unmarshal([]byte(got.out), &secret))
	assert.Equal(t, "c4n4ry", string(secret.Data["password"]))
}

func TestImportClusterScoped(t *testing.T) {
	c := newCluster(t)
	for _, id := range []string{"ClusterRole/system:node", "/rbac.authorization.k8s.io/v1/ClusterRole/system:node", "rbac.authorization.k8s.io/v1/ClusterRole/system:node"} {
		got := c.run("import " + id)
		assert.Equal(t, 0, got.code, got.err)
		assert.Contains(t, got.out, "kind: ClusterRole\nmetadata:\n", id)
		assert.Contains(t, got.out, "name: system:node\n")
		assert.NotContains(t, got.out, "namespace:")
	}
}

// TestImportIDsOfRealObjects imports objects that every server has, and finds those that the IDs name.
func TestImportIDsOfRealObjects(t *testing.T) {
	c := newCluster(t)
	for id, path := range map[string]string{
		"ClusterRole/system:node": "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
		"rbac.authorization.k8s.io/v1/ClusterRoleBinding/cluster-admin?unowned":      "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin",
		"kube-system/ConfigMap/extension-apiserver-authentication":                   "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
		"default/v1/Service/kubernetes?manager=kube-apiserver":                       "/api/v1/namespaces/default/services/kubernetes",
		"kube-system/Role.rbac.authorization.k8s.io/system:controller:token-cleaner": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/system:controller:token-cleaner",
		"APIService.apiregistration.k8s.io/v1.apps":                                  "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps",
	} {
		type object struct {
			APIVersion, Kind string
			Metadata         struct{ Namespace, Name string }
		}
		var want, got object
		require.NoError(t, json.Unmarshal([]byte(c.kubectl("get", "--raw", path)), &want))
		imported := c.run("import " + id + " -o json")
		if imported.code != 0 && strings.Contains(imported.err, "there are no such fields") {
			continue // everything is owned
		}
		require.Equal(t, 0, imported.code, "%s: %s", id, imported.err)
		require.NoError(t, json.Unmarshal([]byte(imported.out), &got))
		assert.Equal(t, want, got, id)
	}
}
