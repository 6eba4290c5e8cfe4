package handover_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// A server finds items by the keys that a definition gives them today, and takes lists and maps that have become one
// whole as such. What is cleared goes by that, and what is dropped that is recorded by former keys stays. The server is
// asked for the keys and wholes if the manifest has nothing of the list.
func TestTryClears(t *testing.T) {
	const (
		two      = `{"l": [{"name": "a", "n": 1, "x": 1}, {"name": "b", "n": 1}]}`
		was      = others + `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:x": {}}, "k:{\"name\":\"b\"}": {".": {}}}}}}`
		today    = `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}, "f:x": {}}, "k:{\"n\":1,\"name\":\"b\"}": {".": {}}}}}}`
		b        = ", " + ours + `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"b\"}": {".": {}}}}}}`
		y        = ", " + ours + `{"f:spec": {"f:y": {}}}}`
		one      = `{"l": [{"name": "a", "n": 1, "x": 1}], "y": 1}`
		keyed    = others + `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:n": {}, "f:name": {}, "f:x": {}}}, "f:y": {}}}}`
		keyedNow = `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}, "f:n": {}, "f:name": {}, "f:x": {}}}, "f:y": {}}}}`
		item     = `{"l": [{"name": "a", "x": 1}]}`
		part     = others + `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:x": {}}}}}}`
		whole    = `{"f:spec": {"f:l": {}}}}`
		taken    = others + whole + ", " + ours + whole
		exact    = others + `{"f:spec": {"f:l": {"v:9007199254740993": {}}}}}`
		rounded  = `{"f:spec": {"f:l": {"v:9007199254740992": {}}}}}`
	)
	for _, row := range []struct {
		why, spec, before string
		clear             string // the fields of others are adopted if it is empty
		handedOver        string // the record, if it isn't as it has to be
		answer, forced    string // the records of an apply, and of one by force of all that is there
		asked             int    // by force
		left              string // of the spec, null if the spec is removed, and empty if nothing is taken away
		isIdle            bool
		refused           string
	}{
		{why: "a field of an item that has another key today", spec: two, before: was, clear: `spec.l[name="a"].x`, answer: was + y,
			forced: today, asked: 1, left: `{"l": [{"name": "a", "n": 1}, {"name": "b", "n": 1}]}`},
		{why: "beside an item that is applied", spec: two, before: was, clear: `spec.l[name="a"].x`, answer: was + b,
			forced: today, left: `{"l": [{"name": "a", "n": 1}, {"name": "b", "n": 1}]}`},
		{why: "what is adopted", spec: two, before: was, answer: was + b, forced: today},
		{why: "and the list as such", spec: two, before: was, answer: was + y, forced: today, left: `{}`},
		{why: "a field that is a key today, without which the server would remove the item", spec: one, before: keyed,
			clear: `spec.l[name="a"].n`, answer: keyed, forced: keyedNow, asked: 1, isIdle: true},
		{why: "with another field", spec: one, before: keyed, clear: `spec.l[name="a"].n spec.l[name="a"].x`, answer: keyed,
			forced: keyedNow, asked: 1, left: `{"l": [{"name": "a", "n": 1}], "y": 1}`},
		{why: "with the item", spec: one, before: keyed, clear: "spec.l", answer: keyed, forced: keyedNow, left: `{"y": 1}`},
		{why: "all parts of a whole that no other owns, which the server takes", spec: item, clear: `spec.l[name="a"]`,
			handedOver: ours + whole, forced: whole, asked: 1, left: `null`},
		{why: "one of two parts, with which it would take the other", spec: two, clear: `spec.l[name="a"]`,
			handedOver: ours + whole, forced: whole, refused: "has one owner as a whole"},
		{why: "all parts of what another owns", spec: item, before: others + whole, clear: `spec.l[name="a"]`, handedOver: taken,
			answer: others + whole, forced: whole, refused: "has one owner as a whole"},
		{why: "a part that another owned before it became a whole", spec: item, before: part, clear: `spec.l[name="a"]`,
			handedOver: ours + whole, answer: others + whole, forced: whole, asked: 1, left: `null`},
		{why: "a large number, which a server rounds in a record that it reads", spec: `{"l": [9007199254740993]}`, before: exact,
			clear: "spec.l[=9007199254740993]", handedOver: ours + rounded, answer: others + rounded, forced: rounded, asked: 1, left: `null`},
	} {
		t.Run(row.why, func(t *testing.T) {
			wanted := handover.Wanted{Applier: us, Clear: patterns(t, strings.Fields(row.clear)...)}
			if row.clear == "" {
				wanted = adopting("others")
			}
			h := mustFind(t, object(t, "7", `"spec": `+row.spec, row.before), wanted)
			handOver, asked, left := allowed(h), 0, ""
			if row.handedOver != "" {
				handOver = answers(object(t, "7", `"spec": `+row.spec, row.handedOver))
			}
			made, err := h.Try(handover.Server{
				HandOver: handOver,
				Apply:    answers(object(t, "7", `"spec": `+row.spec, row.answer)),
				Force: func([]byte) (*unstructured.Unstructured, error) {
					asked++
					return object(t, "7", `"spec": `+row.spec, ours+row.forced), nil
				},
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					left = specOf(t, patch)
					return object(t, "7", `"spec": `+left, ""), nil
				},
			}, map[string]any{}, nil)
			if row.refused != "" {
				require.ErrorContains(t, err, row.refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.asked, asked)
			require.Equal(t, row.isIdle, h.IsIdle())
			require.Equal(t, row.left != "", left != "")
			if row.left != "" {
				require.JSONEq(t, row.left, left)
			}
			if row.left == "null" {
				require.Empty(t, owners(t, made.Object))
			}
		})
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
				Apply: answers(object(t, "7", `"spec": {`+row.spec+`}`, today)),
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					left = specOf(t, patch)
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
