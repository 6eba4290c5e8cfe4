package handover_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// item is the record of an item of a list with a field.
func item(name, field string) string {
	return `"k:{\"name\":\"` + name + `\"}": {".": {}, "f:name": {}, "f:` + field + `": {}}`
}

// What a server refuses to merge is merged here, in its order, without what is dropped, and tried as an update.
func TestTryMergesWhatIsRefused(t *testing.T) {
	live := object(t, "7", `"spec": {"old": 1, "same": 1, "shared": 1, "k": [{"name": "b", "x": 1}], "l": [{"name": "b", "x": 1}, {"name": "kept", "x": 1}, {"name": "gone", "x": 1}]}`,
		theirs+`{"f:spec": {"f:old": {}, "f:same": {}, "f:k": {`+item("b", "x")+`}, "f:l": {`+item("b", "x")+`, `+item("gone", "x")+`}}}}, `+
			others+`{"f:spec": {"f:shared": {}, "f:null": {}, "f:l": {`+item("kept", "x")+`}}}}`)
	manifest := decoded(t, `{"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"null": {"x": 5}, "same": 1, "shared": 2, "new": "n",
		"k": [{"name": "a", "x": 5}, {"name": "b", "x": 1}], "l": [{"name": "a", "x": 5}, {"name": "b", "y": 6}]}}`)
	created := object(t, "", `"spec": {}`, ours+`{"f:spec": {"f:null": {"f:x": {}}, "f:same": {}, "f:shared": {}, `+
		`"f:new": {}, "f:k": {`+item("a", "x")+`, `+item("b", "x")+`}, "f:l": {`+item("a", "x")+`, `+item("b", "y")+`}}}}`)
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	patched := ""
	server := handover.Server{
		HandOver: allowed(h),
		Apply:    refuses(invalid),
		Create:   creates(created),
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			patched = specOf(t, patch)
			return object(t, "7", `"spec": `+patched, ours+`{}}`), nil
		},
	}
	before := textOf(t, live.Object)
	made, err := h.Try(server, manifest, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"null": {"x": 5}, "same": 1, "shared": 2, "new": "n",
		"k": [{"name": "a", "x": 5}, {"name": "b", "x": 1}],
		"l": [{"name": "a", "x": 5}, {"name": "b", "y": 6}, {"name": "kept", "x": 1}]}`, patched)
	require.Equal(t, []string{
		`"others" (Update) spec.l[name="kept"]`, `"others" (Update) spec.l[name="kept"].name`, `"others" (Update) spec.l[name="kept"].x`,
		`"us" (Apply) spec.k[name="a"]`, `"us" (Apply) spec.k[name="a"].name`, `"us" (Apply) spec.k[name="a"].x`,
		`"us" (Apply) spec.k[name="b"]`, `"us" (Apply) spec.k[name="b"].name`, `"us" (Apply) spec.k[name="b"].x`,
		`"us" (Apply) spec.l[name="a"]`, `"us" (Apply) spec.l[name="a"].name`, `"us" (Apply) spec.l[name="a"].x`,
		`"us" (Apply) spec.l[name="b"]`, `"us" (Apply) spec.l[name="b"].name`, `"us" (Apply) spec.l[name="b"].y`,
		`"us" (Apply) spec.new`, `"us" (Apply) spec.null.x`, `"us" (Apply) spec.same`, `"us" (Apply) spec.shared`,
	}, owners(t, made.Object), "what changes or comes to be is taken from others")
	require.Equal(t, before, textOf(t, live.Object), "the live object stays as it is")

	for why, change := range map[string]func(*handover.Server){
		"nothing of it can be created": func(s *handover.Server) {
			s.Create = func(map[string]any) (*unstructured.Unstructured, error) { return nil, errors.New("boom") }
		},
		"the update is refused, too": func(s *handover.Server) {
			s.Patch = refuses(errors.New("boom"))
		},
		"the record can't be read": func(s *handover.Server) {
			s.Create = creates(object(t, "", `"spec": {}`, `5`))
		},
		"a value is in the way": func(s *handover.Server) {
			s.Create = creates(object(t, "", `"spec": {}`, ours+`{"f:spec": {"f:old": {"f:x": {}}}}}`))
		},
		"nothing is dropped": func(s *handover.Server) {
			s.Create = creates(object(t, "", `"spec": {}`, ours+`{"f:spec": {"f:same": {}, "f:old": {}, "f:l": {`+item("b", "x")+`, `+item("gone", "x")+`}}}}`))
		},
	} {
		failing := server
		change(&failing)
		_, err := h.Try(failing, manifest, nil)
		require.Equal(t, error(invalid), err, why)
	}
}

// A new object can't have the node port that the live one has. It is tried without, and the manifest declares it all
// the same.
func TestTryMergesWhatOnlyOneObjectCanHave(t *testing.T) {
	port := func(number, fields string) string {
		return `"k:{\"port\":` + number + `,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}` + fields + `}`
	}
	const http = `{"name": "http", "port": 80, "protocol": "TCP", "nodePort": 30007}`
	live := object(t, "7", `"spec": {"ports": [`+http+`, {"name": "dns", "port": 53, "protocol": "TCP"}]}`,
		others+`{"f:spec": {"f:ports": {`+port("80", `, "f:nodePort": {}`)+`, `+port("53", "")+`}}}}`)
	live.SetAPIVersion("v1")
	live.SetKind("Service")
	manifest := decoded(t, `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": [
		{"name": "http", "port": 80, "nodePort": 30007}, {"name": "dns", "port": 443}]}}`)
	h := mustFind(t, live, adopting("others"))
	left := ""
	made, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply:    refuses(invalid),
		Create: func(manifest map[string]any) (*unstructured.Unstructured, error) {
			if text := textOf(t, manifest); strings.Contains(text, "nodePort") {
				return nil, errors.New("provided port is already allocated")
			}
			return object(t, "", `"spec": {"ports": [{"port": 80, "protocol": "TCP", "nodePort": 31000}]}`,
				ours+`{"f:spec": {"f:ports": {`+port("80", "")+`, `+port("443", "")+`}}}}`), nil
		},
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			left = specOf(t, patch)
			return object(t, "7", `"spec": `+left, ""), nil
		},
	}, manifest, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"ports": [`+http+`, {"name": "dns", "port": 443, "protocol": "TCP"}]}`, left)
	require.Contains(t, owners(t, made.Object), `"us" (Apply) spec.ports[port=80,protocol="TCP"].nodePort`)
}

// A map or a list of named items that is declared as empty keeps what others have in it, and one that has one owner is
// emptied.
func TestTryMergesEmptyMaps(t *testing.T) {
	live := object(t, "7", `"spec": {"m": {"a": 1, "b": 2}, "l": [{"name": "kept", "x": 1}], "whole": {"a": 1}, "open": {"a": 1}, "hollow": {"a": 1}, "null": {"a": 1}, "keyed": [{"name": "a"}], "old": 1}`,
		theirs+`{"f:spec": {"f:m": {"f:a": {}}, "f:whole": {}, "f:old": {}}}}, `+others+`{"f:spec": {"f:m": {"f:b": {}}, "f:l": {`+item("kept", "x")+`}, "f:open": {}, "f:hollow": {}, "f:null": {}, "f:keyed": {}}}}`)
	manifest := decoded(t, `{"spec": {"m": {}, "l": [], "whole": {}, "open": {}, "hollow": {"list": []}, "null": null, "keyed": null}}`)
	asked := 0
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	made, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply:    refuses(invalid),
		Create:   creates(object(t, "", `"spec": {}`, ours+`{"f:spec": {"f:m": {}, "f:l": {}, "f:whole": {}, "f:open": {}, "f:hollow": {}, "f:null": {}, "f:keyed": {}}}}`)),
		Force: func(body []byte) (*unstructured.Unstructured, error) { // what are wholes
			asked++
			require.JSONEq(t, `{"m": {"a": 1, "b": 2}, "l": [{"name": "kept", "x": 1}], "whole": {"a": 1}, "open": {"a": 1}, "hollow": {"a": 1}, "keyed": [{"name": "a"}], "null": {"a": 1}, "old": 1}`, textOf(t, decoded(t, string(body))["spec"]))
			return object(t, "7", `"spec": {}`, ours+`{"f:spec": {"f:whole": {}, "f:open": {"f:a": {}}, "f:hollow": {"f:a": {}}, "f:null": {"f:a": {}}, "f:keyed": {"k:{\"name\":\"a\"}": {".": {}}}}}}`), nil
		},
		Patch: func(patch []byte) (*unstructured.Unstructured, error) {
			return object(t, "7", `"spec": `+specOf(t, patch), ``), nil
		},
	}, manifest, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"m": {"b": 2}, "l": [{"name": "kept", "x": 1}], "whole": {}, "open": {"a": 1}, "hollow": {"a": 1}, "null": {"a": 1}, "keyed": [{"name": "a"}]}`, textOf(t, made.Object["spec"]))
	require.Equal(t, 1, asked)
	require.Contains(t, owners(t, made.Object), `"others" (Update) spec.hollow`)
	require.Contains(t, owners(t, made.Object), `"others" (Update) spec.m.b`)
}

