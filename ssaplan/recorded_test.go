package ssaplan_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/internal/replay"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// recording is what a real server answered to an apply.
type recording struct{ replay.Recording }

func recordings(tb testing.TB) []recording {
	tb.Helper()
	var out []recording
	for _, r := range replay.Read(tb, "explain/testdata/recorded") {
		out = append(out, recording{r})
	}
	return out
}

func (r recording) plan(t *testing.T) (*ssaplan.Plan, error) {
	t.Helper()
	config := &rest.Config{Host: "http://recorded", Transport: replay.Transport(r.Respond)}
	planner := connect(t, config, ssaplan.Options{
		FieldManager: r.Manager, RefuseConflicts: r.Refusal != nil && r.Forced != nil, AllowVersionChange: true,
		SkipFormats: true, // no definition is recorded
	})
	return planner.Plan(t.Context(), ssaplan.Request{Manifest: &unstructured.Unstructured{Object: r.Manifest}, Prior: r.State(t)})
}

// For each recorded answer, the Planner returns the same explanation as package explain.
func TestPlannerExplainsAsTheServerAnswered(t *testing.T) {
	for _, r := range recordings(t) {
		if r.Refusal != nil || strings.HasSuffix(r.Name, "-raw") { // which the Planner would send otherwise
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			plan, err := r.plan(t)
			require.NoError(t, err)
			in := explain.Input{Manifest: r.Manifest, Live: r.Live, Answer: r.Answer, Manager: r.Manager, Prior: r.State(t)}
			want, err := explain.Apply(in)
			require.NoError(t, err)
			action := ssaplan.ActionUpdate
			switch {
			case r.Live == nil:
				action = ssaplan.ActionCreate
			case want.NoOp:
				action = ssaplan.ActionNoOp
			}
			require.Equal(t, action, plan.Action)
			require.Equal(t, fmt.Sprint(want.Changes, want.Ownership, want.Dropped, want.Assigned, want.Generated, want.Ineffective, want.Warnings),
				fmt.Sprint(plan.Changes, plan.Ownership, plan.Dropped, plan.Assigned, plan.Generated, plan.Ineffective, plan.Warnings))
			sameProjection(t, want.Before, plan.Before)
			sameProjection(t, want.After, plan.After)
			require.Equal(t, 2, plan.Requests)
			require.Empty(t, plan.Conflicts)
			if r.Live != nil {
				require.Equal(t, r.Live, plan.Live().Object)
			}
			require.Equal(t, r.Answer, plan.Result().Object)
			owners, err := plan.OwnershipAfter()
			require.NoError(t, err)
			require.Equal(t, len((&unstructured.Unstructured{Object: r.Answer}).GetManagedFields()), len(owners.Entries()))
			sameAfterReading(t, plan)
		})
	}
}

func sameProjection(t *testing.T, want, got projection.Projection) {
	t.Helper()
	require.Equal(t, want.Object, got.Object)
	require.True(t, want.Fields.Equal(got.Fields))
	require.Equal(t, want.Missing, got.Missing)
	require.Equal(t, want.Duplicates, got.Duplicates)
}

// The file testdata/refused.txt contains the plans for all recorded refusals. UPDATE=1 rewrites it, for review.
func TestPlannerJudgesRefusals(t *testing.T) {
	var lines []string
	for _, r := range recordings(t) {
		if r.Refusal == nil {
			continue
		}
		lines = append(lines, "# "+r.Name)
		plan, err := r.plan(t)
		if err != nil {
			lines = append(lines, "error: "+err.Error())
			continue
		}
		sameAfterReading(t, plan)
		lines = append(lines, fmt.Sprintf("%s: %s", plan.Action, plan.Reason))
		for _, c := range plan.Conflicts {
			lines = append(lines, "conflict: "+c.String())
		}
		for _, c := range plan.Changes {
			lines = append(lines, "change: "+c.String())
		}
		if replacement := plan.Replacement; replacement != nil {
			lines = append(lines, fmt.Sprintf("refusal: %v", replacement.Refusal))
			lines = append(lines, fmt.Sprintf("evidence: %s; fields %v; hazards %v", replacement.Evidence, replacement.Fields, replacement.Hazards))
		}
		lines = append(lines, fmt.Sprintf("warnings: %q", plan.Warnings))
	}
	text := strings.Join(lines, "\n") + "\n"
	const file = "testdata/refused.txt"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

// sameAfterReading expects a plan that was written and read to be written the same again.
func sameAfterReading(t *testing.T, plan *ssaplan.Plan) {
	t.Helper()
	text := mustMarshal(t, plan)
	var read ssaplan.Plan
	require.NoError(t, json.Unmarshal(text, &read))
	again := mustMarshal(t, read)
	require.Equal(t, string(text), string(again))
}

// connect returns a planner with the client of package client.
func connect(tb testing.TB, config *rest.Config, options ssaplan.Options) *ssaplan.Planner {
	tb.Helper()
	api, err := client.New(config, client.Options{})
	require.NoError(tb, err)
	return mustNew(tb, api, options)
}
