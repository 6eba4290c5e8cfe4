// Example_manager is compiled and run together with the code of the pages, see operator_test.go.
package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ssaplan/primitives/ssaplan"
	ssaclient "github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// The Reconciler runs in a real manager, on a real API server.
func Example_manager() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	config := ctrl.GetConfigOrDie()
	clients := kubernetes.NewForConfigOrDie(config)
	deployments := clients.AppsV1().Deployments("operator")
	manager := must(ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}))
	var requests atomic.Int64
	events := record.NewFakeRecorder(10)
	r := must(newReconciler(must(ssaclient.New(config, ssaclient.Options{})), manager.GetCache(), events, ssaplan.Options{
		Observe: func(context.Context, server.Observation) { requests.Add(1) },
	}))
	one := &oneAtATime{Reconciler: r}
	must(0, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(newDeployment()).Complete(one))
	go func() { must(0, manager.Start(ctx)) }()

	shop := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Data: map[string]string{"image": "shop:1"}}
	must(clients.CoreV1().ConfigMaps("operator").Create(ctx, shop, metav1.CreateOptions{}))
	find := func() (*appsv1.Deployment, error) { return deployments.Get(ctx, "shop", metav1.GetOptions{}) }
	eventually(func() bool { _, err := find(); return err == nil })
	must(deployments.Patch(ctx, "shop", types.MergePatchType, []byte(`{"spec": {"replicas": 7}}`),
		metav1.PatchOptions{FieldManager: "night-shift"}, "scale"))
	fmt.Println(<-events.Events)

	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "operator", Name: "shop"}}
	eventually(func() bool { // the informer has the last write, and a dry run has shown that nothing changes
		before := requests.Load()
		must(one.Reconcile(ctx, request))
		informed, written := must(r.live(ctx, request.NamespacedName)), must(find())
		return requests.Load() == before && informed.GetResourceVersion() == written.GetResourceVersion()
	})
	before := requests.Load()
	for range 100 {
		must(one.Reconcile(ctx, request))
	}
	fmt.Println("requests of 100 resyncs:", requests.Load()-before)

	must(clients.CoreV1().ConfigMaps("operator").Patch(ctx, "shop", types.MergePatchType, []byte(`{"data": {"image": null}}`),
		metav1.PatchOptions{})) // then the Reconciler deletes the Deployment
	eventually(func() bool { _, err := find(); return apierrors.IsNotFound(err) })
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

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
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
