package immutability_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

const rulesFolder = "../../../immutability/testdata/"

// ruled is a definition with a field for each of some transition rules.
type ruled struct {
	Definition map[string]any `json:"definition"`
	Rules      []struct {
		Name    string               `json:"name"`
		Like    string               `json:"like"`
		Schema  any                  `json:"schema"`
		Before  any                  `json:"before"`
		After   any                  `json:"after"`
		Verdict immutability.Refusal `json:"verdict"`
	} `json:"rules"`
}

func readRules(t *testing.T) (ruled, *unstructured.Unstructured) {
	t.Helper()
	text, err := os.ReadFile(rulesFolder + "rules.yaml")
	require.NoError(t, err)
	var r ruled
	require.NoError(t, yaml.UnmarshalStrict(text, &r))
	crd := &unstructured.Unstructured{Object: normalized(t, r.Definition)}
	for _, row := range r.Rules {
		set(t, crd.Object, "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties."+row.Name, row.Schema)
	}
	return r, crd
}

// TestRules changes a field of a custom resource in a way that a rule of its definition refuses. Replace is only
// planned where the rule demands that the field stays what it is, and then the delete and the create work.
func TestRules(t *testing.T) {
	c := newCluster(t)
	rules, crd := readRules(t)
	require.GreaterOrEqual(t, len(rules.Rules), 80)
	c.Define(t, crd)
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager})
	limited := c.withoutDefinitions(t).Planner(t, ssaplan.Options{FieldManager: manager})
	recorded := map[string]metav1.Status{}
	for i, row := range rules.Rules {
		if !isPlayed(i) {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			obj := func(value any) *unstructured.Unstructured {
				object := lab.Object(t, "{apiVersion: rules.example.com/v1, kind: Ruled, metadata: {name: ruled}, spec: {}}")
				set(t, object.Object, "spec."+row.Name, value)
				object.Object = normalized(t, object.Object)
				return object
			}
			before, after := obj(row.Before), obj(row.After)
			c.apply(t, before)
			defer c.delete(t, before)
			_, refused := c.tryApply(t, after, metav1.DryRunAll)
			require.Error(t, refused, row.Like)
			recorded[row.Name] = statusOf(t, refused)

			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: after})
			if row.Verdict == immutability.RefusalImmutable {
				require.NoError(t, err, row.Like)
				assert.Equal(t, ssaplan.ActionReplace, plan.Action, row.Like)
				c.delete(t, before)
				c.apply(t, after)
				c.delete(t, after)
				c.apply(t, before)
			} else {
				var no *immutability.RefusedError
				require.ErrorAs(t, err, &no, row.Like)
				assert.Equal(t, row.Verdict, no.Verdict.Refusal, row.Like)
			}

			_, err = limited.Plan(t.Context(), ssaplan.Request{Manifest: after})
			var no *immutability.RefusedError
			require.ErrorAs(t, err, &no, "a user without rights to read definitions")
			assert.Equal(t, immutability.RefusalDirectional, no.Verdict.Refusal)
			assert.Contains(t, no.Verdict.Uncertain, "the CRD can't be read")
		})
	}
	if *update {
		text, err := json.MarshalIndent(recorded, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(rulesFolder+"rules.json", append(text, '\n'), 0o644))
	}
}

// withoutDefinitions returns a user who may do everything with the objects of the definition, and not read that.
func (c *cluster) withoutDefinitions(t *testing.T) *lab.Cluster {
	t.Helper()
	c.install(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: ruler}
rules: [{apiGroups: [rules.example.com], resources: [ruled], verbs: ["*"]}]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ruler}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ruler}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ruler}]
`)
	c.WaitAllowed(t, "ruler", "patch", "ruled.rules.example.com")
	return c.As(t, "ruler")
}
