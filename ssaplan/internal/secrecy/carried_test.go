package secrecy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// The secret fields of objects inside of an object are those of their kinds, wherever they are.
func TestFieldsOfCarriedObjects(t *testing.T) {
	marks := func(kind schema.GroupVersionKind) projection.Patterns {
		if kind.Group == "unknown" {
			return secrecy.Unmarked
		}
		texts := map[string]string{"Database": "spec.password", "Unknown": secrecy.EveryField}
		patterns, err := projection.ParsePatterns(texts[kind.Kind])
		if texts[kind.Kind] == "" {
			return nil
		}
		require.NoError(t, err)
		return patterns
	}
	for why, row := range map[string]struct {
		content string
		want    []string // the annotations of the object are among them, too
	}{
		"a Secret": {`spec: {manifest: {apiVersion: v1, kind: Secret, metadata: {annotations: {a: b}}, data: {a: b}, stringData: {a: b}}}`,
			[]string{"spec.manifest.data", "spec.manifest.metadata.annotations", "spec.manifest.stringData"}},
		"Secrets in a list": {`spec: {manifests: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret, data: {}}, {apiVersion: v1, kind: Secret, data: {}}]}`,
			[]string{"spec.manifests[*].data"}},
		"a List":                           {`spec: {list: {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, data: {}}]}}`, []string{"spec.list.items[*].data"}},
		"an odd name":                      {`{spec: {"a.b": {apiVersion: v1, kind: Secret, data: {}}}}`, []string{`spec["a.b"].data`}},
		"a misspelt kind":                  {`spec: {manifest: {apiVersion: v1, kind: secret, stringData: {}}}`, []string{"spec.manifest.stringData"}},
		"no version":                       {`spec: {manifest: {kind: Secret, data: {}}}`, []string{"spec.manifest.data"}},
		"a version that there isn't":       {`spec: {manifest: {apiVersion: unknown/v1, kind: Secret, data: {}}}`, []string{"spec.manifest.data"}},
		"a SecretList":                     {`spec: {manifest: {apiVersion: v1, kind: SecretList, items: [{data: {}}]}}`, []string{"spec.manifest.items[*].data", "spec.manifest.items[*].metadata.annotations", "spec.manifest.items[*].stringData"}},
		"a reference to a Secret":          {`spec: {ref: {apiVersion: v1, kind: Secret, name: a}}`, nil},
		"a Secret of another group":        {`spec: {manifest: {apiVersion: example.com/v1, kind: Secret, data: {}}}`, nil},
		"a kind with marks":                {`spec: {manifest: {apiVersion: example.com/v1, kind: Database, metadata: {}, spec: {password: a}}}`, []string{"spec.manifest.metadata.annotations", "spec.manifest.spec.password"}},
		"a template of a kind with marks":  {`spec: {base: {apiVersion: example.com/v1, kind: Database, spec: {password: a}}}`, []string{"spec.base.metadata.annotations", "spec.base.spec.password"}},
		"a reference to a kind with marks": {`spec: {ref: {apiVersion: example.com/v1, kind: Database, name: a}}`, nil},
		"a kind whose marks aren't known":  {`spec: {manifest: {apiVersion: example.com/v1, kind: Unknown, metadata: {name: a}, spec: {}, status: {}}}`, []string{"spec.manifest.metadata.annotations", "spec.manifest.spec", "spec.manifest.status"}},
		"a manifest as YAML":               {`{data: {a: "apiVersion: v1\nkind: Secret\nstringData: {p: x}\n", b: "kind: Secret"}}`, []string{"data.a"}},
		"a misspelt manifest":              {`{data: {a: "kind: secret\nstringData: {p: x}\n"}}`, []string{"data.a"}},
		"a manifest of some":               {`{data: {a: '{"kind":"SecretList","items":[{"data":{"p":"x"}}]}'}}`, []string{"data.a"}},
		"a manifest as JSON":               {`{data: {a: '{"kind":"Secret","data":{"p":"x"}}'}}`, []string{"data.a"}},
		"a manifest as quoted JSON":        {`{data: {a: '"{\"kind\": \"Secret\", \"data\": {}}"'}}`, []string{"data.a"}},
		"a manifest in an annotation":      {`{metadata: {annotations: {a: '{"kind":"Secret","data":{"p":"x"}}'}}}`, []string{`metadata.annotations.a`}},
		"a text about a kind of Secrets":   {`{data: {a: "kind: SecretStore\ndata: x", b: "a Secret with data: x"}}`, nil},
	} {
		obj := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(row.content), &obj.Object), why)
		obj.SetAPIVersion("v1")
		obj.SetKind("ConfigMap")
		var got []string
		for _, p := range redact.Fields(nil, marks, identity.Identity{APIVersion: "v1", Kind: "ConfigMap"}, nil, obj) {
			got = append(got, p.String())
		}
		want := row.want
		if want != nil {
			want = append(want, "metadata.annotations")
		}
		require.Equal(t, want, got, why)
		require.Equal(t, want != nil, redact.For(nil, marks, obj).Redacts(), why)
	}
}

// The kinds of the objects inside of an object have an order, which maps haven't.
func TestCarriedKindsAreSorted(t *testing.T) {
	obj := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(`spec:
  a: {apiVersion: v1, kind: Pod, metadata: {}}
  b: {apiVersion: b.io/v1, kind: Thing, metadata: {}}
  c: {apiVersion: b.io/v1, kind: Part, metadata: {}, spec: {inner: {apiVersion: a.io/v2, kind: Thing, metadata: {}}}}
  d: [{apiVersion: v1, kind: Pod, metadata: {}}, {apiVersion: a.io/v1, kind: Thing, metadata: {}}]
  e: {apiVersion: v1, kind: Node, name: a}
`), &obj))
	want := []schema.GroupVersionKind{
		{Version: "v1", Kind: "Pod"},
		{Group: "a.io", Version: "v1", Kind: "Thing"}, {Group: "a.io", Version: "v2", Kind: "Thing"},
		{Group: "b.io", Version: "v1", Kind: "Part"}, {Group: "b.io", Version: "v1", Kind: "Thing"},
	}
	for range 20 {
		require.Equal(t, want, secrecy.Carried(obj))
	}
}

// An object that contains itself has an end.
func TestCarriedByAnObjectThatContainsItself(t *testing.T) {
	spec := map[string]any{}
	spec["a"], spec["b"] = spec, spec
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "spec": spec}}
	require.True(t, redact.For(nil, none, obj).Redacts())
	require.Empty(t, secrecy.Carried(obj.Object))
}
