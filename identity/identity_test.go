package identity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/rows"
)

func object(apiVersion, kind string, metadata any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
}

func TestOf(t *testing.T) {
	tests := rows.Read[struct {
		Name string
		Obj  map[string]any
		Want identity.Identity
		Why  string
	}](t, "of")
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			got, err := identity.Of(tt.Obj)
			require.NoError(t, err, tt.Why)
			assert.Equal(t, tt.Want, got, tt.Why)
		})
	}
}

func TestOfErrorNamesField(t *testing.T) {
	named := map[string]any{"name": "web"}
	tests := []struct {
		name  string
		obj   map[string]any
		field string
		text  string
		why   string
	}{
		{"nil", nil, "", `identity: no object (nil)`, "nothing has no identity"},
		{"empty", map[string]any{}, "apiVersion", `identity: apiVersion: missing`, "the first missing field is named"},
		{"two slashes", object("a/b/c", "K", named), "apiVersion", `identity: apiVersion "a/b/c": expected "version" or "group/version"`, "no group or version contains a slash"},
		{"group of dots", object("../v1", "K", named), "apiVersion", `identity: apiVersion "../v1": expected "version" or "group/version"`, "as a segment of a URL it leads to another one"},
		{"version of a dot", object("a/.", "K", named), "apiVersion", `identity: apiVersion "a/.": expected "version" or "group/version"`, "as a segment of a URL it leads to another one"},
		{"dots alone", object("..", "K", named), "apiVersion", `identity: apiVersion "..": expected "version" or "group/version"`, "as a segment of a URL it leads to another one"},
		{"no version", object("apps/", "K", named), "apiVersion", `identity: apiVersion "apps/": expected "version" or "group/version"`, "a group alone names no kind"},
		{"no group", object("/v1", "K", named), "apiVersion", `identity: apiVersion "/v1": expected "version" or "group/version"`, "the core group is written without a slash"},
		{"slash only", object("/", "K", named), "apiVersion", `identity: apiVersion "/": expected "version" or "group/version"`, "neither part is there"},
		{"empty apiVersion", object("", "K", named), "apiVersion", `identity: apiVersion: missing`, "empty is missing"},
		{"apiVersion is a number", map[string]any{"apiVersion": int64(1), "kind": "K", "metadata": named}, "apiVersion", `identity: apiVersion: expected a string, got int64`, "YAML reads an unquoted 1 as a number"},
		{"apiVersion is null", map[string]any{"apiVersion": nil, "kind": "K", "metadata": named}, "apiVersion", `identity: apiVersion: missing`, "null is missing"},
		{"no kind", map[string]any{"apiVersion": "v1", "metadata": named}, "kind", `identity: kind: missing`, "a kind is required"},
		{"kind with slash", object("v1", "pods/status", named), "kind", `identity: kind "pods/status": must not contain "/"`, "a resource path is no kind"},
		{"no metadata", map[string]any{"apiVersion": "v1", "kind": "K"}, "metadata", `identity: metadata: missing`, "the name is in there"},
		{"metadata is a list", object("v1", "K", []any{}), "metadata", `identity: metadata: expected a map, got []interface {}`, "a stray dash in YAML makes a list"},
		{"metadata is a string", object("v1", "K", "web"), "metadata", `identity: metadata: expected a map, got string`, "text is no map"},
		{"no name", object("v1", "K", map[string]any{}), "metadata.name", `identity: metadata.name: missing`, "a name is required"},
		{"name is a number", object("v1", "K", map[string]any{"name": int64(7)}), "metadata.name", `identity: metadata.name: expected a string, got int64`, "YAML reads an unquoted 7 as a number"},
		{"name with slash", object("v1", "K", map[string]any{"name": "a/b"}), "metadata.name", `identity: metadata.name "a/b": must not contain "/"`, "namespace/name belongs in two fields"},
		{"generateName", object("v1", "K", map[string]any{"generateName": "web-"}), "metadata.generateName", `identity: metadata.generateName "web-": the server would choose another name at each apply; set metadata.name`, "the object can't be found again"},
		{"generateName is a number", object("v1", "K", map[string]any{"generateName": int64(1), "name": "a"}), "metadata.generateName", `identity: metadata.generateName: expected a string, got int64`, "a wrong type is never passed over"},
		{"namespace is a number", object("v1", "K", map[string]any{"name": "web", "namespace": int64(7)}), "metadata.namespace", `identity: metadata.namespace: expected a string, got int64`, "the server would reject it"},
		{"namespace with slash", object("v1", "K", map[string]any{"name": "web", "namespace": "a/b"}), "metadata.namespace", `identity: metadata.namespace "a/b": must not contain "/"`, "it is one segment of a URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := identity.Of(tt.obj)
			require.Error(t, err, tt.why)
			assert.Zero(t, got, "no half identity beside an error")
			var fieldErr *identity.FieldError
			require.ErrorAs(t, err, &fieldErr)
			assert.Equal(t, tt.field, fieldErr.Field, tt.why)
			assert.Equal(t, tt.text, err.Error(), tt.why)
		})
	}
}

func TestGroupAndVersion(t *testing.T) {
	for apiVersion, want := range map[string][2]string{
		"v1":                           {"", "v1"},
		"apps/v1":                      {"apps", "v1"},
		"rbac.authorization.k8s.io/v1": {"rbac.authorization.k8s.io", "v1"},
		"":                             {"", ""},
	} {
		id := identity.Identity{APIVersion: apiVersion}
		assert.Equal(t, want, [2]string{id.Group(), id.Version()}, apiVersion)
	}
}

// What an error says of an object with a name that no server would take can be read behind it.
func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("n", 5000)
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: long, Name: long}
	cut := strings.Repeat("n", 225) + "… (4700 characters more) …" + strings.Repeat("n", 75)
	assert.Equal(t, "v1/ConfigMap "+cut+"/"+cut, id.String())
	assert.Equal(t, "v1/ConfigMap "+long[:300], identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: long[:300]}.String())
}

func TestScopeOf(t *testing.T) {
	web := identity.Identity{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	for _, row := range []struct {
		why  string
		id   identity.Identity
		want identity.Scope
	}{
		{"of another kind", identity.Identity{APIVersion: "apps/v1", Kind: "DaemonSet", Namespace: "a"}, identity.ScopeUnknown},
		{"of another group", identity.Identity{APIVersion: "extensions/v1", Kind: "Deployment", Namespace: "a"}, identity.ScopeUnknown},
		{"in a namespace, of another version", identity.Identity{APIVersion: "apps/v1beta1", Kind: "Deployment", Namespace: "a"}, identity.ScopeNamespaced},
		{"in none", identity.Identity{APIVersion: "apps/v1", Kind: "Deployment"}, identity.ScopeCluster},
	} {
		assert.Equal(t, row.want, row.id.ScopeOf(web), row.why)
	}
}
