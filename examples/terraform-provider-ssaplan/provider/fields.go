package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// table returns a projection as it is shown: a row for each field, with its path and value.
func table(p projection.Projection) map[string]string {
	rows := map[string]string{}
	for path, value := range p.Leaves() {
		rows[path.String()] = shown(value)
	}
	return rows
}

// retained returns the rows of fields that the manifest no longer has and that others keep in the object.
func retained(plan *ssaplan.Plan) (rows []string) {
	for _, path := range plan.Retained() {
		rows = append(rows, path.String())
	}
	return rows
}

// shown returns a value as JSON, and a text as it is unless it could be taken for something else.
func shown(value any) string {
	if text, ok := value.(string); ok && !json.Valid([]byte(text)) {
		return text
	}
	text, _ := json.Marshal(value) // what a server answered can be marshalled
	return string(text)
}

// otherOwners returns who owns the fields of the manifest that don't belong to its field manager alone.
func otherOwners(live *unstructured.Unstructured, state *explain.State) (map[string]string, error) {
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, err
	}
	own := fieldowner.Applier{Manager: state.Manager}.Is
	rows := map[string]string{}
	for path := range state.Applied.Fields.Leaves().All() {
		of := owners.Of(path)
		if len(of) == 1 && own(of[0]) {
			continue
		}
		rows[path.String()] = ownerList(of)
	}
	return rows, nil
}

func ownerList(owners []fieldowner.Owner) string {
	if len(owners) == 0 {
		return "nobody"
	}
	names := make([]string, len(owners))
	for i, owner := range owners {
		names[i] = owner.Manager.String() + strings.TrimPrefix(owner.String(), fmt.Sprintf("%q", owner.Manager))
	}
	return strings.Join(names, ", ")
}

func mapOf(rows map[string]string) types.Map {
	values := make(map[string]attr.Value, len(rows))
	for path, value := range rows {
		values[path] = types.StringValue(value)
	}
	return types.MapValueMust(types.StringType, values)
}

// rowsOf returns the known rows of a map.
func rowsOf(m types.Map) map[string]string {
	rows := map[string]string{}
	for path, value := range m.Elements() {
		if text, ok := value.(types.String); ok && !text.IsUnknown() {
			rows[path] = text.ValueString()
		}
	}
	return rows
}

func unknownMap() types.Map { return types.MapUnknown(types.StringType) }
