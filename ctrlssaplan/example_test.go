package ctrlssaplan_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func Example() {
	ctx := context.Background()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	var conditions []metav1.Condition // those of a custom resource are in its status
	site := ctrlssaplan.OfKind(configMaps)
	site.SetName("site")
	created, _ := server.Client().Resource(configMaps.GroupVersion().WithResource("configmaps")).Namespace("default").Create(ctx, site, metav1.CreateOptions{})
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "site", UID: created.GetUID(), ResourceVersion: created.GetResourceVersion()}}

	kit, err := ctrlssaplan.NewForDynamic(server.Client(), server.Mapper(), scheme, ctrlssaplan.Options{ // with a manager: New
		FieldManager: "site-controller",
		Conditions:   func(client.Object) (*[]metav1.Condition, *int64) { return &conditions, nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "site-config"}, Data: map[string]string{"mode": "dark"}}
	result, err := kit.Reconcile(ctx, owner, []ctrlssaplan.Child{{Object: child}}, ctrlssaplan.Policy{})
	fmt.Println(result, err)
	for _, condition := range conditions {
		fmt.Println(condition.Type, condition.Status, condition.Reason)
	}
	// Output:
	// {false 0s} <nil>
	// Ready True AsDeclared
	// Synced True AsDeclared
	// Drifted False AsDeclared
	// Conflict False AsDeclared
	// Refused False AsDeclared
	// ReplacementNeeded False AsDeclared
}
