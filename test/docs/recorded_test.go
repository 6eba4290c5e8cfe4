package docs_test

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/replay"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// recording is what a real server answered to an apply; make record writes it.
type recording struct{ replay.Recording }

func recordings(t *testing.T) map[string]recording {
	t.Helper()
	out := map[string]recording{}
	for _, r := range replay.Read(t, "../../ssaplan/explain/testdata/recorded") {
		out[r.Name] = recording{r}
	}
	return out
}

// plan plans the manifest with recorded answers, after edit changed the request.
func (r recording) plan(t *testing.T, server replay.Transport, edit func(*ssaplan.Request)) (*ssaplan.Plan, error) {
	t.Helper()
	planner, err := ssaplan.New(must(client.New(&rest.Config{Host: "http://recorded", Transport: server}, client.Options{})), ssaplan.Options{
		FieldManager: r.Manager, RefuseConflicts: r.Refusal != nil && r.Forced != nil, AllowVersionChange: true,
	})
	require.NoError(t, err)
	request := ssaplan.Request{Manifest: &unstructured.Unstructured{Object: r.Manifest}, Prior: r.State(t)}
	edit(&request)
	return planner.Plan(t.Context(), request)
}

var (
	plannedOnce sync.Once
	planned     map[string]*ssaplan.Plan
)

// recordedPlans returns a plan for each recording that has one, and for everything that no recording is about. All
// tests get the same plans, which they don't change.
func recordedPlans(t *testing.T) map[string]*ssaplan.Plan {
	t.Helper()
	plannedOnce.Do(func() { planned = planRecordings(t) })
	require.NotNil(t, planned, "the plans failed in another test")
	return maps.Clone(planned)
}

func planRecordings(t *testing.T) map[string]*ssaplan.Plan {
	t.Helper()
	all, out := recordings(t), map[string]*ssaplan.Plan{}
	for name, r := range all {
		if plan, err := r.plan(t, r.Respond, func(*ssaplan.Request) {}); err == nil {
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
		plan, err := r.plan(t, r.Respond, edit)
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
	refusing := func(method string, status metav1.Status) replay.Transport {
		return func(request *http.Request) any {
			if request.Method == method && !strings.HasSuffix(request.URL.Path, "/v1") {
				return status
			}
			return r.Respond(request)
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
		server   replay.Transport
		unknown  projection.Patterns
	}{
		{ssaplan.DeferralTypeNotServed, func(*http.Request) any {
			return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1"}
		}, nil},
		{ssaplan.DeferralNamespaceNotFound, func(request *http.Request) any {
			if request.Method == http.MethodPatch {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "gone").Status()
			}
			return gone.Respond(request)
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
