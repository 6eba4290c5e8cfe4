package ctrlssaplan_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// configMaps are owners and children here: a kind that every server has. The conditions of an owner are kept beside it.
var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// kitWorld is a controller on a server in memory, with one owner.
type kitWorld struct {
	*testing.T
	server     *ssaplantest.Server
	kit        *ctrlssaplan.Kit
	owner      *corev1.ConfigMap
	conditions []metav1.Condition
	events     chan string
	ready      bool
	said       foreign.Text // by children that aren't ready
	sensitive  string       // a pattern, if any
}

func newKitWorld(t *testing.T) *kitWorld {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	w := &kitWorld{T: t, server: server, events: make(chan string, 100), ready: true}
	w.owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "site"}}
	made, err := w.resource().Create(t.Context(), w.content(w.owner), metav1.CreateOptions{})
	require.NoError(t, err)
	w.owner.UID, w.owner.ResourceVersion = made.GetUID(), made.GetResourceVersion()
	w.start()
	return w
}

func (w *kitWorld) resource() dynamic.ResourceInterface {
	return w.server.Client().Resource(configMaps.GroupVersion().WithResource("configmaps")).Namespace("default")
}

// start replaces the controller by a new one, which remembers nothing.
func (w *kitWorld) start() {
	scheme := runtime.NewScheme()
	require.NoError(w, clientgoscheme.AddToScheme(scheme))
	recorder := record.NewFakeRecorder(100)
	recorder.Events = w.events
	var sensitive projection.Patterns
	if w.sensitive != "" {
		var err error
		sensitive, err = projection.ParsePatterns(w.sensitive)
		require.NoError(w, err)
	}
	kit, err := ctrlssaplan.NewForDynamic(w.server.Client(), w.server.Mapper(), scheme, ctrlssaplan.Options{
		FieldManager: "site-controller", Kinds: []schema.GroupVersionKind{configMaps}, Events: recorder,
		NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1}),
		Ready: func(*unstructured.Unstructured) set.Readiness {
			return set.Readiness{Ready: w.ready, Why: "starting", Said: w.said}
		},
		Sensitive:  sensitive,
		Conditions: func(client.Object) (*[]metav1.Condition, *int64) { return &w.conditions, nil },
	})
	require.NoError(w, err)
	w.kit = kit
}

func (w *kitWorld) content(obj any) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(w, err)
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(configMaps)
	return u
}

func (w *kitWorld) reconcile(policy ctrlssaplan.Policy, children ...ctrlssaplan.Child) ctrl.Result {
	w.Helper()
	result, err := w.kit.Reconcile(w.Context(), w.owner, children, policy)
	require.NoError(w, err)
	return result
}

// condition returns status and reason of a condition, and its message.
func (w *kitWorld) condition(kind string) (is, message string) {
	for _, c := range w.conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason, c.Message
		}
	}
	return "", ""
}

// writes counts what was sent that could write, and tries are dry runs.
func (w *kitWorld) writes() (writes, tries int) {
	for _, r := range w.server.Requests() {
		switch {
		case r.DryRun:
			tries++
		case r.Verb != "get" && r.Verb != "list":
			writes++
		}
	}
	return writes, tries
}

func (w *kitWorld) value(name string) any {
	obj, err := w.resource().Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	value, _, _ := unstructured.NestedString(obj.Object, "data", "k")
	return value
}

func (w *kitWorld) patch(name, manager, body string) {
	_, err := w.resource().Patch(w.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: manager})
	require.NoError(w, err)
}

// remove deletes the child typed, as another client does.
func (w *kitWorld) remove() {
	require.NoError(w, w.resource().Delete(w.Context(), "typed", metav1.DeleteOptions{}))
}

// threeChildren are a typed object, an unstructured one and an apply configuration.
func threeChildren(value string) []ctrlssaplan.Child {
	return []ctrlssaplan.Child{
		{Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "typed"}, Data: map[string]string{"k": value}}},
		{Object: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": "default", "name": "free"}, "data": map[string]any{"k": value}}}},
		{Object: corev1ac.ConfigMap("declared", "default").WithData(map[string]string{"k": value})},
	}
}

