package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/readiness"
	"github.com/ssaplan/primitives/ssaplan"
)

var outputFieldsPath = path.Root("output_fields")

// checkOutputs returns what is wrong with output_fields.
func (o object) checkOutputs() error {
	for name, value := range rowsOf(o.OutputFields) {
		if _, err := projection.ParsePath(value); err != nil {
			return fmt.Errorf("output_fields: %s: %w", name, err)
		}
	}
	return nil
}

// outputsOf returns what the live object has at output_fields, as far as it may be shown.
func (o object) outputsOf(planner *ssaplan.Planner, live *unstructured.Unstructured) types.Map {
	if o.OutputFields.IsNull() {
		return types.MapNull(types.StringType)
	}
	shown, values := planner.Redactor(live).Object(live), map[string]attr.Value{}
	for name, text := range rowsOf(o.OutputFields) {
		values[name] = types.StringNull()
		if at, err := projection.ParsePath(text); err == nil { // else it is refused before
			if v, exists := projection.Get(shown, at); exists && v != nil {
				values[name] = types.StringValue(readiness.ValueText(v))
			}
		}
	}
	return types.MapValueMust(types.StringType, values)
}

// plannedOutputs are those of before if nothing is going to be applied: a status follows from what is.
func (p *planning) plannedOutputs() types.Map {
	switch {
	case p.planned.OutputFields.IsNull():
		return types.MapNull(types.StringType)
	case p.prior == nil, p.planned.OtherOwners.IsUnknown(), !p.prior.OutputFields.Equal(p.planned.OutputFields):
		return unknownMap()
	}
	return p.prior.Outputs
}
