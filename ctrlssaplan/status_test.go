package ctrlssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// budgets is a controller of PodDisruptionBudgets: a built-in kind whose status has conditions and other fields.
type budgets struct {
	*testing.T
	server   *ssaplantest.Server
	kit      *ctrlssaplan.Kit
	resource dynamic.ResourceInterface
}

func newBudgets(t *testing.T) *budgets {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	kit, err := ctrlssaplan.NewForDynamic(server.Client(), server.Mapper(), scheme, ctrlssaplan.Options{
		FieldManager: "budget-controller",
		NoOps:        ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1}),
		Conditions: func(owner client.Object) (*[]metav1.Condition, *int64) {
			status := &owner.(*policyv1.PodDisruptionBudget).Status
			return &status.Conditions, &status.ObservedGeneration
		},
	})
	require.NoError(t, err)
	b := &budgets{t, server, kit, server.Client().Resource(policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")).Namespace("default")}
	obj := budget(nil)
	obj.Object["spec"] = map[string]any{"maxUnavailable": int64(1)} // of an object without any field a server records nothing
	_, err = b.resource.Create(t.Context(), obj, metav1.CreateOptions{FieldManager: "user"})
	require.NoError(t, err)
	return b
}

func budget(status map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "site", "namespace": "default"},
	}}
	if status != nil {
		obj.Object["status"] = status
	}
	return obj
}

// get returns the owner as the server has it.
func (b *budgets) get() *policyv1.PodDisruptionBudget {
	b.Helper()
	obj, err := b.resource.Get(b.Context(), "site", metav1.GetOptions{})
	require.NoError(b, err)
	owner := &policyv1.PodDisruptionBudget{}
	require.NoError(b, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, owner))
	return owner
}

func (b *budgets) reconcile(owner *policyv1.PodDisruptionBudget) {
	b.Helper()
	_, err := b.kit.Reconcile(b.Context(), owner, threeChildren("a")[:1], ctrlssaplan.Policy{})
	require.NoError(b, err)
}

// applies has another controller apply fields of the status.
func (b *budgets) applies(manager string, status map[string]any) {
	b.Helper()
	_, err := b.resource.ApplyStatus(b.Context(), "site", budget(status), metav1.ApplyOptions{FieldManager: manager, Force: true})
	require.NoError(b, err)
}

