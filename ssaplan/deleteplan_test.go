package ssaplan_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

var (
	configMaps   = schema.GroupResource{Resource: "configmaps"}
	mayNotDelete = apierrors.NewForbidden(configMaps, "a",
		serverText(`User "jane" cannot delete resource "configmaps" in API group "" in the namespace "default"`))
	noDryRun = apierrors.NewBadRequest("admission webhook \"a.b.c\" does not support dry run")
)

// idOf is the ConfigMap's identity as a host has it, without the namespace.
var idOf = identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}

// The action of a plan says whether the object exists and whether the server would delete it. Planning deletes nothing.
func TestPlanDelete(t *testing.T) {
	for _, row := range []struct {
		why     string
		object  *unstructured.Unstructured // that is there
		request func(uid string) deletion.Request
		before  func(*ssaplantest.Server)
		answer  func(ssaplantest.Request) error

		action   deletion.Action
		reason   string
		class    authresilience.Class // of the refusal
		warnings []foreign.Text
		requests int
	}{
		{
			why: "the server would delete it", object: configMap("a", nil),
			action: deletion.ActionDelete, reason: "the server would delete it", requests: 3,
		},
		{
			why: "it is the one that is meant", object: configMap("a", nil),
			request: func(uid string) deletion.Request { return deletion.Request{Object: idOf, UID: uid} },
			action:  deletion.ActionDelete, reason: "the server would delete it", requests: 3,
		},
		{why: "there is none", action: deletion.ActionNone, reason: "does not exist", requests: 1},
		{
			why: "there is another one", object: configMap("a", nil),
			request: func(string) deletion.Request { return deletion.Request{Object: idOf, UID: "old"} },
			action:  deletion.ActionKeep, reason: `the object was re-created: its uid was "old" and is `, requests: 1,
			class: authresilience.ClassUnknown,
		},
		{
			why: "somebody has deleted it", object: held("a"),
			before: func(server *ssaplantest.Server) { remove(server, "a") },
			action: deletion.ActionWait, reason: "is being deleted since 2", requests: 1,
		},
		{
			why: "the caller may not", object: configMap("a", nil), answer: answering("delete", "configmaps", mayNotDelete),
			action: deletion.ActionRefused, reason: mayNotDelete.Error(), class: authresilience.ClassAuthorization, requests: 2,
		},
		{
			why: "the caller may not even look", object: configMap("a", nil), answer: answering("get", "configmaps", forbidden),
			action: deletion.ActionUnknown, reason: "can't be read: " + forbidden.Error(), class: authresilience.ClassAuthorization, requests: 1,
		},
		{
			why: "the caller may not look, but delete", object: configMap("a", nil), answer: answering("get", "configmaps", forbidden),
			request: func(uid string) deletion.Request { return deletion.Request{Object: idOf, UID: uid} },
			action:  deletion.ActionUnknown, reason: "can't be read: " + forbidden.Error(), class: authresilience.ClassAuthorization, requests: 3,
		},
		{
			why: "the caller may neither look nor delete", object: configMap("a", nil),
			request: func(uid string) deletion.Request { return deletion.Request{Object: idOf, UID: uid} },
			answer: func(r ssaplantest.Request) error {
				return errors.Join(answering("get", "configmaps", forbidden)(r), answering("delete", "configmaps", mayNotDelete)(r))
			},
			action: deletion.ActionRefused, reason: mayNotDelete.Error(), class: authresilience.ClassAuthorization, requests: 2,
		},
		{
			why: "a webhook doesn't know dry runs", object: configMap("a", nil), answer: answering("delete", "configmaps", noDryRun),
			action: deletion.ActionDelete, reason: "is there", requests: 2,
			warnings: []foreign.Text{foreign.Text("unknown whether the server would delete it: " + noDryRun.Error())},
		},
		{
			why:     "the kind isn't served",
			request: func(string) deletion.Request { return deletion.Request{Object: widgetID} },
			action:  deletion.ActionUnknown, reason: "can't be read: no matches for kind", class: authresilience.ClassTypeNotServed,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			request := deletion.Request{Object: idOf}
			uid := ""
			if row.object != nil {
				uid = applied(t, planner, row.object).UID
			}
			if row.request != nil {
				request = row.request(uid)
			}
			if row.before != nil {
				row.before(server)
			}
			if row.answer != nil {
				defer server.Answer(row.answer)()
			}
			earlier := sent(server, "delete")
			plan := mustPlanDelete(t, planner, request)
			require.Equal(t, row.action, plan.Action)
			require.Contains(t, plan.Reason, row.reason)
			require.Equal(t, row.warnings, plan.Warnings)
			require.Equal(t, row.requests, plan.Requests)
			require.Equal(t, metav1.DeletePropagationBackground, plan.Propagation)
			require.Equal(t, earlier, sent(server, "delete"), "nothing is deleted")
			if row.class == "" {
				require.NoError(t, plan.Refusal)
			} else {
				require.Equal(t, row.class, authresilience.Classify(plan.Refusal))
			}
			if row.object != nil {
				require.Equal(t, "v1/ConfigMap default/a", plan.Object.String())
			}
			if plan.Deletes() {
				require.Equal(t, uid, plan.UID)
				require.NotEmpty(t, plan.Hazards)
			}
		})
	}
}

