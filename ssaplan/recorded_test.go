package ssaplan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// recording is what a real server answered to an apply, see package explain.
type recording struct {
	name     string
	Manager  string         `json:"manager"`
	Manifest map[string]any `json:"manifest"`
	Prior    *struct {
		Manifest map[string]any `json:"manifest"`
		Object   map[string]any `json:"object"`
	} `json:"prior"`
	Live    map[string]any `json:"live"`
	Answer  map[string]any `json:"answer"`
	Forced  map[string]any `json:"forced"`
	Refusal *metav1.Status `json:"refusal"`
}

func recordings(tb testing.TB) []recording {
	tb.Helper()
	files, err := filepath.Glob("explain/testdata/recorded/*.json")
	require.NoError(tb, err)
	require.Greater(tb, len(files), 200)
	var out []recording
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(tb, err)
		r := recording{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		require.NoError(tb, utiljson.Unmarshal(text, &r), file)
		out = append(out, r)
	}
	return out
}

// RoundTrip answers like the server did. Dry runs that weren't recorded fail.
func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	obj := unstructured.Unstructured{Object: r.Manifest}
	group := obj.GetAPIVersion()
	var answer any
	switch path := strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, "/apis/"), "/api/"); {
	case path == group:
		answer = metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: group,
			APIResources: []metav1.APIResource{{Name: "things", Kind: obj.GetKind(), Namespaced: obj.GetNamespace() != ""}},
		}
	case request.Method == http.MethodGet && r.Live == nil:
		answer = apierrors.NewNotFound(obj.GroupVersionKind().GroupVersion().WithResource("things").GroupResource(), obj.GetName()).Status()
	case request.Method == http.MethodGet:
		answer = r.Live
	case request.Method == http.MethodPatch && r.Refusal == nil:
		answer = r.Answer
	case request.Method == http.MethodPatch && r.Forced != nil && request.URL.Query().Get("force") == "true":
		answer = r.Forced
	case request.Method == http.MethodPatch:
		answer = *r.Refusal
	default:
		return nil, errors.New("not recorded")
	}
	code := http.StatusOK
	if status, isStatus := answer.(metav1.Status); isStatus {
		code = int(status.Code)
		status.Kind, status.APIVersion = "Status", "v1"
		answer = status
	}
	text, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)),
	}, err
}

func (r recording) plan(t *testing.T) (*ssaplan.Plan, error) {
	t.Helper()
	config := &rest.Config{Host: "http://recorded", Transport: r}
	planner, err := ssaplan.New(config, ssaplan.Options{
		FieldManager: r.Manager, RefuseConflicts: r.Refusal != nil && r.Forced != nil, AllowVersionChange: true,
	})
	require.NoError(t, err)
	request := ssaplan.Request{Manifest: &unstructured.Unstructured{Object: r.Manifest}}
	if r.Prior != nil {
		request.Prior, err = explain.NewState(r.Prior.Manifest, r.Prior.Object, fieldowner.Applier{Manager: r.Manager}, nil)
		require.NoError(t, err)
	}
	return planner.Plan(t.Context(), request)
}

// The Planner adds nothing to what package explain tells of the same answers, and leaves nothing out.
func TestPlannerExplainsAsTheServerAnswered(t *testing.T) {
	for _, r := range recordings(t) {
		if r.Refusal != nil || strings.HasSuffix(r.name, "-raw") { // which the Planner would send otherwise
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			plan, err := r.plan(t)
			require.NoError(t, err)
			in := explain.Input{Manifest: r.Manifest, Live: r.Live, Answer: r.Answer, Manager: r.Manager}
			if r.Prior != nil {
				in.Prior, err = explain.NewState(r.Prior.Manifest, r.Prior.Object, fieldowner.Applier{Manager: r.Manager}, nil)
				require.NoError(t, err)
			}
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

// What the Planner makes of refusals stands in testdata/refused.txt. UPDATE=1 writes it, for review.
func TestPlannerJudgesRefusals(t *testing.T) {
	var lines []string
	for _, r := range recordings(t) {
		if r.Refusal == nil {
			continue
		}
		lines = append(lines, "# "+r.name)
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
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	var read ssaplan.Plan
	require.NoError(t, json.Unmarshal(text, &read))
	again, err := json.Marshal(read)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}