func TestChildrenOfAllForms(t *testing.T) {
	w := newKitWorld(t)
	require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...))
	for _, name := range []string{"typed", "free", "declared"} {
		require.Equal(t, "a", w.value(name))
		obj, err := w.resource().Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.True(t, metav1.IsControlledBy(obj, w.owner))
	}
	is, _ := w.condition(ctrlssaplan.ConditionReady)
	require.Equal(t, "True AsDeclared", is)
	require.Contains(t, <-w.events, "Created")

	w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...) // asks once about what was made
	writes, tries := w.writes()
	w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
	againWrites, againTries := w.writes()
	require.Equal(t, [2]int{writes, tries}, [2]int{againWrites, againTries}, "nothing is asked or written at rest")

	w.start()
	w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
	againWrites, _ = w.writes()
	require.Equal(t, writes, againWrites, "a restart writes nothing")
}

// What is no longer wanted goes: because it isn't named any more, or is named as absent; also after a restart.
func TestPruning(t *testing.T) {
	w := newKitWorld(t)
	others := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs"}}
	_, err := w.resource().Create(t.Context(), w.content(others), metav1.CreateOptions{})
	require.NoError(t, err)
	all := threeChildren("a")
	w.reconcile(ctrlssaplan.Policy{}, all...)
	w.start()
	all[1].Absent = true
	theirs := ctrlssaplan.Child{Object: w.content(others), Absent: true}
	w.reconcile(ctrlssaplan.Policy{}, all[1], all[2], theirs)
	require.Contains(t, w.value("typed"), "not found")
	require.Contains(t, w.value("free"), "not found")
	require.Equal(t, "a", w.value("declared"))
	require.Equal(t, "", w.value("theirs"), "it isn't the owner's")
	is, _ := w.condition(ctrlssaplan.ConditionSynced)
	require.Equal(t, "True AsDeclared", is)
}

// What is done about drift. TestMessages has what is said of it.
func TestDriftIsRepairedReportedOrLeft(t *testing.T) {
	w := newKitWorld(t)
	children := threeChildren("a")[:1]
	w.reconcile(ctrlssaplan.Policy{}, children...)
	drift := func(value string) { w.patch("typed", "night-shift", fmt.Sprintf(`{"data":{"k":%q}}`, value)) }

	drift("x")
	w.reconcile(ctrlssaplan.Policy{Drift: ctrlssaplan.DriftReport}, children...)
	require.Equal(t, "x", w.value("typed"))
	writes, _ := w.writes()
	w.reconcile(ctrlssaplan.Policy{Drift: ctrlssaplan.DriftReport}, children...)
	again, _ := w.writes()
	require.Equal(t, writes, again, "what is reported is left as it is")
	edited := threeChildren("a")[0]
	edited.Object.(*corev1.ConfigMap).Data["other"] = "edit"
	w.reconcile(ctrlssaplan.Policy{Drift: ctrlssaplan.DriftReport}, edited)
	require.Equal(t, "a", w.value("typed"), "an edit is applied as a whole")
	w.start() // the new kit remembers no repair
	w.reconcile(ctrlssaplan.Policy{}, children...)

	for i := range 5 {
		drift(fmt.Sprint(i))
		require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, children...))
		require.Equal(t, "a", w.value("typed"))
	}
	drift("again")
	require.Positive(t, w.reconcile(ctrlssaplan.Policy{}, children...).RequeueAfter)
	require.Equal(t, "again", w.value("typed"), "somebody else is as stubborn")
	require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, threeChildren("b")[:1]...), "an edit is another matter")
	require.Equal(t, "b", w.value("typed"))
}

// If another client deletes a child each time the kit creates it, the kit stops after 5 repairs, as it does for changed
// values. An edit of the owner lets it create the child again.
func TestADeletionFightIsLeft(t *testing.T) {
	w := newKitWorld(t)
	children := threeChildren("a")[:1]
	leftAfter := func(repairs int) {
		t.Helper()
		for range repairs {
			w.remove()
			require.Zero(t, w.reconcile(ctrlssaplan.Policy{Drift: ctrlssaplan.DriftReport}, children...), "what isn't there is made by any policy")
			require.Equal(t, "a", w.value("typed"))
		}
		w.remove()
		require.Positive(t, w.reconcile(ctrlssaplan.Policy{}, children...).RequeueAfter)
		require.Contains(t, w.value("typed"), "not found")
	}
	w.reconcile(ctrlssaplan.Policy{}, children...)
	leftAfter(5)
	w.owner.Labels = map[string]string{"noticed": "no"}
	require.Positive(t, w.reconcile(ctrlssaplan.Policy{}, children...).RequeueAfter, "that is no edit of its content")
	w.owner.Data = map[string]string{"an": "edit"} // of a kind that has no generation
	require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, children...), "the owner was edited")
	require.Equal(t, "a", w.value("typed"))
	leftAfter(4) // once more five times
	w.owner.Generation++
	require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, children...), "the owner was edited")
	leftAfter(4)
	w.start()
	require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, children...), "after a restart it is new")
	require.Equal(t, "a", w.value("typed"))
}

