package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/ssaplan/review"
)

func mapOf(rows review.Rows) types.Map {
	values := make(map[string]attr.Value, len(rows))
	for path, value := range rows {
		values[path] = types.StringValue(value)
	}
	return types.MapValueMust(types.StringType, values)
}

// rowsOf returns the known rows of a map.
func rowsOf(m types.Map) review.Rows {
	rows := review.Rows{}
	for path, value := range m.Elements() {
		if text, ok := value.(types.String); ok && !text.IsUnknown() {
			rows[path] = text.ValueString()
		}
	}
	return rows
}

// settle returns what to store for a map of which a part was planned: what is known of the plan has to stay.
func settle(planned, actual types.Map) types.Map {
	if planned.IsUnknown() {
		return actual
	}
	rows, made := planned.Elements(), actual.Elements()
	for path, value := range rows {
		is, exists := made[path]
		switch {
		case exists && value.IsUnknown():
			rows[path] = is
		case value.IsUnknown():
			rows[path] = types.StringValue("")
		}
	}
	return types.MapValueMust(types.StringType, rows)
}

func unknownMap() types.Map { return types.MapUnknown(types.StringType) }
