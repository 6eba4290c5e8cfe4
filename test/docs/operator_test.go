package docs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ssaplan/primitives/ssaplan"
	ssaclient "github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/explain"
	api "github.com/ssaplan/primitives/ssaplan/server"
)

// Reconciler creates a Deployment for each ConfigMap that has an image.
type Reconciler struct {
	cache   client.Reader // reads from the informers, unstructured objects too
	planner *ssaplan.Planner
	events  record.EventRecorder
	applied sync.Map // the *explain.State of each Deployment; losing it in a restart is harmless
}

func newReconciler(manager ctrl.Manager, options ssaplan.Options) (*Reconciler, error) {
	options.FieldManager = "web-operator"
	options.NoOps = ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10000})
	server, err := ssaclient.New(manager.GetConfig(), ssaclient.Options{})
	if err != nil {
		return nil, err
	}
	planner, err := ssaplan.New(server, options)
	if err != nil {
		return nil, err
	}
	return &Reconciler{cache: manager.GetCache(), planner: planner, events: manager.GetEventRecorderFor("web-operator")}, nil
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	website := &corev1.ConfigMap{}
	if err := r.cache.Get(ctx, request.NamespacedName, website); err != nil || website.Data["image"] == "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	live, err := r.live(ctx, request.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	prior, _ := r.applied.Load(request.NamespacedName)
	state, _ := prior.(*explain.State)
	plan, err := r.planner.Plan(ctx, ssaplan.Request{Manifest: deploymentOf(website), Prior: state, Live: live})
	if err != nil {
		return ctrl.Result{}, r.refused(website, err)
	}
	switch plan.Action {
	case ssaplan.ActionNoOp: // nothing to write, and no request the next time
		return ctrl.Result{}, nil
	case ssaplan.ActionReplace, ssaplan.ActionConflict, ssaplan.ActionDeferred:
		r.events.Event(website, corev1.EventTypeWarning, string(plan.Action), plan.Reason)
		return ctrl.Result{RequeueAfter: 5 * time.Minute}, nil
	}
	for _, change := range plan.Changes {
		if change.Cause == explain.CauseDrifted {
			r.events.Event(website, corev1.EventTypeWarning, "DriftRepaired", change.String())
		}
	}
	return ctrl.Result{}, r.apply(ctx, request.NamespacedName, plan)
}

// live returns the Deployment from the informer's cache, with managedFields, or nil if there is none.
func (r *Reconciler) live(ctx context.Context, key types.NamespacedName) (*unstructured.Unstructured, error) {
	live := newDeployment()
	if err := r.cache.Get(ctx, key, live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return live, nil
}

func (r *Reconciler) apply(ctx context.Context, key types.NamespacedName, plan *ssaplan.Plan) error {
	applied, err := r.planner.Apply(ctx, plan)
	if err != nil {
		return err // the retry plans again, also if the object changed meanwhile
	}
	state, err := plan.State(applied)
	if err != nil {
		return err
	}
	r.applied.Store(key, state)
	return nil
}

// refused reports a rejected manifest, which no retry fixes. Other errors go to the queue.
func (r *Reconciler) refused(website *corev1.ConfigMap, err error) error {
	var refused *ssaplan.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	r.events.Event(website, corev1.EventTypeWarning, "Refused", err.Error())
	return reconcile.TerminalError(err)
}

// setup watches ConfigMaps and their Deployments.
func setup(manager ctrl.Manager, r reconcile.Reconciler) (controller.Controller, error) {
	return ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(newDeployment()).Build(r)
}

func newDeployment() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion("apps/v1")
	obj.SetKind("Deployment")
	return obj
}

// deploymentOf declares what the operator wants, and nothing that others may set.
func deploymentOf(website *corev1.ConfigMap) *unstructured.Unstructured {
	obj := deployment(website.Name, website.Data["image"])
	obj.SetNamespace(website.Namespace)
	controller := true
	obj.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: website.Name, UID: website.UID, Controller: &controller,
	}})
	return obj
}

func Example_operator() {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	deployments := objects("operator", "apps", "v1", "deployments")
	manager := must(ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}))
	var requests atomic.Int64
	r := must(newReconciler(manager, ssaplan.Options{
		Observe: func(context.Context, api.Observation) { requests.Add(1) },
	}))
	events := record.NewFakeRecorder(10)
	r.events = events
	one := &oneAtATime{Reconciler: r}
	must(setup(manager, one))
	go func() { must(0, manager.Start(ctx)) }()

	apply(objects("operator", "", "v1", "configmaps"), "user", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: shop}, data: {image: "shop:1"}}`))
	eventually(func() bool { _, err := deployments.Get(ctx, "shop", metav1.GetOptions{}); return err == nil })
	patch(deployments, "night-shift", "shop", `{"spec": {"replicas": 7}}`, "scale")
	fmt.Println(<-events.Events)

	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "operator", Name: "shop"}}
	eventually(func() bool { // the informer has what was written, and the server was asked about that
		before := requests.Load()
		must(one.Reconcile(ctx, request))
		informed, written := must(r.live(ctx, request.NamespacedName)), must(deployments.Get(ctx, "shop", metav1.GetOptions{}))
		return requests.Load() == before && informed.GetResourceVersion() == written.GetResourceVersion()
	})
	before := requests.Load()
	for range 100 {
		must(one.Reconcile(ctx, request))
	}
	fmt.Println("requests of 100 resyncs:", requests.Load()-before)
	// Output:
	// Warning DriftRepaired spec.replicas: 7 -> 3 (drifted: changed by "night-shift" (Update of scale))
	// requests of 100 resyncs: 0
}

// oneAtATime keeps the resyncs of the Example apart from those of the manager.
type oneAtATime struct {
	*Reconciler
	mu sync.Mutex
}

func (o *oneAtATime) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Reconciler.Reconcile(ctx, request)
}

// eventually returns when the condition holds.
func eventually(holds func() bool) {
	for range 600 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	panic("waited in vain")
}
