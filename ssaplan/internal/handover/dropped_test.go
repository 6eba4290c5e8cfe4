package handover_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// What is left of maps and lists from which all goes is what a server leaves of them.
func TestTryLeavesWhatServersLeave(t *testing.T) {
	const csa = "kubectl-client-side-apply"
	for _, row := range []struct {
		why                  string
		live, theirs, others string
		declared             string // what we apply, in the record
		left                 string
		answered             string
		err                  string
	}{
		{"a map that is declared as empty becomes null", `{"m": {"a": 1}, "b": 2}`, `"f:m": {"f:a": {}}, "f:b": {}`, "", `"f:m": {}, "f:b": {}`,
			`{"m": null, "b": 2}`, `{"m": null, "b": 2}`, ""},
		{"which the definition refuses", `{"m": {"a": 1}, "b": 2}`, `"f:m": {"f:a": {}}, "f:b": {}`, "", `"f:m": {}, "f:b": {}`,
			`{"m": null, "b": 2}`, `{"b": 2}`, "spec.m: would become null once its last field is removed"},
		{"or which it leaves out and doesn't refuse, of a field without a type", `{"m": {"a": 1}, "b": 2}`, `"f:m": {"f:a": {}}, "f:b": {}`, "",
			`"f:m": {}, "f:b": {}`, `{"m": null, "b": 2}`, `{"b": 2}`, ""},
		{"but in the metadata of an object that is embedded in another one", `{"o": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}}}`,
			`"f:o": {"f:metadata": {"f:labels": {"f:a": {}}}}`, "", `"f:o": {"f:metadata": {"f:labels": {}}}`,
			`{"o": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": null}}}`, `{"o": {"apiVersion": "v1", "kind": "Pod", "metadata": {}}}`, ""},
		{"unless something is declared in it that isn't stored", `{"m": {"a": 1}, "b": 2}`, `"f:m": {"f:a": {}}, "f:b": {}`, "", `"f:m": {"f:list": {}}, "f:b": {}`,
			`{"m": {}, "b": 2}`, `{"m": {}, "b": 2}`, ""},
		{"unless it has a default", `{"m": {"a": 1}, "b": 2}`, `"f:m": {"f:a": {}}, "f:b": {}`, "", `"f:m": {}, "f:b": {}`,
			`{"m": null, "b": 2}`, `{"m": {"d": 1}, "b": 2}`, ""},
		{"a map in which others have something keeps that", `{"m": {"a": 1, "b": 2}}`, `"f:m": {"f:a": {}}`, `"f:m": {"f:b": {}}`, `"f:m": {}`,
			`{"m": {"b": 2}}`, `{"m": {"b": 2}}`, ""},
		{"a list of named items that is empty already stays", `{"l": [{"name": "a", "in": []}, {"name": "b", "in": [{"name": "c"}]}], "x": 1}`,
			`"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:in": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:in": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}}}, "f:x": {}`, "",
			`"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:in": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}}}`,
			`{"l": [{"name": "a", "in": []}, {"name": "b", "in": [{"name": "c"}]}]}`, `{}`, ""},
		{"an empty list goes beside one of named items", `{"l": [{"name": "a"}], "e": []}`, `"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}, "f:e": {}`, "",
			`"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}`, `{"l": [{"name": "a"}]}`, `{}`, ""},
		{"even one of the same name", `{"e": [], "m": {"e": [{"name": "a"}]}}`, `"f:e": {}, "f:m": {"f:e": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}`, "",
			`"f:m": {"f:e": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}`, `{"m": {"e": [{"name": "a"}]}}`, `{}`, ""},
		{"and an empty map beside one with fields", `{"l": [{"name": "a", "m": {}}, {"name": "b", "m": {"x": 1}}]}`,
			`"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:m": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:m": {"f:x": {}}}}`, "",
			`"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:m": {"f:x": {}}}}`,
			`{"l": [{"name": "a"}, {"name": "b", "m": {"x": 1}}]}`, `{}`, ""},
		{"another empty list goes", `{"l": [], "x": 1}`, `"f:l": {}, "f:x": {}`, "", `"f:x": {}`, `{"x": 1}`, `{"x": 1}`, ""},
		{"one that has named items by its definition stays", `{"named": [], "x": 1}`, `"f:named": {}, "f:x": {}`, "", `"f:y": {}`, `{"named": []}`, `{"named": []}`, ""},
		{"of several, each does what it does alone", `{"e": [], "named": [], "x": {"l": []}}`, `"f:e": {}, "f:named": {}, "f:x": {".": {}, "f:l": {}}`, "", `"f:y": {}`,
			`{"named": []}`, `{"named": []}`, ""},
		{"a map of nothing but such lists stays", `{"m": {"named": [], "in": {"named": []}}, "y": 1}`, `"f:m": {".": {}, "f:named": {}, "f:in": {"f:named": {}}}, "f:y": {}`, "",
			`"f:z": {}`, `{"m": {"named": [], "in": {"named": []}}}`, `{}`, ""},
		{"also one that was declared as empty", `{"m": {"named": []}, "y": 1}`, `"f:m": {}, "f:y": {}`, "", `"f:z": {}`, `{"m": {"named": []}}`, `{}`, ""},
		{"and goes with anything else in it", `{"m": {"named": [], "a": 1}, "y": 1}`, `"f:m": {".": {}, "f:named": {}, "f:a": {}}, "f:y": {}`, "", `"f:z": {}`, `{}`, `{}`, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			record := func(declared string) string {
				out := ours + `{"f:spec": {` + declared + `}}}`
				if row.others != "" {
					out += ", " + others + `{"f:spec": {` + row.others + `}, "f:stringData": {"f:a": {}}}}`
				}
				return out
			}
			live := object(t, "7", `"spec": `+row.live, theirs+`{"f:spec": {`+row.theirs+`}}}, `+record(`"f:none": {}`))
			h := mustFind(t, live, adopting(csa))
			patched, asked := false, 0
			made, err := h.Try(handover.Server{
				HandOver: allowed(h),
				Apply:    answers(object(t, "7", `"spec": `+row.live, theirs+`{"f:spec": {`+row.theirs+`}}}, `+record(row.declared))),
				Force: func(body []byte) (*unstructured.Unstructured, error) { // whether a list is one whole
					asked++
					recorded, text := row.declared, string(body)
					for _, whole := range []struct{ sent, recorded string }{
						{`"x":{"l":[]}`, `"f:x": {"f:l": {}}`}, {`"l":[]`, `"f:l": {}`}, {`"e":[]`, `"f:e": {}`},
					} {
						if before, after, isSent := strings.Cut(text, whole.sent); isSent {
							recorded, text = strings.TrimSuffix(whole.recorded+", "+recorded, ", "), before+after
						}
					}
					return object(t, "7", `"spec": `+row.live, record(recorded)), nil
				},
				Create: func(manifest map[string]any) (*unstructured.Unstructured, error) {
					require.Equal(t, map[string]any{"spec": map[string]any{"m": nil}}, manifest)
					refused := field.TypeInvalid(field.NewPath("spec", "other"), "", "must have something else in a new object")
					if row.err != "" {
						refused = field.TypeInvalid(field.NewPath("spec", "m"), "null", `spec.m in body must be of type object: "null"`)
					}
					return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Widget"}, "x", field.ErrorList{refused})
				},
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					patched = true
					require.JSONEq(t, row.left, specOf(t, patch))
					return object(t, "7", `"spec": `+row.answered, ""), nil
				},
			}, map[string]any{}, nil)
			require.True(t, patched)
			require.LessOrEqual(t, asked, 1)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			if row.others != "" {
				require.Contains(t, owners(t, made.Object), `"others" (Update) stringData.a`, "which no object shows, and others own all the same")
			}
		})
	}
}