func TestLongMessagesAreCut(t *testing.T) {
	w := newKitWorld(t)
	w.ready, w.said = false, foreign.Text(strings.Repeat("ä", 1000))
	w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")[:1]...)
	_, message := w.condition(ctrlssaplan.ConditionReady)
	require.Regexp(t, "^ConfigMap typed: starting.*ää…$", message, "a whole character is its last")
	require.LessOrEqual(t, len(message), 1000+len("…"))
}

// A warning of a plan is an event of the owner, once.
func TestWarningsOfPlans(t *testing.T) {
	w := newKitWorld(t)
	child := threeChildren("a")[0]
	w.reconcile(ctrlssaplan.Policy{}, child)
	w.take()
	child.Clear = []string{"data.mispelt"}
	for range 3 {
		w.reconcile(ctrlssaplan.Policy{}, child)
	}
	require.Equal(t, "Warning PlanWarning ConfigMap typed: data.mispelt: matches no field to clear; correct the path, or remove it if the field is already cleared", <-w.events)
	require.Empty(t, w.events)
}

// TestMessages has what is wrong with other children.
func TestWhatIsWrongWithChildren(t *testing.T) {
	w := newKitWorld(t)
	_, err := w.kit.Reconcile(t.Context(), w.owner, []ctrlssaplan.Child{{Object: 7}}, ctrlssaplan.Policy{})
	require.Error(t, err)
	clearing := threeChildren("a")[0]
	clearing.Clear = []string{"data.[k"}
	require.Positive(t, w.reconcile(ctrlssaplan.Policy{}, clearing).RequeueAfter)
	is, message := w.condition(ctrlssaplan.ConditionRefused)
	require.Equal(t, "True Refused", is)
	require.Contains(t, message, "data.[k")
}

// FromClient and NewServer reject controller-runtime's fake client in every parameter, also inside wrappers.
func TestTheFakeClientIsRecognised(t *testing.T) {
	usual := fake.NewClientBuilder().Build()
	genuine, err := client.New(&rest.Config{Host: "http://127.0.0.1:1"}, client.Options{Mapper: meta.NewDefaultRESTMapper(nil)})
	require.NoError(t, err)
	_, err = ctrlssaplan.FromClient(genuine, genuine, client.WithFieldOwner(genuine, "m"))
	require.NoError(t, err)
	for what, c := range map[string]client.Client{
		"alone": usual, "with a field owner": client.WithFieldOwner(usual, "m"), "in a namespace": client.NewNamespacedClient(usual, "default"),
		"with interceptors": fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{}).Build(), "in one of the host's": struct{ client.Client }{usual},
	} {
		for _, of := range [][3]client.Client{{c, genuine, genuine}, {genuine, c, genuine}, {genuine, genuine, c}, {genuine, genuine, client.WithFieldOwner(c, "m")}} {
			_, err = ctrlssaplan.FromClient(of[0], of[1], of[2])
			require.ErrorIs(t, err, ctrlssaplan.ErrFakeClient, what)
			require.ErrorContains(t, err, "ssaplantest")
		}
		_, err = ctrlssaplan.NewServer(c, ctrlssaplan.ServerOptions{})
		require.ErrorIs(t, err, ctrlssaplan.ErrFakeClient, what)
		_, err = ctrlssaplan.NewServer(genuine, ctrlssaplan.ServerOptions{Reader: c})
		require.ErrorIs(t, err, ctrlssaplan.ErrFakeClient, what)
	}
	_, err = ctrlssaplan.NewServer(nil, ctrlssaplan.ServerOptions{})
	require.ErrorContains(t, err, "no client")
	_, err = ctrlssaplan.NewServer(genuine, ctrlssaplan.ServerOptions{})
	require.NoError(t, err)
}

// The metric of cache hits counts the hits of all kits, also of kits whose no-op cache the caller created.
func TestTheNumbersOfAllCachesAreShown(t *testing.T) {
	hits := func() float64 {
		families, err := metrics.Registry.Gather()
		require.NoError(t, err)
		for _, family := range families {
			if family.GetName() == "ctrlssaplan_noop_cache_hits" {
				return family.GetMetric()[0].GetGauge().GetValue()
			}
		}
		return -1
	}
	first, second := newKitWorld(t), newKitWorld(t)
	for _, w := range []*kitWorld{second, first} {
		w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
		w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
		before := hits()
		w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
		require.InDelta(t, 3, hits()-before, 0)
	}
}

