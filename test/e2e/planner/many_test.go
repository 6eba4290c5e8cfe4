package planner_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// many are objects that are planned and applied 32 at a time, on a server of the test's own that counts writes.
type many struct {
	server   *controlplane.Server
	admin    kubernetes.Interface
	planner  *ssaplan.Planner
	clock    *clock.Fake
	requests []ssaplan.Request

	mu       sync.Mutex
	answered map[string]int // how often the server said that it wrote an object
}

const concurrency = 32

func newMany(t *testing.T, objects int, server *controlplane.Server, config *rest.Config) *many {
	m := &many{server: server, clock: &clock.Fake{}, admin: kubernetes.NewForConfigOrDie(server.Config()), answered: map[string]int{}}
	config.Timeout = time.Minute
	var err error
	m.planner, err = lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, Concurrency: concurrency, Observe: m.observe})
	require.NoError(t, err)
	for i := range objects {
		request := ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: many-%d, namespace: default}}", i)}
		m.requests = append(m.requests, request)
	}
	m.countWrites(t)
	return m
}

func (m *many) observe(_ context.Context, o server.Observation) {
	if o.Verb == "patch" && !o.DryRun && o.Status/100 == 2 && o.Class == authresilience.ClassNone {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.answered[o.Object.Name]++
	}
}

// edit has each manifest declare another value.
func (m *many) edit(value string) {
	for _, request := range m.requests {
		set(request.Manifest, value, "data", "value")
	}
}

// planAll plans each object, and demands that a failure is one of the connection.
func (m *many) planAll(t *testing.T) (plans []*ssaplan.Plan, failures int) {
	for plan, err := range m.planner.PlanAll(clock.With(t.Context(), m.clock), m.requests) {
		if err != nil {
			requireConnectionError(t, err)
			failures++
			continue
		}
		plans = append(plans, plan)
	}
	return plans, failures
}

// outcome is what came of applying a plan.
type outcome struct {
	plan *ssaplan.Plan
	err  error
}

// applyAll applies the plans, many at a time, and yields the outcomes as they come.
func (m *many) applyAll(t *testing.T, plans []*ssaplan.Plan, yield func(outcome)) {
	queue, outcomes := make(chan *ssaplan.Plan), make(chan outcome, len(plans))
	for range concurrency {
		go func() {
			for plan := range queue {
				_, err := m.planner.Apply(clock.With(t.Context(), m.clock), plan)
				outcomes <- outcome{plan, err}
			}
		}()
	}
	go func() {
		defer close(queue)
		for _, plan := range plans {
			queue <- plan
		}
	}()
	for range plans {
		yield(<-outcomes)
	}
}

// create applies all objects for the first time.
func (m *many) create(t *testing.T) {
	m.edit("0")
	plans, failures := m.planAll(t)
	require.Zero(t, failures)
	m.applyAll(t, plans, func(o outcome) { require.NoError(t, o.err) })
	m.requireWrites(t, "0", 1)
	m.answered = map[string]int{}
}

// requireWrites demands that each object has the value, that it was written so often, and that planning finds nothing
// left to do.
func (m *many) requireWrites(t *testing.T, value string, writes int) {
	list, err := m.admin.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	seen := map[string]int{}
	for _, item := range list.Items {
		if len(item.Data) > 0 {
			seen[fmt.Sprintf("%s, written %s", item.Data["value"], item.Annotations["writes"])]++
		}
	}
	require.Equal(t, map[string]int{fmt.Sprintf("%s, written %d", value, writes): len(m.requests)}, seen)
	plans, failures := m.planAll(t)
	require.Zero(t, failures)
	for _, plan := range plans {
		require.Equal(t, ssaplan.ActionNoOp, plan.Action, "%v", plan)
	}
}

// requireConnectionError checks that an error names the object and is of a class that a server which comes and goes
// causes.
func requireConnectionError(t *testing.T, err error) {
	require.ErrorContains(t, err, "v1/ConfigMap default/many-")
	require.Contains(t, []authresilience.Class{authresilience.ClassConnection, authresilience.ClassBrokenOff, authresilience.ClassTimeout, authresilience.ClassUnavailable, authresilience.ClassThrottled},
		authresilience.Classify(err), "%v", err)
}

// countWrites has the server count in an annotation how often it writes a ConfigMap. A write of what is there already,
// which would otherwise leave no trace, counts too.
func (m *many) countWrites(t *testing.T) {
	hook := httptest.NewTLSServer(http.HandlerFunc(countWrite))
	t.Cleanup(hook.Close)
	sideEffects := admissionv1.SideEffectClassNoneOnDryRun
	_, err := m.admin.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "counter"},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name:                    "counter.example.com",
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             &sideEffects,
			TimeoutSeconds:          new(int32(30)), // the longest, for slow machines
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			ClientConfig: admissionv1.WebhookClientConfig{
				URL:      &hook.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}),
			},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	configMaps := m.admin.CoreV1().ConfigMaps("default")
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "counted-"}}, metav1.CreateOptions{})
		return err == nil && probe.Annotations["writes"] == "1", err
	})
	require.NoError(t, err, "writes are not counted")
}

// countWrite is the webhook. What is only tried it leaves as it is.
func countWrite(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Metadata struct{ Annotations map[string]string }
	}
	var review struct {
		Request struct {
			UID               string
			DryRun            bool
			Object, OldObject object
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request := review.Request
	response := map[string]any{"uid": request.UID, "allowed": true}
	if !request.DryRun {
		writes, _ := strconv.Atoi(request.OldObject.Metadata.Annotations["writes"])
		annotations := map[string]string{"writes": strconv.Itoa(writes + 1)}
		patch, _ := json.Marshal([]any{map[string]any{"op": "add", "path": "/metadata/annotations", "value": annotations}})
		response["patchType"], response["patch"] = "JSONPatch", patch
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}
