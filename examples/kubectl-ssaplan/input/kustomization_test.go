package input

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadKustomization(t *testing.T) {
	folder(t, map[string]string{
		"base/kustomization.yaml": "resources: [app.yaml]\n",
		"base/app.yaml":           object("web") + "data: {\"on\": \"yes\", size: \"1\"}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
		"prod/kustomization.yaml": `resources: [../base]
namespace: shop
namePrefix: prod-
patches:
- patch: |
    {apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {size: "2"}}
secretGenerator:
- name: key
  literals: [password=c4n4ry]
`,
	})
	manifests, failures := Read(t.Context(), Sources{Kustomization: "./prod"})
	require.Empty(t, failures)
	var got []string
	for _, m := range manifests {
		got = append(got, m.Source.Key()+" "+m.Identity.String())
		assert.Empty(t, m.Warnings)
	}
	require.Len(t, got, 3)
	assert.Equal(t, "prod (kustomize)#1 v1/Namespace shop", got[0])
	assert.Equal(t, "prod (kustomize)#2 v1/ConfigMap shop/prod-web", got[1])
	assert.Regexp(t, `^prod \(kustomize\)#3 v1/Secret shop/prod-key-\w{10}$`, got[2])
	assert.Equal(t, map[string]any{"on": "yes", "size": "2"}, manifests[1].Object.Object["data"])
	assert.Equal(t, "prod (kustomize): document 2", manifests[1].Source.String(), "no line: it stands in no file")
}

func TestReadKustomizationErrors(t *testing.T) {
	const general = "kustomize can't build it; kubectl kustomize k shows why, possibly with values of secrets"
	for name, tt := range map[string]struct{ kustomization, want string }{
		"no such file":    {"resources: [absent.yaml]\n", `there is no .*/k/absent\.yaml; check the paths in kustomization\.yaml`},
		"outside":         {"resources: [../app.yaml]\n", `.*/app\.yaml is not in or below .*/k; kustomize reads nothing outside of a kustomization's folder`},
		"twice":           {"resources: [a.yaml, b.yaml]\n", `the object ConfigMap\.v1\.\[noGrp\]/a\.\[noNs\] occurs twice; keep one of them`},
		"no target":       {"resources: [a.yaml]\npatches: [{patch: '{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {p: c4n4ry}}'}]\n", `no object matches the patch for .*x.*; correct the patch's kind and name`},
		"unknown field":   {"resourcs: [a.yaml]\n", `kustomization\.yaml: there is no field resourcs; check its spelling`},
		"broken file":     {"resources: [broken.yaml]\n", `not valid YAML: yaml: line 2: .*`},
		"literal":         {"secretGenerator: [{name: a, literals: [c4n4ry]}]\n", general},
		"patch":           {"resources: [a.yaml]\npatches: [{patch: 'c4n4ry'}]\n", general},
		"patch of a JSON": {"resources: [a.yaml]\npatches: [{patch: '[{\"op\": \"replace\", \"path\": \"/data/c4n4ry\", \"value\": \"c4n4ry\"}]', target: {kind: ConfigMap}}]\n", general},
		"empty":           {"", general},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, map[string]string{
				"k/kustomization.yaml": tt.kustomization, "app.yaml": object("x"), "k/a.yaml": object("a"), "k/b.yaml": object("a"),
				"k/broken.yaml": "a: b\nc4n4ry: \"c4n4ry\n",
			})
			manifests, failures := Read(t.Context(), Sources{Kustomization: "k"})
			assert.Empty(t, manifests)
			require.Len(t, failures, 1)
			assert.Regexp(t, "^k \\(kustomize\\): "+tt.want+"$", failures[0].Error())
			assert.NotContains(t, failures[0].Error(), canary)
		})
	}
	folder(t, nil)
	_, failures := Read(t.Context(), Sources{Kustomization: "absent"})
	require.Len(t, failures, 1)
	assert.Contains(t, failures[0].Error(), "absent (kustomize): there is no")
	for _, address := range []string{"https://me:c4n4ry@127.0.0.1:1/a?ref=c4n4ry", "HTTPS:/me:c4n4ry@127.0.0.1:1/a", "ftp://me:c4n4ry@127.0.0.1:1/a"} {
		_, failures := Read(t.Context(), Sources{Kustomization: address})
		require.Len(t, failures, 1)
		assert.NotContains(t, failures[0].Error(), canary)
		assert.Contains(t, failures[0].Error(), "…@127.0.0.1:1/a (kustomize): ")
	}
}

// A build that hangs, such as in git, doesn't hold up who gives up.
func TestReadKustomizationInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder(t, map[string]string{"k/kustomization.yaml": "resources: []\n"})
	_, failures := Read(ctx, Sources{Kustomization: "k"})
	require.NotEmpty(t, failures)
}
