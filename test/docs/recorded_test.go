package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// recording is what a real server answered to an apply; make record writes it.
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

func recordings(t *testing.T) map[string]recording {
	t.Helper()
	files, err := filepath.Glob("../../ssaplan/explain/testdata/recorded/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 200)
	out := map[string]recording{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		r := recording{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		require.NoError(t, utiljson.Unmarshal(text, &r), file)
		out[r.name] = r
	}
	return out
}

// answer returns what the server answered: an object, a Status, or nil if that wasn't recorded.
func (r recording) answer(request *http.Request) any {
	obj := unstructured.Unstructured{Object: r.Manifest}
	version := obj.GroupVersionKind().GroupVersion()
	path := strings.TrimPrefix(strings.TrimPrefix(request.URL.Path, "/apis/"), "/api/")
	switch {
	case path == version.String():
		return metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: version.String(),
			APIResources: []metav1.APIResource{{Name: "things", Kind: obj.GetKind(), Namespaced: obj.GetNamespace() != ""}},
		}
	case request.Method == http.MethodGet && r.Live == nil:
		return apierrors.NewNotFound(version.WithResource("things").GroupResource(), obj.GetName()).Status()
	case request.Method == http.MethodGet:
		return r.Live
	case request.Method != http.MethodPatch:
		return apierrors.NewTimeoutError("not recorded", 0).Status()
	case r.Refusal == nil:
		return r.Answer
	case r.Forced != nil && request.URL.Query().Get("force") == "true":
		return r.Forced
	}
	return *r.Refusal
}

// transport answers requests; see [recording.answer].
type transport func(*http.Request) any

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, code := t(request), http.StatusOK
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

// plan plans the manifest with a server that answers as it is told, after edit changed what is planned.
func (r recording) plan(t *testing.T, server transport, edit func(*ssaplan.Request)) (*ssaplan.Plan, error) {
	t.Helper()
	planner, err := ssaplan.New(&rest.Config{Host: "http://recorded", Transport: server}, ssaplan.Options{
		FieldManager: r.Manager, RefuseConflicts: r.Refusal != nil && r.Forced != nil, AllowVersionChange: true,
	})
	require.NoError(t, err)
	request := ssaplan.Request{Manifest: &unstructured.Unstructured{Object: r.Manifest}}
	if r.Prior != nil {
		request.Prior, err = explain.NewState(r.Prior.Manifest, r.Prior.Object, fieldowner.Applier{Manager: r.Manager}, nil)
		require.NoError(t, err)
	}
	edit(&request)
	return planner.Plan(t.Context(), request)
}

// recordedPlans returns a plan for each recording that has one, and for everything that no recording is about.
func recordedPlans(t *testing.T) map[string]*ssaplan.Plan {
	t.Helper()
	all, out := recordings(t), map[string]*ssaplan.Plan{}
	for name, r := range all {
		if plan, err := r.plan(t, r.answer, func(*ssaplan.Request) {}); err == nil {
			out[name] = plan
		} else {
			require.NotNil(t, r.Refusal, "%s: %v", name, err)
		}
	}
	for deferral, plan := range all["secret-edited"].deferredPlans(t) {
		out["deferred: "+string(deferral)] = plan
	}
	for hazard, plan := range all["refused-immutable-data"].endangeringPlans(t) {
		out["hazard: "+string(hazard)] = plan
	}
	return out
}

// endangeringPlans returns replacements with the hazards that no recording has.
// Each is for another propagation policy.
func (r recording) endangeringPlans(t *testing.T) map[immutability.HazardKind]*ssaplan.Plan {
	t.Helper()
	was := func(kind string) func(*ssaplan.Request) {
		return func(request *ssaplan.Request) {
			request.Prior = &explain.State{Identity: identity.Identity{APIVersion: "v1", Kind: kind, Name: "old"}, UID: "5"}
		}
	}
	owned := unstructured.Unstructured{Object: r.Live}
	owned.SetFinalizers([]string{"example.com/backup"})
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Shop", Name: "a", UID: "7"}})
	out := map[immutability.HazardKind]*ssaplan.Plan{}
	for hazard, edit := range map[immutability.HazardKind]func(*ssaplan.Request){
		immutability.HazardContents: was("Namespace"), immutability.HazardData: was("PersistentVolumeClaim"),
		immutability.HazardBlocked: func(request *ssaplan.Request) { request.Propagation = metav1.DeletePropagationForeground },
		immutability.HazardOwner:   func(request *ssaplan.Request) { request.Propagation = metav1.DeletePropagationOrphan },
	} {
		plan, err := r.plan(t, r.answer, edit)
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionReplace, plan.Action, hazard)
		out[hazard] = plan
	}
	return out
}

// deferredPlans returns a plan for each deferral.
func (r recording) deferredPlans(t *testing.T) map[ssaplan.Deferral]*ssaplan.Plan {
	t.Helper()
	things := schema.GroupResource{Resource: "things"}
	refusing := func(method string, status metav1.Status) transport {
		return func(request *http.Request) any {
			if request.Method == method && !strings.HasSuffix(request.URL.Path, "/v1") {
				return status
			}
			return r.answer(request)
		}
	}
	unknown, err := projection.ParsePatterns("data.*")
	require.NoError(t, err)
	denied := errors.New(`User "jane" cannot get resource "things" in API group "" at the cluster scope`)
	gone := r
	gone.Live = nil
	out := map[ssaplan.Deferral]*ssaplan.Plan{}
	for _, row := range []struct {
		deferral ssaplan.Deferral
		server   transport
		unknown  projection.Patterns
	}{
		{ssaplan.DeferralTypeNotServed, func(*http.Request) any {
			return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1"}
		}, nil},
		{ssaplan.DeferralNamespaceNotFound, func(request *http.Request) any {
			if request.Method == http.MethodPatch {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "gone").Status()
			}
			return gone.answer(request)
		}, nil},
		{ssaplan.DeferralUnreadable, refusing(http.MethodGet, apierrors.NewForbidden(things, "x", denied).Status()), nil},
		{ssaplan.DeferralUnknownValues, refusing(http.MethodPatch, apierrors.NewBadRequest("no").Status()),
			unknown},
		{ssaplan.DeferralNoDryRun, refusing(http.MethodPatch,
			apierrors.NewBadRequest("admission webhook \"x\" does not support dry run").Status()), nil},
	} {
		plan, err := r.plan(t, row.server, func(request *ssaplan.Request) { request.Unknown = row.unknown })
		require.NoError(t, err, row.deferral)
		require.Equal(t, row.deferral, plan.Deferral, plan.Reason)
		out[row.deferral] = plan
	}
	return out
}
