package provider

import (
	"context"
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
)

// valueOf returns a value of an object as one of Terraform: maps are objects, and lists tuples, since their items need
// not be of one type.
func valueOf(ctx context.Context, v any) attr.Value {
	switch v := v.(type) {
	case map[string]any:
		typesOf, values := map[string]attr.Type{}, map[string]attr.Value{}
		for name, item := range v {
			values[name] = valueOf(ctx, item)
			typesOf[name] = values[name].Type(ctx)
		}
		return types.ObjectValueMust(typesOf, values)
	case []any:
		var typesOf []attr.Type
		var values []attr.Value
		for _, item := range v {
			value := valueOf(ctx, item)
			typesOf, values = append(typesOf, value.Type(ctx)), append(values, value)
		}
		return types.TupleValueMust(typesOf, values)
	case string:
		return types.StringValue(v)
	case bool:
		return types.BoolValue(v)
	case int64:
		return types.NumberValue(new(big.Float).SetInt64(v))
	case float64:
		return types.NumberValue(big.NewFloat(v))
	case nil:
		return types.DynamicNull()
	}
	return types.StringValue(fmt.Sprint(v)) // JSON has no other values
}

// dynamic is valueOf where every type may stand.
func dynamic(ctx context.Context, v any) types.Dynamic { return types.DynamicValue(valueOf(ctx, v)) }

// shownObject returns the live object as far as it may be shown, and without the record of its fields' owners.
func shownObject(planner *ssaplan.Planner, live *unstructured.Unstructured) map[string]any {
	live = live.DeepCopy()
	live.SetManagedFields(nil)
	return planner.Redactor(live).Object(live)
}
