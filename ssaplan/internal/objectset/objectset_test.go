package objectset_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/objectset"
)

func object(apiVersion, kind, name string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
}

func definition(group, kind, name string) map[string]any {
	obj := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
	obj["spec"] = map[string]any{"group": group, "names": map[string]any{"kind": kind}}
	return obj
}

func TestWhatASetCreates(t *testing.T) {
	read := 0
	made := []map[string]any{
		{}, nil, object("v1", "ConfigMap", "shop"), object("v1", "Namespace", "new"), object("ex.io/v1", "Namespace", "other"),
		definition("ex.io", "Widget", "widgets.ex.io"), object("ex.io/v1", "CustomResourceDefinition", "gadgets.ex.io"),
	}
	set := objectset.New(made, func(m map[string]any) *unstructured.Unstructured {
		if read++; m == nil {
			return nil
		}
		return &unstructured.Unstructured{Object: m}
	}, "default")
	require.Zero(t, read, "nobody asked for it")
	for name, says := range map[string]string{"new": "; the same set creates it", "shop": "", "other": "", "": ""} {
		require.Equal(t, says, set.Created().Creates(identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: name, Name: "a"}), name)
	}
	widget := identity.Identity{APIVersion: "ex.io/v2", Kind: "Widget", Name: "a"}
	require.Equal(t, "; CustomResourceDefinition widgets.ex.io of the same set defines it", set.Created().Defines(widget))
	for _, kind := range [][2]string{{"ex.io/v1", "Gadget"}, {"other.io/v1", "Widget"}, {"", ""}} {
		require.Empty(t, set.Created().Defines(identity.Identity{APIVersion: kind[0], Kind: kind[1], Name: "a"}), kind)
	}
	require.Equal(t, len(made), read, "they are read once")
}

func TestFirstOfAnIdentity(t *testing.T) {
	set := objectset.New(nil, func(m *unstructured.Unstructured) *unstructured.Unstructured { return m }, "default")
	id := func(apiVersion, kind, namespace, name string) identity.Identity {
		return identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	}
	for i, row := range []struct {
		why   string
		id    identity.Identity
		first int
	}{
		{"the first", id("apps/v1", "Deployment", "shop", "web"), 0},
		{"the same", id("apps/v1", "Deployment", "shop", "web"), 0},
		{"in another version", id("apps/v1beta1", "Deployment", "shop", "web"), 0},
		{"of another group", id("ex.io/v1", "Deployment", "shop", "web"), 3},
		{"of another kind", id("apps/v1", "StatefulSet", "shop", "web"), 4},
		{"of another name", id("apps/v1", "Deployment", "shop", "db"), 5},
		{"in no namespace: the default one", id("apps/v1", "Deployment", "", "web"), 6},
		{"which is named here", id("apps/v1", "Deployment", "default", "web"), 6},
		{"without a name nothing is known", id("apps/v1", "Deployment", "shop", ""), 8},
		{"nor of the next one", id("apps/v1", "Deployment", "shop", ""), 9},
	} {
		require.Equal(t, row.first, set.First(row.id, i), row.why)
	}
}
