package importid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
)

func TestParse(t *testing.T) {
	manager := func(name string) fieldowner.Selection {
		return fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: name}
	}
	for _, row := range []struct {
		text string
		want ID
		why  string
	}{
		{"default/Deployment/web", ID{Kind: "Deployment", Namespace: "default", Name: "web"}, "the plain form"},
		{"Namespace/web", ID{Kind: "Namespace", Name: "web"}, "cluster-scoped"},
		{"/Namespace/web", ID{Kind: "Namespace", Name: "web"}, "cluster-scoped, said explicitly"},
		{"ClusterRole/system:node", ID{Kind: "ClusterRole", Name: "system:node"}, "a name with a colon"},
		{"ClusterRole/system:aggregate-to-admin.v1", ID{Kind: "ClusterRole", Name: "system:aggregate-to-admin.v1"}, "a name with dots"},
		{"kube-system/ConfigMap/a.b.c", ID{Kind: "ConfigMap", Namespace: "kube-system", Name: "a.b.c"}, "the dots of a name are no group"},
		{"default/Deployment.apps/web", ID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}, "with a group"},
		{"default/Deployment.v1.apps/web", ID{"apps", "v1", "Deployment", "default", "web", fieldowner.Selection{}}, "with version and group"},
		{"default/apps/v1/Deployment/web", ID{"apps", "v1", "Deployment", "default", "web", fieldowner.Selection{}}, "with an apiVersion"},
		{"default/v1/Secret/db", ID{"", "v1", "Secret", "default", "db", fieldowner.Selection{}}, "with the apiVersion of the core group"},
		{"default/Secret.v1/db", ID{"", "v1", "Secret", "default", "db", fieldowner.Selection{}}, "the same"},
		{"/v1/Namespace/web", ID{"", "v1", "Namespace", "", "web", fieldowner.Selection{}}, "cluster-scoped in the core group"},
		{"apps/v1/Secret/db", ID{"", "v1", "Secret", "apps", "db", fieldowner.Selection{}}, "a namespace that is called like a group"},
		{"rbac.authorization.k8s.io/v1/ClusterRole/view", ID{"rbac.authorization.k8s.io", "v1", "ClusterRole", "", "view", fieldowner.Selection{}},
			"a group that can't be a namespace"},
		{"/rbac.authorization.k8s.io/v1/ClusterRole/view", ID{"rbac.authorization.k8s.io", "v1", "ClusterRole", "", "view", fieldowner.Selection{}}, "the same"},
		{"ClusterRole.rbac.authorization.k8s.io/view", ID{"rbac.authorization.k8s.io", "", "ClusterRole", "", "view", fieldowner.Selection{}}, "with a group, cluster-scoped"},
		{"default/Widget.v2beta1.ex.io/w", ID{"ex.io", "v2beta1", "Widget", "default", "w", fieldowner.Selection{}}, "a beta version"},
		{"default/Widget.v2.ex/w", ID{"ex", "v2", "Widget", "default", "w", fieldowner.Selection{}}, "version and a group of one part"},
		{"default/Widget.vx.io/w", ID{"vx.io", "", "Widget", "default", "w", fieldowner.Selection{}}, "a group that begins like a version"},
		{"default/Widget.v1gamma1.io/w", ID{"v1gamma1.io", "", "Widget", "default", "w", fieldowner.Selection{}}, "and one that begins even more like it"},
		{"default/ex.io/stable/Widget/w", ID{"ex.io", "stable", "Widget", "default", "w", fieldowner.Selection{}}, "a version with a name of its own"},
		{"default/Role/a%20b%3F&=+", ID{Kind: "Role", Namespace: "default", Name: "a b?&=+"}, "escapes in a name"},

		{"default/Deployment/web?unowned", ID{Kind: "Deployment", Namespace: "default", Name: "web",
			Selection: fieldowner.Selection{Strategy: fieldowner.UnownedFields}}, "nobody's fields"},
		{"default/Deployment/web?manager=helm", ID{Kind: "Deployment", Namespace: "default", Name: "web", Selection: manager("helm")}, "a manager's fields"},
		{"N/x?manager=a/b?c=d+e", ID{Kind: "N", Name: "x", Selection: manager("a/b?c=d+e")}, "a manager's name needs few escapes"},
		{"N/x?manager=a%26b%25 c", ID{Kind: "N", Name: "x", Selection: manager("a&b% c")}, "but has some"},
		{"N/x?manager=m&operation=Update&subresource=scale", ID{Kind: "N", Name: "x",
			Selection: fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "m", Operation: fieldowner.OperationUpdate, Subresource: "scale"}}, "one entry of a manager"},
		{"N/x?operation=Apply&manager=m", ID{Kind: "N", Name: "x", Selection: fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "m", Operation: fieldowner.OperationApply}}, "in any order"},
	} {
		got, err := Parse(row.text)
		require.NoError(t, err, "%s: %s", row.text, row.why)
		assert.Equal(t, row.want, got, "%s: %s", row.text, row.why)
		again, err := Parse(got.String())
		require.NoError(t, err, "%s: %s", got, row.why)
		assert.Equal(t, got, again, "the text %s says the same", got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, row := range []struct{ text, err string }{
		{"", "1 parts"},
		{"web", "1 parts"},
		{"a/b/c/d/e/f", "6 parts"},
		{"default//web", "no kind"},
		{"default/Deployment/", "no name"},
		{"/", "no kind"},
		{"default/apps//Deployment/web", "an empty part"},
		{"default//v1/Deployment/web", "an empty part"},
		{"default//Deployment/web", "an empty part"},
		{"default/v1//web", "no kind"},
		{"default/.apps/web", "no kind"},
		{"default/Deployment./web", `nothing behind the dot of "Deployment."`},
		{"default/Deployment..apps/web", `".apps" is no group`},
		{"default/Deploy ment/web", `"Deploy ment" is no kind`},
		{"x.y/ConfigMap/web", `"x.y" is no namespace`},
		{"Default/ConfigMap/web", `"Default" is no namespace`},
		{"apps/v1beta1/Deployment/web", `the core group has no version "v1beta1"`},
		{"default/ConfigMap.v2/x", `the core group has no version "v2"`},
		{"default/Apps/v1/Deployment/web", `"Apps" is no group`},
		{"default/apps/V1/Deployment/web", `"V1" is no version`},
		{"default/apps/v1/Deployment.apps/web", `"Deployment.apps" is no kind`},
		{"default/ConfigMap/..", `".." is no name`},
		{"default/ConfigMap/a%2Fb", `"a/b" is no name`},
		{"default/ConfigMap/a%25b", `"a%b" is no name`},
		{"default/ConfigMap/a%b", `invalid URL escape "%b"`},
		{"N/x?", `unexpected "" after the name`},
		{"N/x?Unowned", `unexpected "Unowned" after the name`},
		{"N/x?unowned&manager=m", `unexpected "unowned" after the name`},
		{"N/x?manager=", "no manager"},
		{"N/x?manager", "no manager"},
		{"N/x?operation=Apply", "no manager"},
		{"N/x?manager=a&manager=b", `unexpected "manager=b" after the name`},
		{"N/x?manager=%", `invalid URL escape "%"`},
		{"N/x?manager=m&operation=Delete", `unknown operation "Delete"`},
		{"N/x?manager=m&subresource=scale", "a subresource without an operation"},
	} {
		_, err := Parse(row.text)
		if assert.Error(t, err, row.text) {
			assert.Contains(t, err.Error(), row.err, row.text)
			assert.True(t, strings.HasSuffix(err.Error(), "expected "+Form), "the error shows the form")
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"default/Deployment/web", "ClusterRole/system:node", "default/Deployment.v1.apps/web?unowned", "/v1/Namespace/x",
		"rbac.authorization.k8s.io/v1/ClusterRole/view?manager=a%26b&operation=Update&subresource=scale", "a/b%3F/c%20d?manager=%25", "//", "?",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(id.String())
		require.NoError(t, err, "%q, made of %q", id.String(), text)
		require.Equal(t, id, again, "%q, made of %q", id.String(), text)
	})
}
