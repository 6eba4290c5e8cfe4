package handover_test

import (
	"encoding/json"
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

// Maps of which all is given up aren't claimed any more, unless the manifest declares them as empty.
func TestTryGivesUpMaps(t *testing.T) {
	const record = `"f:spec": {".": {}, "f:m": {".": {}, "f:a": {}}, "f:n": {"f:b": {}, "f:c": {}}, "f:o": {}}`
	live := object(t, "7", `"spec": {"m": {"a": 1}, "n": {"b": 1, "c": 2}, "o": 3}`, ours+`{`+record+`}}`)
	for _, row := range []struct {
		why      string
		giveUp   []string
		manifest map[string]any
		want     []string
	}{
		{"a map with nothing else in it", []string{"spec.m.a"}, map[string]any{}, []string{"spec", "spec.n.b", "spec.n.c", "spec.o"}},
		{"one that is declared as empty", []string{"spec.m.a"}, map[string]any{"spec": map[string]any{"m": map[string]any{}}},
			[]string{"spec", "spec.m", "spec.n.b", "spec.n.c", "spec.o"}},
		{"one that is null", []string{"spec.m.a"}, map[string]any{"spec": map[string]any{"m": nil}},
			[]string{"spec", "spec.m", "spec.n.b", "spec.n.c", "spec.o"}},
		{"an entry with an empty list of named items", []string{"spec.m.a"}, map[string]any{"spec": map[string]any{"m": map[string]any{"list": []any{}}}},
			[]string{"spec", "spec.m", "spec.n.b", "spec.n.c", "spec.o"}},
		{"another map with such a list", []string{"spec.n"}, map[string]any{"spec": map[string]any{"n": map[string]any{"list": []any{}}}},
			[]string{"spec", "spec.m", "spec.m.a", "spec.o"}},
		{"one with something else in it", []string{"spec.n.b"}, map[string]any{"spec": map[string]any{"n": map[string]any{"c": int64(2)}}},
			[]string{"spec", "spec.m", "spec.m.a", "spec.n.c", "spec.o"}},
		{"the maps around it", []string{"spec.m.a", "spec.n.b", "spec.n.c"}, map[string]any{}, []string{"spec", "spec.o"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, row.giveUp...)})
			made, err := h.Try(handover.Server{HandOver: allowed(h), Apply: func([]byte) (*unstructured.Unstructured, error) { return live, nil }}, row.manifest, nil)
			require.NoError(t, err)
			var want []string
			for _, p := range row.want {
				want = append(want, `"us" (Apply) `+p)
			}
			require.Equal(t, want, owners(t, made.Object))
		})
	}
}

// An item that is given up is sent as it is beside a new one that leaves out the key in which the two differ.
func TestTryGivesUpAnItemBesideANewOne(t *testing.T) {
	const record = `{"f:l": {"k:{\"n\":1,\"s\":\"a\"}": {".": {}, "f:n": {}, "f:s": {}, "f:x": {}}}, "f:o": {}}}`
	live := object(t, "7", `"l": [{"n": 1, "s": "a", "x": 5}], "o": 1`, ours+record)
	h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, `l[n=1,s="a"]`)})
	var sent string
	_, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply: func(body []byte) (*unstructured.Unstructured, error) {
			sent = string(body)
			return live, nil
		},
	}, map[string]any{"l": []any{map[string]any{"n": int64(1), "y": int64(6)}}, "o": int64(1)}, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"l": [{"n": 1, "s": "a", "x": 5}, {"n": 1, "y": 6}], "o": 1}`, sent)
}

// An item that is given up has the name of today in what the server records of the applier, and others keep the names
// of before.
func TestTryGivesUpAnItemThatGotAnotherKey(t *testing.T) {
	const (
		list   = `"l": [{"name": "box", "n": 1}, {"name": "lid", "n": 1}], "o": 1`
		box    = others + `{"f:l": {"k:{\"n\":1,\"name\":\"box\"}": {".": {}, "f:name": {}}}}}`
		before = ours + `{"f:l": {"k:{\"n\":1,\"name\":\"lid\"}": {".": {}, "f:name": {}}}, "f:o": {}}}`
		after  = ours + `{"f:l": {"k:{\"name\":\"lid\"}": {".": {}, "f:n": {}, "f:name": {}}}, "f:o": {}}}`
	)
	live := object(t, "7", list, before+", "+box)
	h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, `l[name="lid"]`)})
	made, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply:    func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", list, after+", "+box), nil },
	}, map[string]any{"o": int64(1)}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"others" (Update) l[n=1,name="box"]`, `"others" (Update) l[n=1,name="box"].name`, `"us" (Apply) o`}, owners(t, made.Object))
}

