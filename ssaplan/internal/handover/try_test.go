package handover_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// An apply that changes nothing after the handover is answered with the record of after it, in whatever order a dry run
// has it.
func TestTryOfNothingMore(t *testing.T) {
	const mine, another = ours + `{"f:data": {"f:a": {}}}}`, others + `{"f:data": {"f:b": {}}}}`
	live := object(t, "7", `"data": {"a": 1, "b": 2}`, theirs+`{"f:data": {"f:a": {}}}}, `+another)
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	answer := object(t, "7", `"data": {"a": 1, "b": 2}`, another+", "+mine)
	made, err := h.Try(handover.Server{HandOver: allowed(h), Apply: answers(answer)}, map[string]any{"data": map[string]any{"a": int64(1)}}, nil)
	require.NoError(t, err)
	require.Equal(t, h.Of(live).GetManagedFields(), made.GetManagedFields())
}

// A server copies what the manager kubectl applies into an annotation that is there. What is tried has what is given up
// in it as well.
func TestTryCopiesWhatIsApplied(t *testing.T) {
	const body = `{"metadata": {"annotations": {"a": "<", "` + kinds.LastApplied + `": "x"}}, "spec": {"n": 9007199254740993}}`
	const copied = `{"metadata":{"annotations":{"a":"\u003c"}},"spec":{"n":9007199254740993}}` + "\n"
	for _, row := range []struct{ why, manager, body, was, want string }{
		{"the annotation is there", "kubectl", body, "old", copied},
		{"and the manifest has no annotations", "kubectl", `{"metadata": {}}`, "old", `{"metadata":{}}` + "\n"},
		{"it isn't there", "kubectl", body, "", ""},
		{"another manager", "us", body, "old", "old"},
	} {
		t.Run(row.why, func(t *testing.T) {
			record := strings.Replace(ours, `"us"`, `"`+row.manager+`"`, 1) + `{"f:spec": {"f:b": {}, "f:n": {}}}}`
			live := object(t, "7", `"spec": {"b": 1, "n": 2}`, record)
			live.SetAnnotations(map[string]string{kinds.LastApplied: row.was})
			wanted := handover.Wanted{Applier: fieldowner.Applier{Manager: row.manager}, GiveUp: patterns(t, "spec.b")}
			h := mustFind(t, live, wanted)
			server := handover.Server{HandOver: allowed(h), Apply: answers(live)}
			made, err := h.Try(server, map[string]any{"spec": map[string]any{"n": int64(2)}}, []byte(row.body))
			require.NoError(t, err)
			require.Equal(t, row.want, made.GetAnnotations()[kinds.LastApplied])
			require.Equal(t, row.was, live.GetAnnotations()[kinds.LastApplied])
			if row.manager == "kubectl" && row.was != "" {
				_, err = h.Try(server, map[string]any{}, []byte("]"))
				require.ErrorContains(t, err, "the manifest is no object: ")
			}
		})
	}
}

// Adopted fields that aren't applied are removed together with the maps and lists that are then empty, unless another
// manager owns something in these. A list item is removed in any case.
func TestTryRemovesWhatIsDropped(t *testing.T) {
	for _, row := range []struct {
		why, live, was, is, other, patch string
	}{
		{
			"a field", `"data": {"a": 1, "b": 2}`, `{"f:data": {"f:a": {}, "f:b": {}}}`, `{"f:data": {"f:a": {}}}`, `{"f:x": {}}`,
			`[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/data","value":{"a":1}}]`,
		},
		{
			"a map", `"data": {"a": 1}, "spec": {"b": {"c": 1, "theirs": 2}}`, `{"f:data": {"f:a": {}}, "f:spec": {"f:b": {"f:c": {}}}}`, `{"f:data": {"f:a": {}}}`, `{"f:x": {}}`,
			`[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"remove","path":"/spec"}]`,
		},
		{
			"a field of a map in which others own something", `"data": {"a": 1}, "spec": {"b": {"c": 1, "d": 2}}`, `{"f:data": {"f:a": {}}, "f:spec": {"f:b": {"f:c": {}}}}`,
			`{"f:data": {"f:a": {}}}`, `{"f:spec": {"f:b": {"f:d": {}}}}`,
			`[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/spec","value":{"b":{"d":2}}}]`,
		},
		{
			"an item with what others have in it", `"data": {"a": 1}, "spec": {"l": [{"name": "a"}, {"name": "b", "x": 1}]}`,
			`{"f:data": {"f:a": {}}, "f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}}}`,
			`{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}, "f:data": {"f:a": {}}}`, `{"f:spec": {"f:l": {"k:{\"name\":\"b\"}": {"f:x": {}}}}}`,
			`[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/spec","value":{"l":[{"name":"a"}]}}]`,
		},
		{"nothing", `"data": {"a": 1}`, `{"f:data": {"f:a": {}}}`, `{"f:data": {"f:a": {}}}`, `{"f:data": {"f:a": {}}}`, ""},
		{"what isn't there any more", `"data": {"a": 1}`, `{"f:data": {"f:a": {}, "f:gone": {}}}`, `{"f:data": {"f:a": {}}}`, `{"f:x": {}}`, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := object(t, "7", row.live, theirs+row.was+`}, `+others+row.other+`}`)
			h := mustFind(t, live, adopting("kubectl-client-side-apply"))
			before, patched := textOf(t, live.Object), ""
			made, err := h.Try(handover.Server{
				HandOver: allowed(h),
				Apply: func(body []byte) (*unstructured.Unstructured, error) {
					require.JSONEq(t, `{"data": {"a": 1}}`, string(body))
					return object(t, "7", row.live, theirs+row.was+`}, `+others+row.other+`}, `+ours+row.is+`}`), nil
				},
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					patched = string(patch)
					return object(t, "7", `"data": {"a": 1}, "x": 1, "defaulted": true`, others+`{"f:defaulted": {}}}`), nil
				},
			}, map[string]any{"data": map[string]any{"a": int64(1)}}, []byte("not asked for"))
			require.NoError(t, err)
			require.Equal(t, row.patch, patched)
			require.Equal(t, before, textOf(t, live.Object), "the input stays as it is")
			record := owners(t, made.Object)
			require.Contains(t, record, `"us" (Apply) data.a`)
			require.NotContains(t, textOf(t, made.Object), "kubectl-client-side-apply")
			if row.patch != "" {
				require.Equal(t, true, made.Object["defaulted"], "as the server fills it in")
				require.NotContains(t, record, `"others" (Update) defaulted`, "the trial has no owner")
			}
			if row.why == "an item with what others have in it" {
				require.NotContains(t, textOf(t, made.Object), "f:x", "what was removed has no owner")
			}
		})
	}
}

