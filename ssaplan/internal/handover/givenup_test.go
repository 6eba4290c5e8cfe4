package handover_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// What is given up isn't the applier's any more, and neither are maps of which all is given up, unless the manifest
// declares them.
func TestTryGivesUp(t *testing.T) {
	const (
		maps = `"spec": {"m": {"a": 1}, "n": {"b": 1, "c": 2}, "o": 3}`
		all  = ours + `{"f:spec": {".": {}, "f:m": {".": {}, "f:a": {}}, "f:n": {"f:b": {}, "f:c": {}}, "f:o": {}}}}`
		keys = ours + `{"f:l": {"k:{\"n\":1,\"s\":\"a\"}": {".": {}, "f:n": {}, "f:s": {}, "f:x": {}}}, "f:o": {}}}`
		lid  = ours + `{"f:l": {"k:{\"n\":1,\"name\":\"lid\"}": {".": {}, "f:name": {}}}, "f:o": {}}}, `
		now  = ours + `{"f:l": {"k:{\"name\":\"lid\"}": {".": {}, "f:n": {}, "f:name": {}}}, "f:o": {}}}, `
		box  = others + `{"f:l": {"k:{\"n\":1,\"name\":\"box\"}": {".": {}, "f:name": {}}}}}`
		item = ours + `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:x": {}}}}}}`
	)
	for _, row := range []struct {
		why, live, record, giveUp, manifest string
		handedOver, after                   string // records, if they aren't as they have to be
		sent                                string // if it isn't the manifest with the live value
		want                                []string
	}{
		{why: "a map with nothing else in it", live: maps, record: all, giveUp: "spec.m.a", manifest: `{}`,
			want: mine("spec", "spec.n.b", "spec.n.c", "spec.o")},
		{why: "one that is declared as empty", live: maps, record: all, giveUp: "spec.m.a", manifest: `{"spec": {"m": {}}}`,
			want: mine("spec", "spec.m", "spec.n.b", "spec.n.c", "spec.o")},
		{why: "one that is null", live: maps, record: all, giveUp: "spec.m.a", manifest: `{"spec": {"m": null}}`,
			want: mine("spec", "spec.m", "spec.n.b", "spec.n.c", "spec.o")},
		{why: "an entry with an empty list of named items", live: maps, record: all, giveUp: "spec.m.a",
			manifest: `{"spec": {"m": {"list": []}}}`, want: mine("spec", "spec.m", "spec.n.b", "spec.n.c", "spec.o")},
		{why: "another map with such a list", live: maps, record: all, giveUp: "spec.n",
			manifest: `{"spec": {"n": {"list": []}}}`, want: mine("spec", "spec.m", "spec.m.a", "spec.o")},
		{why: "one with something else in it", live: maps, record: all, giveUp: "spec.n.b",
			manifest: `{"spec": {"n": {"c": 2}}}`, want: mine("spec", "spec.m", "spec.m.a", "spec.n.c", "spec.o")},
		{why: "the maps around it", live: maps, record: all, giveUp: "spec.m.a spec.n.b spec.n.c", manifest: `{}`,
			want: mine("spec", "spec.o")},
		{why: "an item beside a new one that leaves out the key in which the two differ",
			live: `"l": [{"n": 1, "s": "a", "x": 5}], "o": 1`, record: keys, giveUp: `l[n=1,s="a"]`,
			manifest: `{"l": [{"n": 1, "y": 6}], "o": 1}`, sent: `{"l": [{"n": 1, "s": "a", "x": 5}, {"n": 1, "y": 6}], "o": 1}`,
			want: mine("o")},
		{why: "an item that has another key today, while others keep the names of before",
			live: `"l": [{"name": "box", "n": 1}, {"name": "lid", "n": 1}], "o": 1`, record: lid + box, after: now + box,
			giveUp: `l[name="lid"]`, manifest: `{"o": 1}`,
			want: append([]string{`"others" (Update) l[n=1,name="box"]`, `"others" (Update) l[n=1,name="box"].name`}, mine("o")...)},
		{why: "an entry of a map that has become one whole, which stays the applier's", live: `"spec": {"m": {"a": "b", "c": "d"}}`,
			record: ours + `{"f:spec": {"f:m": {"f:a": {}, "f:c": {}}}}}`, handedOver: ours + `{"f:spec": {"f:m": {}}}}`,
			giveUp: "spec.m.a", manifest: `{"spec": {"m": {"a": "b", "c": "d"}}}`, want: mine("spec.m")},
		{why: "a field of an item of such a list", live: `"spec": {"l": [{"name": "a", "x": 1}]}`, record: item,
			handedOver: ours + `{"f:spec": {"f:l": {}}}}`, giveUp: `spec.l[name="a"].x`,
			manifest: `{"spec": {"l": [{"name": "a", "x": 1}]}}`, want: mine("spec.l")},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := object(t, "7", row.live, row.record)
			h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, strings.Fields(row.giveUp)...)})
			handOver := allowed(h)
			if row.handedOver != "" {
				handOver = answers(object(t, "7", row.live, row.handedOver))
			}
			var sent string
			made, err := h.Try(handover.Server{HandOver: handOver, Apply: func(body []byte) (*unstructured.Unstructured, error) {
				sent = string(body)
				return object(t, "7", row.live, cmp.Or(row.after, row.handedOver, row.record)), nil
			}}, decoded(t, row.manifest), nil)
			require.NoError(t, err)
			if row.sent != "" {
				require.JSONEq(t, row.sent, sent)
			}
			require.Equal(t, live.Object["spec"], made.Object["spec"])
			require.Equal(t, row.want, owners(t, made.Object))
		})
	}
}

