package applyset_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/applyset"
	"github.com/ssaplan/primitives/identity"
)

const tooling = "kubectl/v1.36.3"

var secret = identity.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "as1", Name: "set1"}

// kubectl made this ID.
func TestID(t *testing.T) {
	require.Equal(t, "applyset-T_ycqxUjnOYjhLAP_dNrVBEJzeuz2_C7ry_Q7gB4doo-v1", applyset.ID(secret))
	custom := identity.Identity{APIVersion: "p.example.com/v1", Kind: "App", Name: "main"}
	beta := custom
	beta.APIVersion = "p.example.com/v1beta1"
	require.Equal(t, applyset.ID(custom), applyset.ID(beta))
}

// What a parent says is read as it was written, in order and without the parent's own namespace.
func TestParent(t *testing.T) {
	parent := applyset.Parent{Object: secret, Tooling: tooling}.Of([]identity.Identity{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "z"}, {APIVersion: "apps/v1", Kind: "Deployment", Namespace: "as1"}, {APIVersion: "v1", Kind: "Namespace"},
	})
	manifest := parent.Manifest()
	require.Equal(t, map[string]string{
		"applyset.kubernetes.io/tooling": tooling, "applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Deployment.apps,Namespace",
		"applyset.kubernetes.io/additional-namespaces": "z",
	}, manifest.GetAnnotations())
	read, err := applyset.Read(manifest, "kubectl/v1.40.0")
	require.NoError(t, err)
	parent.Tooling = "kubectl/v1.40.0"
	require.Equal(t, parent, *read)
	more := read.With([]identity.Identity{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "a"}})
	require.Equal(t, []string{"a", "z"}, more.Namespaces)
	require.Equal(t, read.Kinds, more.Kinds)

	empty := applyset.Parent{Object: secret, Tooling: tooling}
	read, err = applyset.Read(empty.Manifest(), tooling)
	require.NoError(t, err)
	require.Empty(t, read.Kinds)
}

func TestRefusedParents(t *testing.T) {
	for problem, change := range map[string]func(annotations, labels map[string]string){
		"it exists but isn't an ApplySet":      func(a, _ map[string]string) { delete(a, "applyset.kubernetes.io/tooling") },
		"belongs to other, and not to kubectl": func(a, _ map[string]string) { a["applyset.kubernetes.io/tooling"] = "other/v1" },
		`is "x"; expected "applyset-`:          func(_, l map[string]string) { l["applyset.kubernetes.io/id"] = "x" },
		"lacks the annotation applyset.kubernetes.io/contains-group-kinds": func(a, _ map[string]string) {
			delete(a, "applyset.kubernetes.io/contains-group-kinds")
		},
	} {
		manifest := applyset.Parent{Object: secret, Tooling: tooling}.Manifest()
		annotations, labels := manifest.GetAnnotations(), manifest.GetLabels()
		change(annotations, labels)
		manifest.SetAnnotations(annotations)
		manifest.SetLabels(labels)
		_, err := applyset.Read(manifest, tooling)
		var refused *applyset.ParentError
		require.ErrorAs(t, err, &refused)
		require.ErrorContains(t, err, problem)
	}
}

func TestMark(t *testing.T) {
	manifest := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}}
	marked, err := applyset.Mark(manifest, "id")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "b", applyset.PartOfLabel: "id"}, marked.GetLabels())
	require.Equal(t, map[string]string{"a": "b"}, manifest.GetLabels())
	_, err = applyset.Mark(marked, "id")
	require.ErrorContains(t, err, "set by the manifest itself")
	bare, err := applyset.Mark(&unstructured.Unstructured{Object: map[string]any{}}, "id")
	require.NoError(t, err)
	require.Equal(t, "id", bare.GetLabels()[applyset.PartOfLabel])
}