// An informer that is late has what was written before, and what was deleted.
func TestWhatGoesIsDeletedOnce(t *testing.T) {
	w := newKitWorld(t)
	child := threeChildren("a")[0]
	w.reconcile(ctrlssaplan.Policy{}, child)
	late, err := w.resource().Get(t.Context(), "typed", metav1.GetOptions{})
	require.NoError(t, err)
	child.Absent = true
	w.reconcile(ctrlssaplan.Policy{}, child)
	require.Contains(t, w.value("typed"), "not found")
	w.take()
	current := w.kit.Client
	w.kit.Client = lateInformer{current, late}
	w.reconcile(ctrlssaplan.Policy{}, child)
	require.Empty(t, w.events, "nothing was deleted")

	w.kit.Client = current
	child.Absent = false
	w.reconcile(ctrlssaplan.Policy{}, child)
	w.patch("typed", "guard", `{"metadata":{"finalizers":["example.com/guard"]}}`)
	child.Absent = true
	w.reconcile(ctrlssaplan.Policy{}, child)
	w.take()
	before := len(w.server.Requests())
	w.reconcile(ctrlssaplan.Policy{}, child)
	require.Empty(t, w.events, "it goes by itself")
	for _, r := range w.server.Requests()[before:] {
		require.Contains(t, []string{"get", "list"}, r.Verb, "as informers do")
	}
}

// lateInformer is a client whose informer has an object as it was.
type lateInformer struct {
	ctrlssaplan.Client
	was *unstructured.Unstructured
}

func (l lateInformer) Cached(ctx context.Context, into client.Object) error {
	if into.GetName() == l.was.GetName() {
		into.(*unstructured.Unstructured).Object = l.was.DeepCopy().Object
		return nil
	}
	return l.Client.Cached(ctx, into)
}

func (l lateInformer) Owned(context.Context, client.Object, schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	return []*unstructured.Unstructured{l.was}, nil
}

// For an owner that on the server is older than the informers have it, or another one, or gone, nothing is written.
func TestAnOwnerOfAnotherHistory(t *testing.T) {
	for what, change := range map[string]func(w *kitWorld){
		"it was restored from a backup": func(w *kitWorld) { w.owner.ResourceVersion = "999999" },
		"created anew":                  func(w *kitWorld) { w.owner.UID = "another" },
		"not found":                     func(w *kitWorld) { w.owner.Name = "gone" },
	} {
		w := newKitWorld(t)
		change(w)
		_, err := w.kit.Reconcile(t.Context(), w.owner, threeChildren("a"), ctrlssaplan.Policy{})
		require.ErrorContains(t, err, "nothing is written for this owner: ", what)
		writes, _ := w.writes()
		require.Equal(t, 1, writes, "that of the owner")
	}
	w := newKitWorld(t)
	w.kit.Client = silent{w.kit.Client}
	_, err := w.kit.Reconcile(t.Context(), w.owner, threeChildren("a"), ctrlssaplan.Policy{})
	require.Error(t, err, "of which nobody knows")
	is, message := w.condition(ctrlssaplan.ConditionSynced)
	require.Equal(t, "False Failed", is)
	require.Contains(t, message, "nothing is written for this owner: nobody answers")
	require.Equal(t, 1, func() int { writes, _ := w.writes(); return writes }(), "that of the owner")
}

// silent is a client of a server that doesn't say what it has of an owner.
type silent struct{ ctrlssaplan.Client }

func (s silent) Read(ctx context.Context, into client.Object) error {
	if into.GetName() == "site" {
		return errors.New("nobody answers")
	}
	return s.Client.Read(ctx, into)
}

// Children of an owner that is being deleted don't come back.
func TestAnOwnerThatIsBeingDeleted(t *testing.T) {
	w := newKitWorld(t)
	w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
	w.remove()
	now, before := metav1.Now(), len(w.server.Requests())
	w.owner.DeletionTimestamp = &now
	require.Zero(t, w.reconcile(ctrlssaplan.Policy{}, threeChildren("b")...))
	require.Len(t, w.server.Requests(), before, "nothing is sent")
}

func TestConditionsAreRequired(t *testing.T) {
	w := newKitWorld(t)
	_, err := ctrlssaplan.NewForDynamic(w.server.Client(), w.server.Mapper(), runtime.NewScheme(), ctrlssaplan.Options{FieldManager: "m"})
	require.ErrorContains(t, err, "Conditions")
}
