package set_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// TestLostVersion applies a set whose CRD loses a version that managedFields of objects name. The plan of the CRD names
// these objects, and the entries of those of the set are moved, as an apply would be refused otherwise.
func TestLostVersion(t *testing.T) {
	c := newCluster(t)
	gears := func(versions ...string) string {
		var list []string
		for _, name := range versions {
			list = append(list, fmt.Sprintf(`{name: %s, served: true, storage: %v, schema: {openAPIV3Schema: {type: object,
				properties: {spec: {type: object, properties: {size: {type: integer}, color: {type: string}}}}}}}`, name, name == "v1"))
		}
		return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.NAME.example.com},
			spec: {group: NAME.example.com, scope: Namespaced, names: {plural: gears, singular: gear, kind: Gear, listKind: GearList},
			versions: [` + strings.Join(list, ", ") + "]}}"
	}
	gear := func(version, name, spec string) string {
		const text = "\n---\n{apiVersion: NAME.example.com/%s, kind: Gear, metadata: {name: %s, namespace: NAME}, spec: {%s}}"
		return fmt.Sprintf(text, version, name, spec)
	}
	members := gear("v1", "a", "color: red") + gear("v1", "b", "color: red")
	c.apply(t, c.set(t, set.Options{}, gears("v1", "v1beta1")+members))
	for _, name := range []string{"a", "b", "other"} {
		_, text, _ := strings.Cut(gear("v1beta1", name, "size: 1"), "---\n")
		c.Apply(t, "flux", lab.Object(t, strings.ReplaceAll(text, "NAME", c.name)))
	}

	now := gears("v1") + gear("v1", "a", "color: blue") + gear("v1", "b", "color: red")
	upgrade := c.set(t, set.Options{}, now)
	var lines, warnings []string
	for item := range upgrade.Plan(t.Context()) {
		require.NoError(t, item.Err)
		lines = append(lines, item.Object.Kind+" "+string(item.Plan.Action)+": "+item.Plan.Reason)
		for _, warning := range item.Plan.Warnings {
			warnings = append(warnings, strings.ReplaceAll(warning.String(), c.name, "NAME"))
		}
	}
	const moved = `managedFields of "flux" (Apply) are moved from NAME.example.com/v1beta1 to NAME.example.com/v1 before the apply`
	require.Equal(t, []string{
		"CustomResourceDefinition Update: 1 edited", "Gear Update: 1 edited",
		"Gear Update: no value changes, only the version of entries of managedFields",
	}, lines)
	require.Equal(t, []string{
		`the CRD drops NAME.example.com/v1beta1, but managedFields of these objects name it: ` +
			`NAME/a of "flux" (Apply), NAME/b of "flux" (Apply), NAME/other of "flux" (Apply); ` +
			"nothing can be applied to them until the entries are moved to another version (Request.LostVersions; in kubectl ssaplan --lost-version, in Terraform lost_versions)",
		moved, moved,
	}, warnings)
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gear Done", "Gear Done"}, c.apply(t, upgrade))

	for _, line := range c.plan(t, c.set(t, set.Options{}, now)) {
		require.Contains(t, line, string(ssaplan.ActionNoOp))
	}
	_, text, _ := strings.Cut(gear("v1", "other", "color: red"), "---\n")
	other := ssaplan.Request{Manifest: lab.Object(t, strings.ReplaceAll(text, "NAME", c.name))}
	lab.Eventually(t, "the server has heeded that the version is gone", func() bool {
		_, err := c.planner.Plan(t.Context(), other)
		return authresilience.Classify(err) == authresilience.ClassLostVersion
	})
}
