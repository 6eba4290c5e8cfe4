package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// A Website says how far the operator may go. The tests of ctrlssaplan show what each policy does to children.
func TestPoliciesOfAWebsite(t *testing.T) {
	for _, row := range []struct {
		why  string
		spec v1alpha1.WebsiteSpec
		want ctrlssaplan.Policy
	}{
		{"the defaults", v1alpha1.WebsiteSpec{}, ctrlssaplan.Policy{}},
		{"the defaults by their names", v1alpha1.WebsiteSpec{DriftPolicy: v1alpha1.RepairDrift, ConflictPolicy: v1alpha1.ForceConflicts,
			ReplacePolicy: v1alpha1.ForbidReplace}, ctrlssaplan.Policy{}},
		{"drift is only reported", v1alpha1.WebsiteSpec{DriftPolicy: v1alpha1.ReportDrift}, ctrlssaplan.Policy{Drift: ctrlssaplan.DriftReport}},
		{"fields of others stay theirs", v1alpha1.WebsiteSpec{ConflictPolicy: v1alpha1.RefuseConflicts}, ctrlssaplan.Policy{RefuseConflicts: true}},
		{"children may be replaced", v1alpha1.WebsiteSpec{ReplacePolicy: v1alpha1.AllowReplace}, ctrlssaplan.Policy{Replace: true}},
	} {
		row.want.ToReplace = "set spec.replacePolicy to Allowed"
		require.Equal(t, row.want, policy(row.spec), row.why)
	}
}

// The fields that a Website leaves to others are ignored in the children of their kind, and in no others.
func TestIgnoredFieldsOfAWebsite(t *testing.T) {
	website := &v1alpha1.Website{Spec: v1alpha1.WebsiteSpec{Ignore: []v1alpha1.IgnoredFields{
		{Kind: "Deployment", Fields: []string{"spec.replicas"}}, {Kind: "Service", Fields: []string{"spec.type"}},
		{Kind: "Deployment", Fields: []string{"spec.paused"}},
	}}}
	ignored := map[string][]string{}
	for _, child := range children(website) {
		obj, err := manifest.Of(child.Object, nil)
		require.NoError(t, err)
		ignored[obj.GetKind()] = child.Ignore
	}
	require.Equal(t, map[string][]string{
		"ConfigMap": nil, "Deployment": {"spec.replicas", "spec.paused"}, "Service": {"spec.type"}, "Ingress": nil,
	}, ignored)
}