// What is given up is sent to be tried with the value that it has, so that the server keeps it, unless the item that it
// is in goes: one that another owns, too, stays.
func TestTryKeepsWhatIsGivenUp(t *testing.T) {
	item := func(name string) string { return `"k:{\"name\":\"` + name + `\"}": {".": {}, "f:name": {}, "f:x": {}}` }
	record := func(items string) string {
		return ours + `{"f:data": {"f:a": {}, "f:b": {}}, "f:spec": {"f:l": {` + items + `}}}}, ` +
			others + `{"f:spec": {"f:l": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}}}}`
	}
	live := object(t, "7", `"data": {"a": 1, "b": 2}, "spec": {"l": [{"name": "a", "x": 1}, {"name": "b", "x": 2}, {"name": "c", "x": 3}]}`,
		record(item("a")+`, `+item("b")+`, `+item("c")))
	h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, "data.b", "spec.l[*].x")})
	manifest := map[string]any{"data": map[string]any{"a": int64(5)}, "spec": map[string]any{"l": []any{map[string]any{"name": "a"}}}}
	made, err := h.Try(handover.Server{HandOver: allowed(h), Apply: func(body []byte) (*unstructured.Unstructured, error) {
		const sent = `"data": {"a": 5, "b": 2}, "spec": {"l": [{"name": "a", "x": 1}, {"name": "c", "x": 3}]}`
		require.JSONEq(t, `{`+sent+`}`, string(body))
		return object(t, "7", sent, record(item("a")+`, `+item("c"))), nil
	}}, manifest, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"others" (Update) spec.l[name="c"]`, `"others" (Update) spec.l[name="c"].name`,
		`"us" (Apply) data.a`, `"us" (Apply) spec.l[name="a"]`, `"us" (Apply) spec.l[name="a"].name`}, owners(t, made.Object))
	require.Equal(t, map[string]any{"a": int64(5)}, manifest["data"], "the manifest stays as it is")

	whole, err := h.Whole(&explain.Explanation{NoOp: true}, made.Object, nil)
	require.NoError(t, err)
	require.NotEmpty(t, whole.Ownership)
	require.False(t, whole.NoOp, "though the apply after it is one")
}

// Of an object that changed meanwhile, and of an error, the answer is passed on.
func TestTryPassesOn(t *testing.T) {
	live := object(t, "7", `"data": {"a": 1, "b": 2}`, theirs+`{"f:data": {"f:a": {}, "f:b": {}}}}`)
	changed := object(t, "8", `"data": {}`, "")
	answered := object(t, "7", `"data": {"a": 1, "b": 2}`, theirs+`{"f:data": {"f:a": {}, "f:b": {}}}}, `+ours+`{"f:data": {"f:a": {}}}}`)
	boom := errors.New("boom")
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	for _, row := range []struct {
		why    string
		server handover.Server
		want   *unstructured.Unstructured
		err    error
	}{
		{"the apply is of another version", handover.Server{HandOver: allowed(h), Apply: answers(changed)}, changed, nil},
		{"the fields may not change owners", handover.Server{HandOver: refuses(boom), Apply: answers(answered), Patch: answers(answered)}, nil, boom},
		{"the apply fails", handover.Server{HandOver: allowed(h), Apply: refuses(boom)}, nil, boom},
		{"the patch is of another version", handover.Server{HandOver: allowed(h), Apply: answers(answered), Patch: answers(changed)}, changed, nil},
		{"the patch fails", handover.Server{HandOver: allowed(h), Apply: answers(answered), Patch: refuses(boom)}, nil, boom},
	} {
		t.Run(row.why, func(t *testing.T) {
			got, err := h.Try(row.server, map[string]any{}, nil)
			require.Equal(t, row.err, err)
			require.Equal(t, row.want, got)
		})
	}
	var none *handover.Handover
	got, err := none.Try(handover.Server{HandOver: allowed(none), Apply: func(body []byte) (*unstructured.Unstructured, error) {
		require.Equal(t, "body", string(body))
		return changed, nil
	}}, nil, []byte("body"))
	require.NoError(t, err)
	require.Same(t, changed, got, "nothing changes owners")
}