var widgetID = identity.Identity{APIVersion: "example.com/v1", Kind: "Widget", Name: "a"}

// What says nothing of the object is no plan but an error.
func TestPlanDeleteFails(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", nil))
	for verb, want := range map[string]string{
		"get":    "v1/ConfigMap a: plan to delete: starting",
		"delete": "v1/ConfigMap a: plan to delete: starting",
	} {
		server.AnswerNext(verb, apierrors.NewServiceUnavailable("starting"))
		_, err := planner.PlanDelete(t.Context(), deletion.Request{Object: idOf})
		require.EqualError(t, err, want)
		require.Equal(t, authresilience.ClassUnavailable, authresilience.Classify(err))
	}
	outdated := apierrors.NewConflict(configMaps, "a", errors.New("the UID in the precondition (a) does not match the UID in record (b)"))
	defer server.Answer(answering("delete", "configmaps", outdated))()
	_, err := planner.PlanDelete(t.Context(), deletion.Request{Object: idOf})
	require.ErrorContains(t, err, "others changed the object between read and dry run, again and again")
}

// An object that goes while the planner looks is looked at again.
func TestPlanDeleteLooksAgain(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", nil))
	first := true
	defer server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "delete" && r.DryRun && first {
			first = false
			remove(server, "a")
		}
		return nil
	})()
	plan := mustPlanDelete(t, planner, deletion.Request{Object: idOf})
	require.Equal(t, deletion.ActionNone, plan.Action)
	require.Equal(t, 3, plan.Requests)
}

