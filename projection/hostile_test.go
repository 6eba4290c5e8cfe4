package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

// hostile objects are larger, deeper or odder than any that a server stores. Whatever reads them has to end with an
// error or the right answer.
func hostile() map[string]map[string]any {
	deep := map[string]any{"end": "x"}
	for range 1_000 {
		deep = map[string]any{"a": deep}
	}
	lists := any("x")
	for range 1_000 {
		lists = []any{lists}
	}
	var items []any
	for i := range int64(many) {
		items = append(items, map[string]any{"name": fmt.Sprint("item-", i), "value": i})
	}
	return map[string]map[string]any{
		"3 MB of text":       {"data": map[string]any{"text": strings.Repeat("x", 3_000_000)}},
		"1,000 maps deep":    {"spec": deep},
		"1,000 lists deep":   {"spec": map[string]any{"l": lists}},
		"many items":         {"spec": map[string]any{"l": items}},
		"not UTF-8":          {"data": map[string]any{"k\xff": "v\xfe", "": "\x00"}},
		"odd types":          {"spec": map[string]any{"a": struct{}{}, "b": []string{"x"}, "c": map[string]string{"d": "e"}, "f": float32(1), "g": []byte("h")}},
		"nothing":            {},
		"null everywhere":    {"apiVersion": nil, "kind": nil, "metadata": nil, "spec": nil, "data": nil},
		"metadata of a text": {"metadata": "x", "spec": []any{map[string]any{}, nil, 5}},
	}
}

// owned returns a copy of obj in which a manager owns everything, lists of maps with names by their names.
func owned(obj map[string]any) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "X"}
	for name, v := range obj {
		out[name] = v
	}
	if _, isMap := out["metadata"].(map[string]any); !isMap && out["metadata"] == nil {
		out["metadata"] = map[string]any{"managedFields": []any{map[string]any{
			"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsV1": entry(obj),
		}}}
	}
	return out
}

func entry(v any) map[string]any {
	out := map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			out["f:"+name] = entry(child)
		}
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok && m["name"] != nil {
				key, _ := json.Marshal(map[string]any{"name": m["name"]})
				out["k:"+string(key)] = entry(m)
			}
		}
	}
	return out
}

func TestHostileObjects(t *testing.T) {
	for name, obj := range hostile() {
		t.Run(name, func(t *testing.T) {
			live := owned(obj)
			set, err := managedFields(live, "m")
			if err != nil {
				assert.ErrorContains(t, err, "fieldowner: ")
				set = projection.NewFieldSet(path("spec"), path("data"))
			}
			whole := projection.Project(live, set)
			again := projection.Project(whole.Object, set)
			assert.Empty(t, projection.Diff(whole, again), "projecting twice is projecting once")

			normal, _ := projection.Normalize(live, "")
			assert.NotNil(t, normal)
			_ = projection.FindIneffective(obj, live, set)
			_, _ = projection.Outline(live, obj)
			_, _ = projection.Differing(live, obj, set)
			_, _ = projection.PredictDeclared(context.Background(), obj, projection.NoSchema{})
			if schema, err := projection.LearnSchema(live); err == nil {
				_, _ = schema.Declared(context.Background(), live)
			}
			text := set.FieldsV1()
			read, err := projection.ParseFieldsV1(text)
			if err == nil {
				assert.True(t, read.Equal(set), "a set reads what it wrote")
			}

			parts := projection.NewFieldSet(path("spec"), path("data"))
			before, after := projection.Project(obj, parts), projection.Project(object(`{spec: {l: []}}`), parts)
			for _, c := range projection.Diff(before, after) {
				require.NotEmpty(t, c.String())
			}
			_, _ = json.Marshal(before)
		})
	}
}

// The diff of a list with many items has one change for each added and each removed item. Items that only move cause no
// change.
func TestManyItemsChange(t *testing.T) {
	items := hostile()["many items"]["spec"].(map[string]any)["l"].([]any)
	live := owned(map[string]any{"spec": map[string]any{"l": items}})
	set, err := managedFields(live, "m")
	require.NoError(t, err)
	half := append(append([]any{}, items[len(items)/2:]...), map[string]any{"name": "new", "value": int64(1)})
	changed := owned(map[string]any{"spec": map[string]any{"l": half}})
	other, err := managedFields(changed, "m")
	require.NoError(t, err)
	all := set.Union(other)
	changes := projection.Diff(projection.Project(live, all), projection.Project(changed, all))
	ops := map[projection.Op]int{}
	for _, c := range changes {
		ops[c.Op]++
	}
	assert.Equal(t, map[projection.Op]int{projection.OpAdd: 1, projection.OpRemove: len(items) / 2}, ops)
}