// A server that accepts the change of hands may leave the record as it is all the same.
func TestTryWhereNothingChangesHands(t *testing.T) {
	live := object(t, "7", `"spec": {"a": 1, "b": 2}`, ours+`{"f:spec": {"f:a": {}, "f:b": {}}}}`)
	h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, "spec.a")})
	same := func([]byte) (*unstructured.Unstructured, error) { return live, nil }
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
		Apply: func([]byte) (*unstructured.Unstructured, error) {
			return object(t, "7", `"spec": {"max": 2}`, ours+`{"f:spec": {"f:max": {}}}}`), nil
		},
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			var operations []struct{ Value any }
			require.NoError(t, json.Unmarshal(patch, &operations))
			patched = textOf(t, operations[1].Value)
			return object(t, "7", `"spec": `+patched, ""), nil
		},
	}
	manifest := map[string]any{"spec": map[string]any{"max": int64(2)}}
	made, err := h.Try(server, manifest, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"annotated": "behavior", "max": 2}`, patched)
	require.Equal(t, []string{`"us" (Apply) spec.max`}, owners(t, made.Object))

	server.Patch = func([]byte) (*unstructured.Unstructured, error) { return nil, errors.New("boom") }
	_, err = h.Try(server, manifest, nil)
	require.ErrorContains(t, err, "can't give up spec.behavior in example.com/v1, which lacks that: plan in the version in which it was applied: boom")
}

// A server finds items by the keys that a definition gives them today. What is cleared goes by those, and what is
// dropped that is recorded by other ones stays. It is asked for the keys if the manifest has no item of the list.
func TestTryNamesItemsByTheirKeysOfToday(t *testing.T) {
	const (
		spec  = `"spec": {"l": [{"name": "a", "n": 1, "x": 1}, {"name": "b", "n": 1}]}`
		was   = `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:x": {}}, "k:{\"name\":\"b\"}": {".": {}}}}}}`
		today = `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}, "f:x": {}}, "k:{\"n\":1,\"name\":\"b\"}": {".": {}}}}}}`
		b     = `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"b\"}": {".": {}}}}}}`
	)
	clearing := handover.Wanted{Applier: us, Clear: patterns(t, `spec.l[name="a"].x`)}
	for _, row := range []struct {
		why, declared string
		wanted        handover.Wanted
		asked         int
		left          string // empty if nothing is taken away
	}{
		{"what is cleared", `{"f:spec": {"f:y": {}}}}`, clearing, 1, `{"l": [{"n": 1, "name": "a"}, {"n": 1, "name": "b"}]}`},
		{"beside an item that is applied", b, clearing, 0, `{"l": [{"n": 1, "name": "a"}, {"n": 1, "name": "b"}]}`},
		{"what is adopted", b, adopting("others"), 0, ""},
		{"and the list as such", `{"f:spec": {"f:y": {}}}}`, adopting("others"), 0, `{}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			h := mustFind(t, object(t, "7", spec, others+was), row.wanted)
			asked, left := 0, ""
			_, err := h.Try(handover.Server{
				HandOver: func([]byte) (*unstructured.Unstructured, error) { return h.Of(nil), nil },
				Apply: func([]byte) (*unstructured.Unstructured, error) {
					return object(t, "7", spec, others+was+", "+ours+row.declared), nil
				},
				Force: func([]byte) (*unstructured.Unstructured, error) {
					asked++
					return object(t, "7", spec, ours+today), nil
				},
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					var operations []struct{ Value any }
					require.NoError(t, json.Unmarshal(patch, &operations))
					left = textOf(t, operations[1].Value)
					return object(t, "7", spec, ""), nil
				},
			}, map[string]any{}, nil)
			require.NoError(t, err)
			require.Equal(t, row.asked, asked)
			require.Equal(t, strings.ReplaceAll(row.left, " ", ""), left)
		})
	}
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
			HandOver: func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", list, kept), nil },
			Apply:    apply(force), Force: apply(true), Forced: force,
		}, map[string]any{"o": int64(1)}, nil)
		require.NoError(t, err)
		require.Equal(t, `{"o":1}`, sent[len(sent)-1])
		require.Equal(t, []any{"a", "b"}, made.Object["l"])
		require.Equal(t, []string{`"others" (Update) l`, `"us" (Apply) o`}, owners(t, made.Object))
	}
}