// A reviewed plan is carried out, also when it was kept as JSON, unless there is more to review by now.
func TestApplyDelete(t *testing.T) {
	for _, row := range []struct {
		why       string
		object    *unstructured.Unstructured
		meanwhile func(*ssaplantest.Server)
		changed   string
		err       string
	}{
		{why: "nothing changed", object: configMap("a", nil)},
		{
			why: "what changed isn't about the delete", object: configMap("a", nil),
			meanwhile: func(server *ssaplantest.Server) { patch(server, "a", `{"data": {"x": "y"}}`) },
		},
		{
			why: "a finalizer appeared", object: configMap("a", nil),
			meanwhile: func(server *ssaplantest.Server) {
				patch(server, "a", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
			},
			changed: "v1/ConfigMap default/a: changed since the plan to delete it was made; now Delete (the server would delete it): review the new plan",
		},
		{
			why: "it went", object: configMap("a", nil),
			meanwhile: func(server *ssaplantest.Server) { remove(server, "a") },
		},
		{
			why: "it went and another one came", object: configMap("a", nil),
			meanwhile: func(server *ssaplantest.Server) {
				remove(server, "a")
				create(server, configMap("a", nil))
			},
			err: "v1/ConfigMap default/a: delete: the object was re-created: its uid was ",
		},
		{
			why:       "there was nothing to delete",
			meanwhile: func(server *ssaplantest.Server) { create(server, configMap("a", nil)) },
			changed:   "now Delete (the server would delete it): review the new plan",
		},
		{why: "there is still nothing to delete"},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			if row.object != nil {
				applied(t, planner, row.object)
			}
			plan := mustPlanDelete(t, planner, deletion.Request{Object: idOf})
			text := mustMarshal(t, plan)
			var kept deletion.Plan
			require.NoError(t, json.Unmarshal(text, &kept))
			if row.meanwhile != nil {
				row.meanwhile(server)
			}
			earlier := sent(server, "delete")
			err := planner.ApplyDelete(t.Context(), &kept, deletion.Options{})
			var changed *deletion.ChangedError
			switch {
			case row.changed != "":
				require.ErrorAs(t, err, &changed)
				require.ErrorContains(t, err, row.changed)
				require.NotNil(t, changed.Plan)
				require.NotEqual(t, plan.Hazards, changed.Plan.Hazards)
			case row.err != "":
				require.ErrorAs(t, err, new(*deletion.Error))
				require.ErrorIs(t, err, write.ErrRecreated)
				require.ErrorContains(t, err, row.err)
			default:
				require.NoError(t, err)
				require.Empty(t, names(t, server))
			}
			if row.changed+row.err != "" {
				require.Equal(t, earlier, sent(server, "delete"))
				require.Equal(t, []string{"a"}, names(t, server))
			}
		})
	}
}

// ApplyDelete fails with another propagation policy than that of the plan, and if the server denies the delete.
func TestApplyDeleteRefuses(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", nil))
	plan := mustPlanDelete(t, planner, deletion.Request{Object: idOf, Propagation: metav1.DeletePropagationOrphan})
	require.Contains(t, plan.Hazards, immutability.Hazard{
		Kind: immutability.HazardDependents, Message: "objects that name this one as their owner remain without an owner"})
	err := planner.ApplyDelete(t.Context(), plan, deletion.Options{Propagation: metav1.DeletePropagationForeground})
	require.EqualError(t, err, "v1/ConfigMap default/a: the plan is for propagation policy Orphan, not Foreground: plan again")
	require.ErrorAs(t, err, new(*deletion.Error))

	stop := server.Answer(answering("delete", "configmaps", mayNotDelete))
	err = planner.ApplyDelete(t.Context(), plan, deletion.Options{Propagation: metav1.DeletePropagationOrphan})
	require.ErrorAs(t, err, new(*deletion.Error))
	require.Equal(t, authresilience.ClassAuthorization, authresilience.Classify(err))
	stop()
	require.NoError(t, planner.ApplyDelete(t.Context(), plan, deletion.Options{}))
}

// A plan can be carried out again while the object waits for its finalizers.
func TestApplyDeleteGoesOn(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, held("a"))
	plan := mustPlanDelete(t, planner, deletion.Request{Object: idOf})
	ctx, cancel := context.WithCancel(t.Context())
	progress := func(identity.Identity, []string) { cancel() }
	err := planner.ApplyDelete(ctx, plan, deletion.Options{Progress: progress})
	var stopped *deletion.Error
	require.ErrorAs(t, err, &stopped)
	require.True(t, stopped.Accepted)
	require.Equal(t, []string{"example.com/hold"}, stopped.Finalizers)

	patch(server, "a", `{"metadata": {"finalizers": null}}`)
	require.NoError(t, planner.ApplyDelete(t.Context(), plan, deletion.Options{}))
	require.Equal(t, 1, sent(server, "delete"))
}

// warnsOfDeletes returns a server that warns of each delete, a planner for it, and the warnings that go to the client's
// own handler.
func warnsOfDeletes(t *testing.T) (*ssaplantest.Server, *ssaplan.Planner, *string) {
	t.Helper()
	fake, _ := world(ssaplan.Options{})
	client := new(string)
	return fake, watching(t, fake, func(ctx context.Context, name string, _ metav1.DeleteOptions) {
		server.WarningHandler{Others: others{client}}.HandleWarningHeaderWithContext(ctx, 299, "-", "mind the "+name)
	}), client
}

