package cmd_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

func TestOwners(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment})
	c.apply("-f app.yaml")
	c.kubectl("scale", "deployment", "web", "--replicas", "7")

	got := c.run("owners deploy/web")
	assert.Equal(t, 0, got.code, got.err)
	assert.Empty(t, got.err)
	assert.True(t, strings.HasPrefix(got.out, "apps/v1/Deployment "+c.Namespace+"/web\n\nFIELD "), got.out)
	assert.Regexp(t, `(?m)^  replicas: 7 +kubectl +Update +scale +\S+$`, got.out)
	assert.Regexp(t, `(?m)^        image: "\S+" +kubectl-ssaplan +Apply +- +\d+s ago$`, got.out)
	for _, form := range []string{"deployment/web", "deployments web", "deployments.apps/web", "Deployment.v1.apps web"} {
		assert.Equal(t, rows(got.out), rows(c.run("owners "+form).out), form)
	}

	got = c.run("owners deploy/web -o json")
	var out struct {
		APIVersion string
		Object     struct{ Kind, Namespace, Name string }
		Fields     []struct {
			Path     string
			Managers []struct{ Manager, Operation, Subresource string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &out))
	assert.Equal(t, "ssaplan/v1", out.APIVersion)
	assert.Equal(t, c.Namespace, out.Object.Namespace)
	managers := map[string]string{}
	for _, f := range out.Fields {
		for _, m := range f.Managers {
			managers[f.Path] += m.Manager + " " + m.Operation + " " + m.Subresource + ";"
		}
	}
	assert.Equal(t, "kubectl Update scale;", managers["spec.replicas"])
	assert.Equal(t, "kubectl-ssaplan Apply ;", managers["spec.template.metadata.labels.app"])
}

// rows returns the lines of a table without the column of ages.
func rows(table string) (out []string) {
	for line := range strings.Lines(table) {
		if cells := strings.Fields(line); len(cells) > 3 {
			out = append(out, strings.Join(cells[:4], " "))
		}
	}
	return out
}

func TestOwnersOfSecret(t *testing.T) {
	c := newCluster(t)
	c.kubectl("create", "secret", "generic", "a", "--from-literal", "password=c4n4ry")
	for _, format := range []string{"text", "json", "yaml"} {
		got := c.run("owners secret/a -o " + format)
		assert.Equal(t, 0, got.code, got.err)
		assert.Contains(t, got.out, "password")
		assert.NotContains(t, got.out, "c4n4ry")
		assert.NotContains(t, got.out, "YzRuNHJ5")
		assert.Contains(t, got.out, "<redacted>")
		assert.Contains(t, got.out, "Opaque", "what is no secret")
	}
}

func TestOwnersOfClusterScopedObject(t *testing.T) {
	c := newCluster(t)
	got := c.run("owners ns/" + c.Namespace)
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, "v1/Namespace "+c.Namespace+"\n")
}

func TestReadingWhatIsNotThere(t *testing.T) {
	c := newCluster(t)
	for line, want := range map[string]string{
		"owners deploy/nobody":                         `apps/v1/Deployment ` + c.Namespace + `/nobody: read: deployments.apps "nobody" not found; create it, or correct its name and namespace`,
		"owners nothing/web":                           `nothing/web: the server doesn't have a resource type "nothing"`,
		"import " + c.Namespace + "/Deployment/nobody": `apps/v1/Deployment ` + c.Namespace + `/nobody: read: deployments.apps "nobody" not found; create it, or correct its name and namespace`,
		"import Deployment.v9.apps/web":                `apps/v9/Deployment web: read: no matches for kind "Deployment" in version "apps/v9"; install the definition of the kind, or use a version that the server has`,
		"import x/Namespace/web":                       `v1/Namespace x/web: read: a Namespace is in no namespace; leave "x" out`,
	} {
		assert.Equal(t, result{1, "", want + "\n"}, c.run(line), line)
	}
}

// A connection that fails is one line, and no answer of somebody else is shown.
func TestReadingFromNoCluster(t *testing.T) {
	write(t, map[string]string{"good": goodKubeconfig})
	server := httptest.NewServer(answer(http.StatusUnauthorized, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`))
	defer server.Close()
	for _, line := range []string{"owners deploy/web", "import x/Deployment/web"} {
		got := run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", "good", "--server", server.URL)...)
		assert.Equal(t, 1, got.code)
		assert.Empty(t, got.out)
		assert.Regexp(t, "^cluster "+server.URL+": the server doesn't accept the credentials[^\n]*; renew the credentials[^\n]*\n$", got.err)

		got = run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", "good", "--server", "https://127.0.0.1:1")...)
		assert.Equal(t, 1, got.code)
		assert.Regexp(t, "^cluster https://127.0.0.1:1: the server can't be reached[^\n]*connection refused; [^\n]*\n$", got.err)
	}
}

// What a controller writes into the status may repeat a secret, and no definition says so.
func TestOwnersOfSensitiveFields(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: logins.owners.example.com}
spec:
  group: owners.example.com
  scope: Namespaced
  names: {plural: logins, singular: login, kind: Login, listKind: LoginList}
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
              password: {type: string, format: password}
              old: {type: array, x-kubernetes-list-type: set, items: {type: string, format: password}}
          status: {type: object, properties: {used: {type: string}}}
`))
	c.Apply(t, "somebody", lab.Object(t, `{apiVersion: owners.example.com/v1, kind: Login, metadata: {name: a, annotations: {note: c4n4ry-1}},
  spec: {user: jane, password: c4n4ry-2, old: [c4n4ry-4, c4n4ry-5]}, status: {used: c4n4ry-3}}`))
	for _, format := range []string{"text", "json", "yaml"} {
		got := c.run("owners logins.owners.example.com/a -o " + format)
		assert.Equal(t, 0, got.code, got.err)
		assert.NotContains(t, got.out, "c4n4ry")
		assert.Contains(t, got.out, "jane")
		assert.Contains(t, got.out, "<redacted>")
		assert.Contains(t, got.out, "used")
		assert.Contains(t, got.out, "old")
	}
}