// An apply that drops nothing is refused for what it does.
func TestTryMergesNothingForNothing(t *testing.T) {
	live := object(t, "7", `"spec": {"a": 1}`, theirs+`{"f:spec": {"f:a": {}}}}`)
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	_, err := h.Try(handover.Server{
		HandOver: allowed(h),
		Apply:    refuses(invalid),
		Create:   creates(object(t, "", `"spec": {}`, ours+`{"f:spec": {"f:a": {}}}}`)),
	}, map[string]any{"spec": map[string]any{"a": int64(2)}}, nil)
	require.Equal(t, error(invalid), err)
}

// A null that an apply leaves where nothing changes owners is left after the handover, too. A null where fields do
// change owners may be removed by that.
func TestTryKeepsARefusalOfNull(t *testing.T) {
	live := object(t, "7", `"spec": {"a": {"x": 1}, "b": {"y": 1}}`, theirs+`{"f:spec": {"f:a": {"f:x": {}}}}}, `+ours+`{"f:spec": {"f:b": {"f:y": {}}}}}`)
	try := func(name string) error {
		h := mustFind(t, live, adopting("kubectl-client-side-apply"))
		refusal := field.TypeInvalid(field.NewPath("spec", name), "null", `spec.`+name+` in body must be of type object: "null"`)
		_, err := h.Try(handover.Server{
			HandOver: allowed(h),
			Apply:    refuses(apierrors.NewInvalid(schema.GroupKind{Kind: "Widget"}, "x", field.ErrorList{refusal})),
			Create:   creates(object(t, "", `"spec": {}`, ours+`{}}`)),
			Patch:    answers(object(t, "7", `"spec": {}`, ours+`{}}`)),
		}, map[string]any{}, nil)
		return err
	}
	require.NoError(t, try("a"))
	require.True(t, apierrors.IsInvalid(try("b")))
}

