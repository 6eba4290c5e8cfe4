package deletion_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: n, uid: u, finalizers: [a.b/c, d.e/f, g.h/i],
	managedFields: [
		{manager: installer, operation: Apply, apiVersion: batch/v1, time: "2026-08-01T12:00:00Z", fieldsType: FieldsV1,
			fieldsV1: {"f:metadata": {"f:finalizers": {"v:\"a.b/c\"": {}}}}},
		{manager: guard, operation: Update, apiVersion: batch/v1, time: "2026-08-01T12:00:00Z", fieldsType: FieldsV1,
			fieldsV1: {"f:metadata": {"f:finalizers": {".": {}, "v:\"a.b/c\"": {}, "v:\"d.e/f\"": {}}}}}]}}`

var request = deletion.Request{Object: identity.Identity{APIVersion: "batch/v1", Kind: "Job", Namespace: "n", Name: "j"}}

func TestOf(t *testing.T) {
	plan := deletion.Of(request, object(t, job))
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	installer := fieldowner.Owner{Manager: "installer", Operation: "Apply", APIVersion: "batch/v1", Time: at}
	guard := fieldowner.Owner{Manager: "guard", Operation: "Update", APIVersion: "batch/v1", Time: at}
	assert.Equal(t, &deletion.Plan{
		Object: request.Object, UID: "u", Action: deletion.ActionDelete, Reason: "is there", Propagation: "Background",
		Hazards: []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop"},
			{Kind: immutability.HazardBlocked, Message: "the delete waits for finalizers: a.b/c, d.e/f, g.h/i"},
			{Kind: immutability.HazardDependents, Message: "objects that name this one as their owner are deleted with it"},
		},
		Finalizers: []deletion.Finalizer{
			{Name: "a.b/c", Owners: []fieldowner.Owner{guard, installer}}, {Name: "d.e/f", Owners: []fieldowner.Owner{guard}}, {Name: "g.h/i"},
		},
		Dependents: []schema.GroupKind{{Kind: "Pod"}},
	}, plan)
	assert.Equal(t, `a.b/c (set by "guard" (Update), "installer" (Apply))`, plan.Finalizers[0].String())
	assert.Equal(t, `g.h/i`, plan.Finalizers[2].String())
	for _, verb := range []string{"%v", "%+v", "%s", "%#v"} {
		assert.Equal(t, "Delete batch/v1/Job n/j: is there", fmt.Sprintf(verb, plan))
	}
}

// What the object is doing already, and which one is meant, decide the action.
func TestActions(t *testing.T) {
	const gone = `{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: n, uid: u, deletionTimestamp: "2026-08-01T12:00:00Z", finalizers: [%s]}}`
	other := request
	other.UID = "other"
	same := request
	same.UID = "u"
	orphaning := request
	orphaning.Propagation = metav1.DeletePropagationOrphan
	for _, row := range []struct {
		why     string
		request deletion.Request
		live    *unstructured.Unstructured
		want    deletion.Action
		reason  string
		policy  metav1.DeletionPropagation
		uid     string
	}{
		{"none is there", same, nil, deletion.ActionNone, "does not exist", "Background", "u"},
		{"it is the one", same, object(t, job), deletion.ActionDelete, "is there", "Background", "u"},
		{"it is another one", other, object(t, job), deletion.ActionKeep,
			`the object was re-created: its uid was "other" and is "u"`, "Background", "other"},
		{"the policy is the one that is asked for", orphaning, object(t, job), deletion.ActionDelete, "is there", "Orphan", "u"},
		{"or the one that somebody chose who deleted it", orphaning, object(t, fmt.Sprintf(gone, "x")), deletion.ActionWait,
			"is being deleted since 2026-08-01 12:00:00", "Background", "u"},
		{"which a finalizer tells", request, object(t, fmt.Sprintf(gone, "x, orphan")), deletion.ActionWait,
			"is being deleted since 2026-08-01 12:00:00", "Orphan", "u"},
		{"for this one too", request, object(t, fmt.Sprintf(gone, "foregroundDeletion")), deletion.ActionWait,
			"is being deleted since 2026-08-01 12:00:00", "Foreground", "u"},
	} {
		plan := deletion.Of(row.request, row.live)
		assert.Equal(t, row.want, plan.Action, row.why)
		assert.Equal(t, row.reason, plan.Reason, row.why)
		assert.Equal(t, row.policy, plan.Propagation, row.why)
		assert.Equal(t, row.uid, plan.UID, row.why)
		assert.Equal(t, row.want == deletion.ActionKeep, errors.Is(plan.Refusal, write.ErrRecreated), row.why)
		assert.Equal(t, plan.Deletes(), len(plan.Hazards) > 0, row.why)
	}
}

// Of returns a plan even if it can't parse managedFields. The plan lists the finalizers without their managers, and
// warns that the managers are unknown.
func TestOfBrokenManagedFields(t *testing.T) {
	live := object(t, job)
	live.Object["metadata"].(map[string]any)["managedFields"] = []any{"x"}
	plan := deletion.Of(request, live)
	require.Len(t, plan.Warnings, 1)
	assert.Contains(t, plan.Warnings[0], "the manager of the finalizers is unknown: ")
	assert.Equal(t, deletion.Finalizer{Name: "a.b/c"}, plan.Finalizers[0])
}

func TestUnread(t *testing.T) {
	failed := errors.New("no")
	plan := deletion.Unread(deletion.Request{Object: request.Object, UID: "u", Propagation: "Orphan", Replaced: true}, failed)
	assert.Equal(t, &deletion.Plan{
		Object: request.Object, UID: "u", Action: deletion.ActionUnknown, Reason: "can't be read: no", Propagation: "Orphan", Replaced: true,
		Hazards: []immutability.Hazard{{Kind: immutability.HazardInterruption,
			Message: "the pods keep running, beside those that the new object starts"}},
		Dependents: []schema.GroupKind{{Kind: "Pod"}}, Refusal: failed,
	}, plan)
	assert.Equal(t, metav1.DeletePropagationBackground, deletion.Unread(request, failed).Propagation)
}

func TestLines(t *testing.T) {
	assert.Equal(t, "3 Deployment.apps", deletion.Count{Kind: "Deployment", Group: "apps", Objects: 3}.String())
	assert.Equal(t, "2 or more Pod", deletion.Count{Kind: "Pod", Objects: 2, OrMore: true}.String())
	assert.Equal(t, "Secret: not allowed", deletion.Uncounted{What: "Secret", Reason: "not allowed"}.String())
}

// A reviewed plan covers a later one that says no more.
func TestCovers(t *testing.T) {
	reviewed := func() *deletion.Plan {
		plan := deletion.Of(request, object(t, job))
		plan.Warnings = []foreign.Text{"careful"}
		plan.Contents = &deletion.Contents{Counts: []deletion.Count{{Kind: "Pod", Objects: 1}}}
		return plan
	}
	for _, row := range []struct {
		why  string
		edit func(now *deletion.Plan)
		want bool
	}{
		{"the same", func(*deletion.Plan) {}, true},
		{"another number of requests and another reason", func(now *deletion.Plan) { now.Requests, now.Reason = 9, "x" }, true},
		{"gone, whatever it was", func(now *deletion.Plan) { *now = deletion.Plan{Action: deletion.ActionNone} }, true},
		{"another object", func(now *deletion.Plan) { now.Object.Name = "x" }, false},
		{"another UID", func(now *deletion.Plan) { now.UID = "x" }, false},
		{"another policy", func(now *deletion.Plan) { now.Propagation = "Orphan" }, false},
		{"for another object that takes the place", func(now *deletion.Plan) { now.Replaced = true }, false},
		{"one hazard more", func(now *deletion.Plan) {
			now.Hazards = append(now.Hazards, immutability.Hazard{Kind: immutability.HazardOwner, Message: "x"})
		}, false},
		{"one hazard less", func(now *deletion.Plan) { now.Hazards = now.Hazards[1:] }, true},
		{"one that only says that it waits", func(now *deletion.Plan) {
			now.Hazards = append(now.Hazards, immutability.Hazard{Kind: immutability.HazardBlocked, Message: "the object is being deleted already"})
		}, true},
		{"one finalizer more", func(now *deletion.Plan) { now.Finalizers = append(now.Finalizers, deletion.Finalizer{Name: "x"}) }, false},
		{"one that the delete itself sets", func(now *deletion.Plan) {
			now.Finalizers = append(now.Finalizers, deletion.Finalizer{Name: "foregroundDeletion"}, deletion.Finalizer{Name: "orphan"})
		}, true},
		{"a finalizer of somebody else", func(now *deletion.Plan) { now.Finalizers[0].Owners = nil }, true},
		{"no finalizer", func(now *deletion.Plan) { now.Finalizers = nil }, true},
		{"being deleted already", func(now *deletion.Plan) { now.Action = deletion.ActionWait }, true},
		{"one warning more", func(now *deletion.Plan) { now.Warnings = append(now.Warnings, "x") }, false},
		{"no warning", func(now *deletion.Plan) { now.Warnings = nil }, true},
		{"more of what is inside", func(now *deletion.Plan) { now.Contents.Counts[0].Objects = 7 }, true},
		{"another kind inside", func(now *deletion.Plan) { now.Contents.Counts[0].Group = "x" }, false},
		{"nothing inside", func(now *deletion.Plan) { now.Contents = nil }, true},
	} {
		now := reviewed()
		row.edit(now)
		assert.Equal(t, row.want, reviewed().Covers(now), row.why)
	}
	for _, action := range []deletion.Action{deletion.ActionNone, deletion.ActionKeep, deletion.ActionRefused, deletion.ActionUnknown} {
		refused := reviewed()
		refused.Action = action
		assert.False(t, refused.Covers(reviewed()), "who reviewed that nothing goes reviewed nothing")
	}
	waiting := reviewed()
	waiting.Action = deletion.ActionWait
	assert.True(t, waiting.Covers(reviewed()))
}

// What is asked for and read stays as it is.
func TestOfModifiesNothing(t *testing.T) {
	live, asked := object(t, job), request
	before := live.DeepCopy()
	plan := deletion.Of(asked, live)
	plan.Finalizers[0].Name, plan.Hazards[0].Message = "x", "x"
	assert.Equal(t, before, live)
	assert.Equal(t, request, asked)
}

func TestJSON(t *testing.T) {
	plan := deletion.Of(request, object(t, job))
	plan.Contents = &deletion.Contents{Uncounted: []deletion.Uncounted{{What: "a<b", Reason: "c&d"}}}
	plan.Refusal = errors.New("not told")
	text, err := plan.MarshalJSON()
	require.NoError(t, err)
	assert.Contains(t, string(text), `{"what":"a<b","reason":"c&d"}`)
	assert.NotContains(t, string(text), "not told")
	var read deletion.Plan
	require.NoError(t, json.Unmarshal(text, &read))
	plan.Refusal = nil
	assert.Equal(t, plan, &read)
	for text, want := range map[string]string{
		`{"version": 2}`:                 "deletion: plan: version 2, but this program reads version 1",
		`{}`:                             "deletion: plan: version 0, but this program reads version 1",
		`{"version": 1, "reason": true}`: "deletion: plan: json: cannot unmarshal bool into Go struct field planJSON.reason of type string",
	} {
		assert.EqualError(t, read.UnmarshalJSON([]byte(text)), want)
	}
	assert.Equal(t, plan, &read, "what can't be read changes nothing")
}

// The errors of a delete say how far it got, and what to do.
func TestErrors(t *testing.T) {
	cause := errors.New("context canceled")
	for want, err := range map[string]*deletion.Error{
		"context canceled": {Err: cause},
		"context canceled: the server accepted the delete, and the object is still there; delete again to continue waiting": {
			Err: cause, Accepted: true,
		},
		"context canceled: the delete waits for finalizers x, y; find the controllers that remove them, then delete again to continue waiting": {
			Err: cause, Accepted: true, Finalizers: []string{"x", "y"},
		},
	} {
		assert.EqualError(t, err, want)
		assert.ErrorIs(t, err, cause)
	}
	changed := &deletion.ChangedError{Plan: deletion.Of(request, nil)}
	assert.EqualError(t, changed, "batch/v1/Job n/j: changed since the plan to delete it was made; now None (does not exist): review the new plan")
}

func TestNotes(t *testing.T) {
	plan := deletion.Of(request, object(t, job))
	plan.Warnings = []foreign.Text{"careful"}
	plan.Contents = &deletion.Contents{
		Counts: []deletion.Count{{Kind: "Pod", Objects: 1}, {Kind: "Job", Group: "batch", Objects: 2}},
		Uncounted: []deletion.Uncounted{
			{What: "Secret", Reason: "not allowed"}, {What: "kinds of a/v1", Reason: "no answer"}, {What: "Role", Reason: "not allowed"}},
	}
	assert.Equal(t, []string{
		"the pods stop",
		"the delete waits for finalizers: a.b/c, d.e/f, g.h/i",
		"objects that name this one as their owner are deleted with it",
		`finalizer a.b/c (set by "guard" (Update), "installer" (Apply))`, `finalizer d.e/f (set by "guard" (Update))`,
		"also deletes 1 Pod, 2 Job.batch",
		"not counted: Secret, Role (not allowed)", "not counted: kinds of a/v1 (no answer)",
		"careful",
	}, plan.Notes())
	plan.Finalizers, plan.Contents = nil, &deletion.Contents{}
	assert.Equal(t, []string{"the delete waits for finalizers: a.b/c, d.e/f, g.h/i", "careful"},
		plan.Notes(immutability.HazardInterruption, immutability.HazardDependents))
	assert.Equal(t, []string{"does not exist"}, deletion.Of(request, nil).Notes(), "nothing goes, and that is what there is to know")
	assert.Empty(t, (&deletion.Plan{Action: deletion.ActionDelete, Reason: "is there"}).Notes())
}
