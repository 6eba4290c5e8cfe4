package planjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/planjson"
)

func after(t *testing.T, content map[string]any, paths ...string) projection.Projection {
	t.Helper()
	var fields []projection.Path
	for _, text := range paths {
		path, err := projection.ParsePath(text)
		require.NoError(t, err)
		fields = append(fields, path)
	}
	return projection.Project(content, projection.NewFieldSet(fields...))
}

func TestDeclared(t *testing.T) {
	shop := map[string]any{
		"data":  map[string]any{"password": "canary", "port": int64(9007199254740993), "none": nil, "<a>": "b"},
		"items": []any{map[string]any{"name": "a", "v": int64(1)}, map[string]any{"name": "b", "v": int64(2)}},
	}
	for _, row := range []struct {
		why   string
		after projection.Projection
		want  string
	}{
		{"fields", after(t, shop, "data.port", `data["<a>"]`),
			`[{"path":"data[\"\u003ca\u003e\"]","op":"add","after":"b"},{"path":"data.port","op":"add","after":9007199254740993}]`},
		{"null", after(t, shop, "data.none"), `[{"path":"data.none","op":"add","after":null}]`},
		{"a list as a whole", after(t, shop, "items"),
			`[{"path":"items","op":"add","after":[{"name":"a","v":1},{"name":"b","v":2}]}]`},
		{"items, of one of which there is a part only", after(t, shop, `items[name="a"].v`, `items[name="a"].name`, `items[name="b"]`),
			`[{"path":"items[name=\"a\"]","op":"add","after":{"name":"a","v":1},"position":0},` +
				`{"path":"items[name=\"b\"]","op":"add","after":{"name":"b","v":2},"position":1}]`},
		{"what must not be shown", func() projection.Projection {
			secret := after(t, shop, "data.password")
			secret.Sensitive = secret.Fields
			return secret
		}(), `[{"path":"data.password","op":"add","after":"<redacted>","sensitive":true}]`},
	} {
		t.Run(row.why, func(t *testing.T) {
			text, err := json.Marshal(planjson.DeclaredBy("Deferred", row.after))
			require.NoError(t, err)
			require.JSONEq(t, row.want, string(text))
			var read *planjson.Declared
			require.NoError(t, json.Unmarshal(text, &read))
			again, err := json.Marshal(read)
			require.NoError(t, err)
			require.Equal(t, string(text), string(again), "as it was")
			require.Equal(t, row.after.String(), read.After().String())
		})
	}
	require.Nil(t, planjson.DeclaredBy("Create", after(t, shop, "data")), "the changes tell it")
	require.Nil(t, planjson.DeclaredBy("Deferred", projection.Projection{}), "nothing")
	require.Equal(t, projection.Projection{}, (*planjson.Declared)(nil).After())
}

func TestDeclaredThatIsNothing(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "cannot unmarshal", `[{"path":"a["}]`: "a[",
		`[{"path":"a","op":"add","after":1},{"path":"a.b","op":"add","after":1}]`: "declared: ",
		`[{"path":"","op":"add","after":1}]`:                                      "",
	} {
		var read planjson.Declared
		require.ErrorContains(t, json.Unmarshal([]byte(text), &read), want, text)
	}
}
