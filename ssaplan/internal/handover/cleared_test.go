package handover_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// A server rounds large numbers in a record that it reads, by which others would keep what is cleared.
func TestTryClearsANumberThatIsRounded(t *testing.T) {
	const exact, rounded = `{"f:spec": {"f:l": {"v:9007199254740993": {}}}}}`, `{"f:spec": {"f:l": {"v:9007199254740992": {}}}}}`
	live := object(t, "7", `"spec": {"l": [9007199254740993]}`, others+exact)
	h := mustFind(t, live, handover.Wanted{Applier: us, Clear: patterns(t, "spec.l[=9007199254740993]")})
	made, err := h.Try(handover.Server{
		HandOver: func([]byte) (*unstructured.Unstructured, error) {
			return object(t, "7", `"spec": {}`, ours+rounded), nil
		},
		Apply: func([]byte) (*unstructured.Unstructured, error) {
			return object(t, "7", `"spec": {"l": [9007199254740993]}`, others+rounded), nil
		},
		Force: func([]byte) (*unstructured.Unstructured, error) { // the list is no whole
			return object(t, "7", `"spec": {"l": [9007199254740993]}`, ours+rounded), nil
		},
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			require.NotContains(t, string(patch), `"value":{"l"`)
			return object(t, "7", `"spec": {}`, ""), nil
		},
	}, map[string]any{}, nil)
	require.NoError(t, err)
	require.Empty(t, owners(t, made.Object))
}

// A server that is asked for all parts of a whole that no other owns takes the whole, and with it the part that stays
// if it is asked for one of two.
func TestTryClearsAllPartsOfAWhole(t *testing.T) {
	const whole = `{"f:spec": {"f:l": {}}}}`
	a, both := `"spec": {"l": [{"name": "a", "x": 1}]}`, `"spec": {"l": [{"name": "a", "x": 1}, {"name": "b"}]}`
	const part = `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:x": {}}}}}}`
	for _, row := range []struct{ why, spec, before, answer, after, refused string }{
		{"all parts", a, "", "", ours + whole, ""},
		{"one of two", both, "", "", ours + whole, "has one owner as a whole"},
		{"all parts of what another owns", a, others + whole, others + whole, others + whole + ", " + ours + whole, "has one owner as a whole"},
		{"a part that another owned before it became a whole", a, others + part, others + whole, ours + whole, ""},
	} {
		h := mustFind(t, object(t, "7", row.spec, row.before), handover.Wanted{Applier: us, Clear: patterns(t, `spec.l[name="a"]`)})
		made, err := h.Try(handover.Server{
			HandOver: func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", row.spec, row.after), nil },
			Apply:    func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", row.spec, row.answer), nil },
			Force:    func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", row.spec, ours+whole), nil },
			Patch:    func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", `"spec": {}`, ""), nil },
		}, map[string]any{}, nil)
		if row.refused != "" {
			require.ErrorContains(t, err, row.refused, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		require.Equal(t, map[string]any{}, made.Object["spec"], row.why)
		require.Empty(t, owners(t, made.Object), row.why)
	}
}

// A field that has become a key of its list isn't cleared in an item that the manifest has: it would get another name,
// and go. So it is when the record names the item by the keys of two times.
func TestTryClearsAroundAKeyOfToday(t *testing.T) {
	const (
		item  = `"l": [{"name": "a", "n": 1}]`
		was   = `"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}`
		both  = `"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}, "k:{\"n\":1,\"name\":\"a\"}": {"f:x": {}}}`
		today = ours + `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}, "f:name": {}}}}}}`
	)
	for _, row := range []struct {
		why, spec, before, left string
		isIdle                  bool
	}{
		{"nothing else is there", item, was, "", true},
		{"something else is", item + `, "y": 5`, was, `{"l":[{"n":1,"name":"a"}]}`, false},
		{"the names of two times", item, both, "", true},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := object(t, "7", `"spec": {`+row.spec+`}`, ours+`{"f:spec": {`+row.before+`}}}`)
			h := mustFind(t, live, handover.Wanted{
				Applier: us, Clear: patterns(t, "spec"), Manifest: map[string]any{"spec": map[string]any{"l": []any{map[string]any{"name": "a"}}}},
			})
			left := ""
			made, err := h.Try(handover.Server{
				HandOver: func(patch []byte) (*unstructured.Unstructured, error) {
					require.NotContains(t, string(patch), "f:n\"")
					return h.Of(nil), nil
				},
				Apply: func([]byte) (*unstructured.Unstructured, error) {
					return object(t, "7", `"spec": {`+row.spec+`}`, today), nil
				},
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					var operations []struct{ Value any }
					require.NoError(t, json.Unmarshal(patch, &operations))
					left = textOf(t, operations[1].Value)
					return object(t, "7", `"spec": {`+item+`}`, ""), nil
				},
			}, map[string]any{"spec": map[string]any{"l": []any{map[string]any{"name": "a"}}}}, nil)
			require.NoError(t, err)
			require.Equal(t, row.left, left)
			require.Equal(t, row.isIdle, h.IsIdle())
			require.Equal(t, []string{`"us" (Apply) spec.l[n=1,name="a"]`, `"us" (Apply) spec.l[n=1,name="a"].name`}, owners(t, made.Object))
		})
	}
}