// Conflicts with those from whom is taken over are none, and all others are passed on.
func TestTryForcesWhatIsTakenOver(t *testing.T) {
	live := object(t, "7", `"data": {"a": 1, "b": 2}`, theirs+`{"f:data": {"f:a": {}}}}, `+others+`{"f:data": {"f:b": {}}}}`)
	conflict := func(with ...string) error {
		status := &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: 409, Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{}}}
		for _, text := range with {
			status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes,
				metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "` + text + `" using v1`, Field: ".data.a"})
		}
		return status
	}
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	forced := object(t, "8", `"data": {}`, "")
	for _, row := range []struct {
		why string
		err error
		all bool
	}{
		{"with whom is taken over from", conflict("kubectl-client-side-apply"), true},
		{"with somebody else, too", conflict("kubectl-client-side-apply", "others"), false},
		{"with nobody", conflict(), false},
	} {
		t.Run(row.why, func(t *testing.T) {
			made, err := h.Try(handover.Server{
				HandOver: allowed(h),
				Apply:    refuses(row.err),
				Force:    answers(forced),
			}, map[string]any{"data": map[string]any{"a": int64(5)}}, nil)
			if row.all {
				require.NoError(t, err)
				require.Equal(t, forced, made)
				return
			}
			require.Equal(t, row.err, err)
		})
	}
	var none *handover.Handover
	all := []fieldowner.Conflict{{Owner: fieldowner.Owner{Manager: "kubectl-client-side-apply", Operation: "Update"}}, {Owner: fieldowner.Owner{Manager: "others"}}}
	require.Equal(t, all, none.Conflicts(all))
	require.Equal(t, all[1:], h.Conflicts(all))
	require.Len(t, all, 2)
}

// What is merged goes into the items that the server finds by their keys of today, whatever names the record has, and
// whether or not the manifest leaves out a key.
func TestTryMergesByKeysOfToday(t *testing.T) {
	for _, row := range []struct{ why, was, today string }{
		{"a key more", `"k:{\"name\":\"a\"}"`, `"k:{\"n\":1,\"name\":\"a\"}"`},
		{"a key less", `"k:{\"n\":1,\"name\":\"a\"}"`, `"k:{\"name\":\"a\"}"`},
	} {
		t.Run(row.why, func(t *testing.T) {
			live := object(t, "7", `"spec": {"old": 1, "l": [{"name": "a", "n": 1, "x": 1}]}`,
				theirs+`{"f:spec": {"f:old": {}}}}, `+ours+`{"f:spec": {"f:l": {`+row.was+`: {".": {}, "f:name": {}, "f:x": {}}}}}}`)
			h := mustFind(t, live, adopting("kubectl-client-side-apply"))
			patched := ""
			_, err := h.Try(handover.Server{
				HandOver: allowed(h),
				Apply:    refuses(invalid),
				Create:   creates(object(t, "", `"spec": {}`, ours+`{"f:spec": {"f:l": {`+row.today+`: {".": {}, "f:name": {}, "f:x": {}}}}}}`)),
				Patch: func(patch []byte) (*unstructured.Unstructured, error) {
					patched = specOf(t, patch)
					return object(t, "7", `"spec": `+patched, ours+`{}}`), nil
				},
			}, map[string]any{"spec": map[string]any{"l": []any{map[string]any{"name": "a", "x": int64(2)}}}}, nil)
			require.NoError(t, err)
			require.JSONEq(t, `{"l": [{"name": "a", "n": 1, "x": 2}]}`, patched)
		})
	}
}
