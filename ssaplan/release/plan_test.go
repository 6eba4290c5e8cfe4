package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/redact"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/write"
)

var id = identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "a"}

// object returns a ConfigMap with a record.
func object(t *testing.T, uid, record string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	text := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "x", "uid": "` + uid + `", "resourceVersion": "7",
		"managedFields": [` + record + `]}, "data": {"a": "A", "b": "B"}}`
	require.NoError(t, utiljson.Unmarshal([]byte(text), &obj.Object), text)
	return obj
}

const (
	ours   = `{"manager": "me", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}}`
	status = `{"manager": "me", "operation": "Update", "subresource": "status", "apiVersion": "v1", "fieldsV1": {"f:status": {}}}`
	theirs = `{"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:b": {}}}}`
)

// target is an object in its states, one after the other, and what becomes of patches.
type target struct {
	live     []*unstructured.Unstructured
	err      error
	patched  []string
	answers  []error
	answered *unstructured.Unstructured       // beside each of the answers
	tries    []error                          // of the first dry runs; the others are answered with success
	made     func(*unstructured.Unstructured) // what admission makes of the object in a dry run
	tried    int
	byRecord int // of these
}

func (f *target) Live(context.Context) (*unstructured.Unstructured, error) {
	now := f.live[0]
	if len(f.live) > 1 {
		f.live = f.live[1:]
	}
	return now, f.err
}

func (f *target) Patch(_ context.Context, live *unstructured.Unstructured, patch []byte, manager string, dryRun ...string) (*unstructured.Unstructured, error) {
	if len(dryRun) > 0 {
		f.tried++
		if f.tried <= len(f.tries) {
			return nil, f.tries[f.tried-1]
		}
		made := live.DeepCopy()
		var operations []struct{ Value any }
		if err := json.Unmarshal(patch, &operations); err != nil {
			return nil, err
		}
		made.SetManagedFields(nil)
		if record, _ := operations[0].Value.([]any); len(record) > 1 || len(record) == 1 && len(record[0].(map[string]any)) > 0 { // an empty entry clears it
			made.Object["metadata"].(map[string]any)["managedFields"] = record
		}
		if f.made != nil {
			f.made(made)
		}
		return made, nil
	}
	f.patched = append(f.patched, manager+" "+string(patch))
	err := f.answers[0]
	f.answers = f.answers[1:]
	return f.answered, err
}

func (f *target) TryByRecord(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string) (now, made *unstructured.Unstructured, err error) {
	f.byRecord++
	made, err = f.Patch(ctx, live, patch, manager, metav1.DryRunAll)
	return live, made, err
}

func unguarded(...*unstructured.Unstructured) redact.Redactor { return redact.Redactor{} }

func TestFor(t *testing.T) {
	for _, row := range []struct {
		why   string
		live  *unstructured.Unstructured
		prior explain.State
		want  string
	}{
		{"its fields, and who owns them still", object(t, "u", ours+","+theirs), explain.State{UID: "u"},
			"Release v1/ConfigMap x/a: stays as it is, and these fields are given up\n  data.a: given up\n  data.b: given up, still owned by \"other\" (Update)"},
		{"what it updated of a subresource", object(t, "u", status), explain.State{UID: "u"},
			"Release v1/ConfigMap x/a: stays as it is, and these fields are given up\n  status: given up"},
		{"nothing of it", object(t, "u", theirs), explain.State{UID: "u"}, "Nothing v1/ConfigMap x/a: the manager owns none of its fields"},
		{"no such object", nil, explain.State{UID: "u"}, "Gone v1/ConfigMap x/a: no longer exists"},
		{"another one", object(t, "v", ours), explain.State{UID: "u"}, "Gone v1/ConfigMap x/a: no longer exists"},
		{"none that is known", object(t, "", ours), explain.State{}, "Gone v1/ConfigMap x/a: no longer exists"},
	} {
		t.Run(row.why, func(t *testing.T) {
			row.prior.Identity, row.prior.Manager = id, "me"
			plan, err := release.For(t.Context(), &target{live: []*unstructured.Unstructured{row.live}}, &row.prior, unguarded)
			require.NoError(t, err)
			require.Equal(t, row.want, plan.String())
		})
	}
	prior := explain.State{Identity: id, UID: "u", Manager: "me"}
	hook := func(obj *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringMap(obj.Object, map[string]string{"a": "other", "c": "C"}, "data")
	}
	outrun := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("changed"))
	on := &target{live: []*unstructured.Unstructured{object(t, "u", ours)}, made: hook, answers: []error{outrun, nil}}
	plan, err := release.For(t.Context(), on, &prior, unguarded)
	require.NoError(t, err)
	require.Equal(t, `Release v1/ConfigMap x/a: these fields are given up, and others change along with that
  data.a: given up
  data.b: given up
  data.a: "A" -> "other" (side effect of the server)
  data.b: - "B" (side effect of the server)
  data.c: + "C" (side effect of the server)`, plan.String(), "a webhook changes it")
	require.Equal(t, write.OutcomeRefused, write.OutcomeOf(plan.Apply(t.Context())), "what it would change in another version isn't known")
	require.Len(t, on.patched, 1)
	forget := func(obj *unstructured.Unstructured) { obj.SetManagedFields(nil) }
	plan, err = release.For(t.Context(), &target{live: []*unstructured.Unstructured{object(t, "u", ours+","+theirs)}, made: forget}, &prior, unguarded)
	require.NoError(t, err)
	require.Equal(t, `Release v1/ConfigMap x/a: stays as it is, and these fields are given up
  data.a: given up
  data.b: given up
  data.b: without an owner, was owned by "other" (Update)`, plan.String(), "a server forgets who owns what where it can't read the record any more")
	keep := func(obj *unstructured.Unstructured) {
		obj.SetManagedFields(object(t, "u", ours+","+theirs).GetManagedFields())
	}
	plan, err = release.For(t.Context(), &target{live: []*unstructured.Unstructured{object(t, "u", ours+","+theirs)}, made: keep}, &prior, unguarded)
	require.NoError(t, err)
	require.Equal(t, release.ActionRefused, plan.Action, "or keeps it, and so all that we own")
	require.Equal(t, "Refused v1/ConfigMap x/a: the server rejects the release: the server leaves all fields to their owners, as it can't read the "+
		"object in this version, since others wrote another one", plan.String())
	_, err = release.For(t.Context(), &target{live: []*unstructured.Unstructured{nil}, err: errors.New("boom")}, &prior, unguarded)
	require.EqualError(t, err, "v1/ConfigMap x/a: plan to release: boom")
	_, err = release.For(t.Context(), &target{live: []*unstructured.Unstructured{object(t, "u", "5")}}, &prior, unguarded)
	require.ErrorContains(t, err, "managedFields")
}

// TestTry has the server try each release.
func TestTry(t *testing.T) {
	outdated := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("changed"))
	deleted := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "a")
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("no"))
	untold := apierrors.NewBadRequest("admission webhook \"w\" does not support dry run")
	both, released := object(t, "u", ours+","+theirs), object(t, "u", theirs)
	for _, row := range []struct {
		why   string
		live  []*unstructured.Unstructured
		tries []error
		tried int
		want  release.Action
		err   string
	}{
		{"it would be done", []*unstructured.Unstructured{both}, nil, 1, release.ActionRelease, ""},
		{"there is nothing to try", []*unstructured.Unstructured{released}, nil, 0, release.ActionNothing, ""},
		{"it is refused", []*unstructured.Unstructured{both}, []error{denied}, 1, release.ActionRefused, ""},
		{"a webhook has no dry runs", []*unstructured.Unstructured{both}, []error{untold}, 1, release.ActionRelease, ""},
		{"the object changed meanwhile", []*unstructured.Unstructured{both, both}, []error{outdated}, 2, release.ActionRelease, ""},
		{"somebody else released it meanwhile", []*unstructured.Unstructured{both, released}, []error{outdated}, 1, release.ActionNothing, ""},
		{"it was deleted meanwhile", []*unstructured.Unstructured{both, nil}, []error{deleted}, 1, release.ActionGone, ""},
		{"it changes all the time", []*unstructured.Unstructured{both}, []error{outdated, outdated, outdated}, 3, "", "plan to release: "},
		{"the dry run failed", []*unstructured.Unstructured{both}, []error{errors.New("boom")}, 1, "", "plan to release: boom"},
	} {
		t.Run(row.why, func(t *testing.T) {
			on := &target{live: row.live, tries: row.tries}
			plan, err := release.For(t.Context(), on, &explain.State{Identity: id, UID: "u", Manager: "me"}, unguarded)
			require.Equal(t, row.tried, on.tried)
			require.Equal(t, max(0, row.tried-1), on.byRecord, "all but the first")
			require.Empty(t, on.patched)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.want, plan.Action)
			require.Equal(t, row.want == release.ActionRefused, plan.Refusal != nil)
			if row.want == release.ActionRefused {
				require.True(t, apierrors.IsForbidden(plan.Refusal), "the status stays reachable: %v", plan.Refusal)
				require.Equal(t, "Refused v1/ConfigMap x/a: the server rejects the release: configmaps \"a\" is forbidden: no", plan.String())
				err = plan.Apply(t.Context())
				require.ErrorIs(t, err, plan.Refusal)
				require.Equal(t, write.OutcomeNotSent, write.OutcomeOf(err))
				require.Empty(t, on.patched)
			}
			require.Equal(t, len(row.tries) > 0 && row.tries[0] == error(untold), len(plan.Warnings) > 0)
		})
	}
}

func TestApply(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("changed"))
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("no"))
	lost := errors.New("connection reset")
	both, released := object(t, "u", ours+","+theirs), object(t, "u", theirs)
	changed := both.DeepCopy()
	changed.SetResourceVersion("8")
	for _, row := range []struct {
		why     string
		first   *unstructured.Unstructured
		then    []*unstructured.Unstructured // after each answer
		answers []error
		patches int
		outcome write.Outcome
	}{
		{"done", both, nil, []error{nil}, 1, write.OutcomeDone},
		{"nothing to do", object(t, "u", theirs), nil, nil, 0, write.OutcomeDone},
		{"gone", nil, nil, nil, 0, write.OutcomeDone},
		{"changed without touching what was reviewed", both, []*unstructured.Unstructured{both}, []error{conflict, nil}, 2, write.OutcomeDone},
		{"changed each time", both, []*unstructured.Unstructured{both}, []error{conflict, conflict, conflict}, 3, write.OutcomeRefused},
		{"changed in what was reviewed", both, []*unstructured.Unstructured{object(t, "u", ours)}, []error{conflict}, 1, write.OutcomeRefused},
		{"released by somebody else", both, []*unstructured.Unstructured{object(t, "u", theirs)}, []error{conflict}, 1, write.OutcomeDone},
		{"deleted", both, []*unstructured.Unstructured{nil}, []error{conflict}, 1, write.OutcomeDone},
		{"refused", both, []*unstructured.Unstructured{both}, []error{forbidden}, 1, write.OutcomeRefused},
		{"the answer is lost, and it is done", both, []*unstructured.Unstructured{released}, []error{lost}, 1, write.OutcomeDone},
		{"the answer is lost, and it isn't done", both, []*unstructured.Unstructured{both}, []error{lost}, 1, write.OutcomeNotSent},
		{"the answer is lost, and somebody changed it", both, []*unstructured.Unstructured{changed}, []error{lost}, 1, write.OutcomeUnknown},
		{"the answer is lost, and it can't be read", both, []*unstructured.Unstructured{object(t, "u", "5")}, []error{lost}, 1, write.OutcomeUnknown},
		{"changed, and not to be read again", both, []*unstructured.Unstructured{object(t, "u", "5")}, []error{conflict}, 1, write.OutcomeUnknown},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			on := &target{live: append([]*unstructured.Unstructured{row.first}, row.then...), answers: row.answers}
			plan, err := release.For(t.Context(), on, &explain.State{Identity: id, UID: "u", Manager: "me"}, unguarded)
			require.NoError(t, err)
			reviewed := plan.String()
			err = plan.Apply(clock.Quickly(t.Context()))
			require.Equal(t, row.outcome, write.OutcomeOf(err), err)
			require.Len(t, on.patched, row.patches)
			require.Equal(t, reviewed, plan.String(), "the plan stays as it was reviewed")
			if row.patches > 0 {
				require.Contains(t, on.patched[0], `me [{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"other"`)
				require.Contains(t, on.patched[0], `"/metadata/resourceVersion"`)
			}
			for _, again := range on.patched[min(1, row.patches):] {
				require.NotContains(t, again, "resourceVersion", "who owns what is the guard when others write all the time")
				require.Contains(t, again, `me [{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/managedFields","value":[{"`)
			}
		})
	}
}

// A field that others were to lose, and that they would keep now, wasn't reviewed, although the owners are the same.
func TestApplyToAnotherKindOfTransfer(t *testing.T) {
	const alone = `{"manager": "me", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}}}`
	on := &target{
		live:    []*unstructured.Unstructured{object(t, "u", alone+","+theirs), object(t, "u", ours+","+theirs)},
		made:    func(obj *unstructured.Unstructured) { obj.SetManagedFields(nil) },
		answers: []error{apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("changed")), nil},
	}
	plan, err := release.For(t.Context(), on, &explain.State{Identity: id, UID: "u", Manager: "me"}, unguarded)
	require.NoError(t, err)
	require.Equal(t, "data.b: without an owner, was owned by \"other\" (Update)", plan.Fields[1].String())
	require.Equal(t, write.OutcomeRefused, write.OutcomeOf(plan.Apply(t.Context())))
	require.Len(t, on.patched, 1)
}

// Apply fails if the server ignores the change of managedFields. The dry run doesn't always show this in advance: the
// server may not support it, or other managers may write between dry run and apply.
func TestApplyThatReleasesNothing(t *testing.T) {
	both := object(t, "u", ours+","+theirs)
	on := &target{live: []*unstructured.Unstructured{both}, answers: []error{nil, nil}, answered: both}
	plan, err := release.For(t.Context(), on, &explain.State{Identity: id, UID: "u", Manager: "me"}, unguarded)
	require.NoError(t, err)
	err = plan.Apply(t.Context())
	require.Equal(t, write.OutcomeRefused, write.OutcomeOf(err))
	require.ErrorContains(t, err, "v1/ConfigMap x/a: release: the server leaves all fields to their owners")
	require.Len(t, on.patched, 1)
	on.answered = object(t, "u", theirs)
	require.NoError(t, plan.Apply(t.Context()))
}