// others notes what goes to the client's handler.
type others struct{ text *string }

func (o others) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*o.text += text + "\n"
}

// A plan has the warnings of the server about the delete. Delete, ApplyDelete and Replace call Options.Warning once for
// each warning. Without that function, the client's own warning handler gets the warnings.
func TestWarningsOfADelete(t *testing.T) {
	_, planner, client := warnsOfDeletes(t)
	state := applied(t, planner, configMap("a", nil))
	plan := mustPlanDelete(t, planner, deletion.Request{Object: idOf})
	require.Equal(t, []foreign.Text{"mind the a"}, plan.Warnings)
	require.Empty(t, *client)

	var told []string
	listen := deletion.Options{Warning: func(old identity.Identity, text foreign.Text) { told = append(told, old.String()+": "+text.String()) }}
	unwarned := *plan
	unwarned.Warnings = nil
	require.ErrorAs(t, planner.ApplyDelete(t.Context(), &unwarned, listen), new(*deletion.ChangedError))
	require.Equal(t, []string{"v1/ConfigMap default/a: mind the a"}, told, "and there is more to review")
	told = nil
	require.NoError(t, planner.Delete(t.Context(), state, listen))
	require.Equal(t, []string{"v1/ConfigMap default/a: mind the a"}, told)
	require.Empty(t, *client)

	state = applied(t, planner, configMap("a", nil))
	require.NoError(t, planner.Delete(t.Context(), state, deletion.Options{}))
	require.Equal(t, "mind the a\n", *client)

	state = applied(t, planner, configMap("a", nil))
	replace := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("b", nil), Prior: state})
	told = nil
	mustReplace(t, planner, replace, listen)
	require.Equal(t, []string{"v1/ConfigMap default/a: mind the a"}, told)
}

// What a server quotes of a Secret is shown nowhere.
func TestPlanDeleteHidesSecrets(t *testing.T) {
	server, planner, _ := warnsOfDeletes(t)
	applied(t, planner, secret("hunter2-is-quoted", "aHVudGVyMi1pcy1xdW90ZWQ="))
	denied := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: `admission webhook "a.b.c" denied the request: no hunter2-is-quoted`,
	}}
	defer server.Answer(answering("delete", "secrets", denied))()
	id := identity.Identity{APIVersion: "v1", Kind: "Secret", Name: "hunter2-is-quoted"}
	plan := mustPlanDelete(t, planner, deletion.Request{Object: id})
	require.Equal(t, deletion.ActionRefused, plan.Action)
	require.NotContains(t, plan.Reason, "hunter2")
	require.NotContains(t, plan.Refusal.Error(), "hunter2")
	require.Equal(t, []foreign.Text{"1 warning of the server redacted, since the object has sensitive values, which it may quote"}, plan.Warnings)
}

// Deleting a CRD deletes its custom resources. ApplyDelete counts them again only if the reviewed plan has Contents. It
// fails if it finds objects of a kind that the plan doesn't list.
func TestApplyDeleteCountsAgain(t *testing.T) {
	for _, reviewed := range []bool{true, false} {
		server, planner := world(ssaplan.Options{})
		definition := definitionOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", "example.com", "Widget")
		applied(t, planner, definition)
		id, err := identity.Of(definition.Object)
		require.NoError(t, err)
		plan := mustPlanDelete(t, planner, deletion.Request{Object: id})
		require.NotNil(t, plan.Contents)
		require.Empty(t, plan.Contents.Counts)
		applied(t, planner, manifestOf("example.com/v1", "Widget", "", "a"))
		if !reviewed {
			plan.Contents = nil
		}
		err = planner.ApplyDelete(t.Context(), plan, deletion.Options{})
		var changed *deletion.ChangedError
		require.Equal(t, reviewed, errors.As(err, &changed), "%v", err)
		if reviewed {
			require.Equal(t, []deletion.Count{{Kind: "Widget", Group: "example.com", Objects: 1}}, changed.Plan.Contents.Counts)
			require.Zero(t, sent(server, "delete"))
		}
	}
}