// mine returns the lines of a record for fields of ours.
func mine(paths ...string) (out []string) {
	for _, p := range paths {
		out = append(out, `"us" (Apply) `+p)
	}
	return out
}

// A server that accepts the change of hands may leave the record as it is all the same.
func TestTryWhereNothingChangesHands(t *testing.T) {
	live := object(t, "7", `"spec": {"a": 1, "b": 2}`, ours+`{"f:spec": {"f:a": {}, "f:b": {}}}}`)
	h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, "spec.a")})
	same := answers(live)
	_, err := h.Try(handover.Server{HandOver: same, Apply: same}, map[string]any{}, nil)
	require.ErrorIs(t, err, applier.ErrKept)
}

// What another version hides can't be sent, and is gone in what an apply makes, with what this version has in its
// place. After the handover both stay.
func TestTryKeepsWhatAVersionHides(t *testing.T) {
	const record = `"fieldsV1": {"f:spec": {"f:behavior": {}, "f:max": {}}}}`
	const former = `{"manager": "us", "operation": "Apply", "apiVersion": "example.com/v2", "fieldsType": "FieldsV1", ` + record
	live := object(t, "7", `"spec": {"annotated": "behavior", "max": 1}`, former)
	h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, "spec.behavior")})
	var patched string
	server := handover.Server{
		HandOver: allowed(h),
		Apply:    answers(object(t, "7", `"spec": {"max": 2}`, ours+`{"f:spec": {"f:max": {}}}}`)),
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			patched = specOf(t, patch)
			return object(t, "7", `"spec": `+patched, ""), nil
		},
	}
	manifest := map[string]any{"spec": map[string]any{"max": int64(2)}}
	made, err := h.Try(server, manifest, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"annotated": "behavior", "max": 2}`, patched)
	require.Equal(t, []string{`"us" (Apply) spec.max`}, owners(t, made.Object))

	server.Patch = refuses(errors.New("boom"))
	_, err = h.Try(server, manifest, nil)
	require.ErrorContains(t, err, "can't give up spec.behavior in example.com/v1, which lacks that: plan in the version in which it was applied: boom")
}

// The fields of an item that is given up aren't sent for the one with its former key in the manifest, if that is
// another one today.
func TestTryGivesUpAnItemWhoseFormerKeyAnotherHas(t *testing.T) {
	const list = `"l": [{"name": "a", "n": 3, "x": 2}]`
	const was = `{"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:x": {}}}}}`
	h := mustFind(t, object(t, "7", list, ours+was), handover.Wanted{Applier: us, GiveUp: patterns(t, `l[name="a"].x`)})
	var sent []string
	made, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply: func(body []byte) (*unstructured.Unstructured, error) {
			sent = append(sent, string(body))
			both := strings.TrimSuffix(list, "]") + `, {"name": "a", "n": 1}]`
			return object(t, "7", both, ours+`{"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}, "f:name": {}}}}}`), nil
		},
	}, map[string]any{"l": []any{map[string]any{"name": "a"}}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`{"l":[{"name":"a","x":2}]}`, `{"l":[{"name":"a"}]}`}, sent)
	require.Equal(t, []string{`"us" (Apply) l[n=1,name="a"]`, `"us" (Apply) l[n=1,name="a"].name`}, owners(t, made.Object))
}

