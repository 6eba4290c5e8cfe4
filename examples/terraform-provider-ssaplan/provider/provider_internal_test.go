package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// The kinds of show_values_of are those that every Planner shows; while they aren't known, there are none.
func TestShowValuesOf(t *testing.T) {
	texts := tftypes.List{ElementType: tftypes.String}
	for _, row := range []struct {
		value any
		want  []k8sschema.GroupKind
	}{
		{nil, nil},
		{tftypes.UnknownValue, nil},
		{[]tftypes.Value{tftypes.NewValue(tftypes.String, "Backup.example.com"), tftypes.NewValue(tftypes.String, "secret")},
			[]k8sschema.GroupKind{{Group: "example.com", Kind: "Backup"}, {Kind: "secret"}}},
	} {
		p := &ssaplanProvider{}
		var described provider.SchemaResponse
		p.Schema(t.Context(), provider.SchemaRequest{}, &described)
		of := described.Schema.Type().TerraformType(t.Context()).(tftypes.Object)
		values := map[string]tftypes.Value{}
		for name, attribute := range of.AttributeTypes {
			values[name] = tftypes.NewValue(attribute, nil)
		}
		values["show_values_of"] = tftypes.NewValue(texts, row.value)
		var configured provider.ConfigureResponse
		p.Configure(t.Context(), provider.ConfigureRequest{Config: tfsdk.Config{Schema: described.Schema, Raw: tftypes.NewValue(of, values)}}, &configured)
		require.False(t, configured.Diagnostics.HasError(), configured.Diagnostics)
		require.Equal(t, row.want, p.planners.showValuesOf)
	}
}

// A new cause needs an answer: is a change of it a value that a create takes over from others?
func TestEveryCauseIsTakenOverOrNot(t *testing.T) {
	takenOver := map[explain.Cause]bool{
		explain.CauseEdited: true, explain.CauseUnknown: true,
		explain.CauseDrifted: false, explain.CauseDropped: false, explain.CauseCleared: false, explain.CauseSideEffect: false,
	}
	for _, cause := range explain.Causes() {
		want, known := takenOver[cause]
		require.True(t, known, "planning.takesOver: does it show a change of the cause %s?", cause)
		plan, p := &ssaplan.Plan{}, &planning{}
		plan.Changes = []explain.Change{{Difference: projection.Difference{Op: projection.OpChange}, Cause: cause}}
		p.takesOver(plan, "exists")
		require.Equal(t, want, len(p.notes[0].Lines) > 0, cause)
	}
}
