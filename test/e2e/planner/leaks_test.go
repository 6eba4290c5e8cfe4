package planner_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/test/lab"
)

// shown collects all that a host can print.
type shown struct {
	strings.Builder
	last error
}

func (s *shown) add(values ...any) {
	for _, v := range values {
		text, _ := json.Marshal(v)
		fmt.Fprintf(s, "%v %+v %s\n", v, v, text)
		if err, ok := v.(error); ok {
			s.last = err
			answer.Walk(err, func(inner error) bool {
				fmt.Fprintf(s, "%v %+v %#v\n", inner, inner, inner)
				return false
			})
		}
	}
}

func (s *shown) plan(plan *ssaplan.Plan, err error) *ssaplan.Plan {
	s.add(err)
	if plan != nil {
		s.add(plan, plan.Changes, plan.Before, plan.After, plan.Baseline, plan.Dropped, plan.Warnings, plan.Reason)
		if plan.Replacement != nil {
			s.add(plan.Replacement.Fields, plan.Replacement.Evidence, plan.Replacement.Refusal)
		}
	}
	return plan
}

func (s *shown) release(plan *release.Plan, err error) *release.Plan {
	s.add(err)
	if plan != nil {
		s.add(plan, plan.Warnings, plan.Refusal)
	}
	return plan
}

// A policy may quote a Secret in the message that it makes, as a warning and as a denial, of all that is done with the
// Secret.
func TestPoliciesThatQuoteSecrets(t *testing.T) {
	const value = "hunter2-correct-horse"
	c := newCluster(t)
	for _, action := range []string{"Deny", "Warn"} {
		name := "quote-" + strings.ToLower(action)
		stored := lab.Objectf(t, `{apiVersion: v1, kind: Secret, metadata: {name: %s, labels: {quoted: %s}}, type: example.com/a, stringData: {password: %s}}`, name, name, value)
		other := stored.DeepCopy()
		other.Object["stringData"] = map[string]any{"password": value + "-2"}
		retyped := stored.DeepCopy()
		retyped.Object["type"] = "example.com/b"
		renamed := stored.DeepCopy()
		renamed.SetName(name + "-renamed")

		out := &shown{}
		options := ssaplan.Options{
			FieldManager: manager, NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10}),
			Logger: slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		planner := c.Planner(t, options)
		options.ShowServerText = true
		open := c.Planner(t, options)
		first, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: stored})
		require.NoError(t, err)
		obj, err := planner.Apply(lab.Context(t), first)
		require.NoError(t, err)
		state, err := first.State(obj)
		require.NoError(t, err)
		out.add(state)
		update := out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: other, Prior: state}))
		replace := out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: retyped, Prior: state}))
		require.Equal(t, ssaplan.ActionReplace, replace.Action)

		c.admit(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %s}, spec: {
			matchConstraints: {objectSelector: {matchLabels: {quoted: %s}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [secrets]}]},
			validations: [{expression: "false", messageExpression: "'quoted: ' + string(request.operation == 'DELETE' ? oldObject.data.password : object.data.password)"}]}}`, name, name)
		c.admit(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %s, validationActions: [%s]}}`, name, name, action)
		encoded := base64.StdEncoding.EncodeToString([]byte(value))
		lab.Eventually(t, "the policy quotes", func() bool {
			plan, err := open.Plan(t.Context(), ssaplan.Request{Manifest: renamed})
			said := fmt.Sprint(err)
			if plan != nil {
				said += fmt.Sprint(plan.Warnings)
			}
			return strings.Contains(said, "quoted: "+encoded)
		})
		for range 2 { // the second time from the cache, if that has it
			out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: renamed}))
			out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: other, Prior: state}))
			out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: retyped, Prior: state}))
			out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: renamed, Prior: state}))
			out.plan(planner.Plan(t.Context(), ssaplan.Request{Manifest: stored, Prior: state}))
		}
		doomed, err := planner.PlanDelete(t.Context(), deletion.Request{Object: state.Identity, UID: state.UID})
		out.add(err, doomed)
		require.NotContains(t, fmt.Sprint(doomed.Notes()), "quoted")
		_, err = planner.Apply(lab.Context(t), update)
		out.add(err)
		require.Equal(t, action == "Deny", err != nil)
		_, err = planner.Replace(lab.Context(t), replace, deletion.Options{})
		out.add(err)
		out.add(planner.Delete(lab.Context(t), state, deletion.Options{}))
		require.Empty(t, leak.In(out.String(), value), action)
		require.Empty(t, leak.In(out.String(), value+"-2"), action)
		require.Contains(t, out.String(), "redacted", "the output says that there is more")
	}
}

// A number that isn't quoted is the classic slip; the server quotes it when it refuses the type.
func TestNumbersInSecrets(t *testing.T) {
	c := newCluster(t)
	for _, field := range []string{"stringData", "data"} {
		for _, number := range []string{"4711", "271828", "3.14159", "[4711]", "{pin: 4711}", "true"} {
			out := &shown{}
			out.plan(c.planner.Plan(t.Context(), ssaplan.Request{Manifest: lab.Objectf(t,
				`{apiVersion: v1, kind: Secret, metadata: {name: pin}, %s: {pin: %s}}`, field, number)}))
			require.Error(t, out.last, "%s %s", field, number)
			for _, value := range []string{"4711", "271828", "3.14159"} {
				require.Empty(t, leak.In(out.String(), value), "%s %s", field, number)
			}
			require.Contains(t, out.String(), field+".pin", "what is wrong is said")
		}
	}
}