// oneCondition is the conditions of a status that has one.
func oneCondition(kind, status string) []any {
	return []any{map[string]any{"type": kind, "status": status, "reason": "R", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
}

// reconcileMeanwhile reconciles an owner to which another controller applies a status just before the kit writes it.
func (b *budgets) reconcileMeanwhile(owner *policyv1.PodDisruptionBudget, status map[string]any) {
	b.Helper()
	first := true
	stop := b.server.Answer(func(r ssaplantest.Request) error {
		if r.Subresource == "status" && first {
			first = false
			b.applies("other", status)
		}
		return nil
	})
	b.reconcile(owner)
	stop()
	require.False(b, first)
}

func (b *budgets) requireReady() {
	b.Helper()
	owner := b.get()
	require.True(b, meta.IsStatusConditionTrue(owner.Status.Conditions, ctrlssaplan.ConditionReady))
	require.Equal(b, owner.Generation, owner.Status.ObservedGeneration)
}

// What the caller sets in the status is written, whether or not a condition changes, and nothing is sent without a
// change.
func TestTheStatusOfTheCallerIsWritten(t *testing.T) {
	b := newBudgets(t)
	for _, healthy := range []int32{1, 2, 0} {
		owner := b.get()
		owner.Status.CurrentHealthy = healthy
		b.reconcile(owner)
		require.Equal(t, b.get(), owner, "it is as the server has it")
		require.Equal(t, healthy, owner.Status.CurrentHealthy)
		b.requireReady()
		version := owner.ResourceVersion
		b.reconcile(b.get())
		require.Equal(t, version, b.get().ResourceVersion)
	}
	owner := b.get()
	owner.Status.DisruptedPods = map[string]metav1.Time{"a": metav1.Unix(1e9, 0)}
	b.reconcile(owner)
	owner.Status.DisruptedPods = nil
	b.reconcile(owner)
	require.Empty(t, b.get().Status.DisruptedPods, "what the caller removes is removed")
}

// The status of the caller survives a conflict, and what other controllers write into the status stays theirs.
func TestTheStatusIsShared(t *testing.T) {
	b := newBudgets(t)
	b.reconcile(b.get())
	owner := b.get()
	owner.Status.CurrentHealthy = 7
	b.reconcileMeanwhile(owner, map[string]any{"disruptionsAllowed": int64(3), "conditions": oneCondition("Theirs", "True")})
	b.requireReady()
	status := b.get().Status
	require.EqualValues(t, 7, status.CurrentHealthy)
	require.EqualValues(t, 3, status.DisruptionsAllowed)
	require.True(t, meta.IsStatusConditionTrue(status.Conditions, "Theirs"))

	owner = b.get()
	owner.Status.CurrentHealthy = 8
	b.reconcile(owner)
	b.applies("other", map[string]any{"disruptionsAllowed": int64(4)})
	status = b.get().Status
	require.EqualValues(t, 8, status.CurrentHealthy)
	require.EqualValues(t, 4, status.DisruptionsAllowed)
	require.Nil(t, meta.FindStatusCondition(status.Conditions, "Theirs"), "its owner dropped it, so no one else had it")

	owner = b.get()
	owner.Status.DisruptionsAllowed = 5
	b.reconcile(owner)
	require.EqualValues(t, 5, b.get().Status.DisruptionsAllowed, "what the caller sets it takes over")
}

// updates has the status written by an update of the controller, as by one before it took this kit.
func (b *budgets) updates(status map[string]any) {
	b.Helper()
	obj, err := b.resource.Get(b.Context(), "site", metav1.GetOptions{})
	require.NoError(b, err)
	obj.Object["status"] = status
	_, err = b.resource.UpdateStatus(b.Context(), obj, metav1.UpdateOptions{FieldManager: "budget-controller"})
	require.NoError(b, err)
}

// labels has another one write to the object, so that an owner that was read before is an old one.
func (b *budgets) labels() {
	b.Helper()
	obj, err := b.resource.Get(b.Context(), "site", metav1.GetOptions{})
	require.NoError(b, err)
	obj.SetLabels(map[string]string{"seen": "true"})
	_, err = b.resource.Update(b.Context(), obj, metav1.UpdateOptions{FieldManager: "labeller"})
	require.NoError(b, err)
}

// What the caller sets survives a conflict, even if an update of the controller owns it, and so does what that update
// wrote besides and another controller has changed meanwhile.
func TestAConflictAfterAnUpdate(t *testing.T) {
	b := newBudgets(t)
	b.updates(map[string]any{"currentHealthy": int64(5), "expectedPods": int64(3)})
	owner := b.get()
	owner.Status.CurrentHealthy = 6
	b.reconcileMeanwhile(owner, map[string]any{"disruptionsAllowed": int64(3), "expectedPods": int64(4)})
	status := b.get().Status
	require.EqualValues(t, 6, status.CurrentHealthy)
	require.EqualValues(t, 3, status.DisruptionsAllowed)
	require.EqualValues(t, 4, status.ExpectedPods)
	require.Equal(t, b.get(), owner)
}

// What the caller sets in an owner that has changed meanwhile is written, if the managers of the field haven't written
// since. If they have, the caller gets an error, and the field stays theirs.
func TestAnOldOwner(t *testing.T) {
	b := newBudgets(t)
	b.reconcile(b.get())
	b.applies("other", map[string]any{"disruptionsAllowed": int64(3)})
	owner := b.get()
	owner.Status.DisruptionsAllowed = 5
	b.labels()
	b.reconcile(owner)
	require.EqualValues(t, 5, b.get().Status.DisruptionsAllowed)

	owner = b.get()
	owner.Status.DisruptionsAllowed, owner.Status.CurrentHealthy = 6, 6
	b.applies("another", map[string]any{"disruptionsAllowed": int64(4)})
	_, err := b.kit.Reconcile(t.Context(), owner, threeChildren("a")[:1], ctrlssaplan.Policy{})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.ErrorContains(t, err, "status.disruptionsAllowed")
	status := b.get().Status
	require.EqualValues(t, 4, status.DisruptionsAllowed)
	require.EqualValues(t, 6, status.CurrentHealthy, "what is clear is written")

	owner = b.get()
	b.applies("another", map[string]any{"disruptionsAllowed": int64(4), "conditions": oneCondition("Theirs", "True")})
	b.reconcile(owner)
	require.NotNil(t, meta.FindStatusCondition(b.get().Status.Conditions, "Theirs"), "what an old owner knows nothing of stays")
}

// What the controller wrote by an update goes when the caller removes it, which an apply alone doesn't do. A condition
// that an update wrote gets the kit's value.
func TestWhatWasUpdatedIsRemoved(t *testing.T) {
	b := newBudgets(t)
	b.updates(map[string]any{
		"currentHealthy": int64(5), "disruptedPods": map[string]any{"a": "2026-01-01T00:00:00Z"}, "conditions": oneCondition("Ready", "False"),
	})
	b.applies("other", map[string]any{"expectedPods": int64(4)})
	owner := b.get()
	owner.Status.DisruptedPods = nil
	b.reconcile(owner)
	require.Empty(t, b.get().Status.DisruptedPods)
	require.EqualValues(t, 5, b.get().Status.CurrentHealthy)
	b.requireReady()
	version := b.get().ResourceVersion
	b.reconcile(b.get())
	require.Equal(t, version, b.get().ResourceVersion)

	owner = b.get()
	owner.Status.Conditions = append(owner.Status.Conditions, metav1.Condition{Type: "Ours", Status: metav1.ConditionTrue, Reason: "R"})
	b.applies("other", map[string]any{"disruptedPods": map[string]any{"b": "2026-01-01T00:00:00Z"}})
	owner.Status = policyv1.PodDisruptionBudgetStatus{Conditions: owner.Status.Conditions}
	b.reconcile(owner)
	require.NotEmpty(t, b.get().Status.DisruptedPods, "what others own stays where the caller makes the status anew")
}