// A part that is given up of a list of others isn't sent if that has become one whole: it would take the list from
// them. So it is if the server refuses it because of that.
func TestTryGivesUpAPartOfAWholeOfOthers(t *testing.T) {
	const list = `"l": ["a", "b"], "o": 1`
	const kept = others + `{"f:l": {}}}, ` + ours + `{"f:o": {}}}`
	for _, force := range []bool{true, false} {
		live := object(t, "7", list, others+`{"f:l": {"v:\"a\"": {}}}}, `+ours+`{"f:l": {"v:\"a\"": {}, "v:\"b\"": {}}, "f:o": {}}}`)
		h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, `l[="b"]`)})
		var sent []string
		apply := func(force bool) func(body []byte) (*unstructured.Unstructured, error) {
			return func(body []byte) (*unstructured.Unstructured, error) {
				sent = append(sent, string(body))
				switch {
				case !strings.Contains(string(body), "b"):
					return object(t, "7", list, kept), nil
				case force:
					return object(t, "7", `"l": ["b"], "o": 1`, ours+`{"f:l": {}, "f:o": {}}}`), nil
				}
				cause := metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "others" using example.com/v1`, Field: ".l"}
				return nil, apierrors.NewApplyConflict([]metav1.StatusCause{cause}, "conflict")
			}
		}
		made, err := h.Try(handover.Server{
			HandOver: answers(object(t, "7", list, kept)),
			Apply:    apply(force), Force: apply(true), Forced: force,
		}, map[string]any{"o": int64(1)}, nil)
		require.NoError(t, err)
		require.Equal(t, `{"o":1}`, sent[len(sent)-1])
		require.Equal(t, []any{"a", "b"}, made.Object["l"])
		require.Equal(t, []string{`"others" (Update) l`, `"us" (Apply) o`}, owners(t, made.Object))
	}
}

// An item that the manifest declares isn't cleared, though the record names it by the keys of two times.
func TestTryLeavesADeclaredItemOfTwoNames(t *testing.T) {
	const before, after = `"spec": {"l": [{"name": "a", "n": 1, "x": 1}]}`, `"spec": {"l": [{"name": "a", "n": 1}]}`
	const record = `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}}, "k:{\"name\":\"a\"}": {"f:x": {}}}}}}`
	manifest := map[string]any{"spec": map[string]any{"l": []any{map[string]any{"name": "a", "n": int64(1)}}}}
	h := mustFind(t, object(t, "7", before, ours+record), handover.Wanted{Applier: us, Clear: patterns(t, "spec.l"), Manifest: manifest})
	answer := object(t, "7", after, ours+`{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:n": {}, "f:name": {}}}}}}`)
	made, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply:    answers(answer),
		Force:    answers(answer),
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			require.Contains(t, string(patch), `{"n":1,"name":"a"}`, "what is left of the object")
			return answer, nil
		},
	}, manifest, nil)
	require.NoError(t, err)
	require.Equal(t, answer.Object["spec"], made.Object["spec"])
}