// A field that has become a key of its list since isn't cleared: without it, the server removes the item.
func TestTryLeavesWhatIsAKeyToday(t *testing.T) {
	const (
		spec  = `"spec": {"l": [{"name": "a", "n": 1, "x": 1}], "y": 1}`
		was   = `{"f:spec": {"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:n": {}, "f:name": {}, "f:x": {}}}, "f:y": {}}}}`
		today = `{"f:spec": {"f:l": {"k:{\"n\":1,\"name\":\"a\"}": {".": {}, "f:n": {}, "f:name": {}, "f:x": {}}}, "f:y": {}}}}`
	)
	for _, row := range []struct {
		why    string
		clear  []string
		isIdle bool
		left   string
	}{
		{"the field alone", []string{`spec.l[name="a"].n`}, true, ""},
		{"with another one", []string{`spec.l[name="a"].n`, `spec.l[name="a"].x`}, false, `{"l":[{"n":1,"name":"a"}],"y":1}`},
		{"with the item", []string{"spec.l"}, false, `{"y":1}`},
	} {
		t.Run(row.why, func(t *testing.T) {
			h := mustFind(t, object(t, "7", spec, others+was), handover.Wanted{Applier: us, Clear: patterns(t, row.clear...)})
			var left string
			_, err := h.Try(handover.Server{
				HandOver: func([]byte) (*unstructured.Unstructured, error) { return h.Of(nil), nil },
				Apply:    func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", spec, others+was), nil },
				Force:    func([]byte) (*unstructured.Unstructured, error) { return object(t, "7", spec, ours+today), nil },
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					var operations []struct{ Value any }
					require.NoError(t, json.Unmarshal(patch, &operations))
					left = textOf(t, operations[1].Value)
					return object(t, "7", spec, ""), nil
				},
			}, map[string]any{}, nil)
			require.NoError(t, err)
			require.Equal(t, row.isIdle, h.IsIdle())
			require.Equal(t, row.left, left)
		})
	}
}

// A list or map that has become one whole stays the applier's if the manifest declares it, with the live value of the
// part that is given up.
func TestTryGivesUpAPartOfADeclaredWhole(t *testing.T) {
	for _, row := range []struct {
		why, spec, parts, whole, giveUp string
		manifest                        map[string]any
	}{
		{"an entry of a map", `"m": {"a": "b", "c": "d"}`, `"f:m": {"f:a": {}, "f:c": {}}`, `"f:m": {}`, "spec.m.a",
			map[string]any{"m": map[string]any{"a": "b", "c": "d"}}},
		{"a field of an item", `"l": [{"name": "a", "x": 1}]`, `"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:x": {}}}`, `"f:l": {}`,
			`spec.l[name="a"].x`, map[string]any{"l": []any{map[string]any{"name": "a", "x": int64(1)}}}},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := object(t, "7", `"spec": {`+row.spec+`}`, ours+`{"f:spec": {`+row.parts+`}}}`)
			h := mustFind(t, live, handover.Wanted{Applier: us, GiveUp: patterns(t, row.giveUp)})
			whole := object(t, "7", `"spec": {`+row.spec+`}`, ours+`{"f:spec": {`+row.whole+`}}}`)
			answer := func([]byte) (*unstructured.Unstructured, error) { return whole, nil }
			made, err := h.Try(handover.Server{HandOver: answer, Apply: answer}, map[string]any{"spec": row.manifest}, nil)
			require.NoError(t, err)
			require.Equal(t, whole.Object["spec"], made.Object["spec"])
			require.Equal(t, owners(t, whole.Object), owners(t, made.Object))
		})
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
		HandOver: func([]byte) (*unstructured.Unstructured, error) { return h.Of(nil), nil },
		Apply:    func([]byte) (*unstructured.Unstructured, error) { return answer, nil },
		Force:    func([]byte) (*unstructured.Unstructured, error) { return answer, nil },
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			require.Contains(t, string(patch), `{"n":1,"name":"a"}`, "what is left of the object")
			return answer, nil
		},
	}, manifest, nil)
	require.NoError(t, err)
	require.Equal(t, answer.Object["spec"], made.Object["spec"])
}
