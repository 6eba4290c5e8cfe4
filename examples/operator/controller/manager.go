package controller

import (
	"fmt"

	kubelabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

// NewManager returns a manager whose informers keep the Websites, and of the kinds of their children those objects that
// bear the operator's label.
//
// WARNING: the informers have to keep metadata.managedFields, so options.Cache must not have a transform that strips
// them. A live object without them doesn't say who owns what, and the Planner reads it again each time.
func NewManager(config *rest.Config, options ctrl.Options) (ctrl.Manager, error) {
	options.Scheme = runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(options.Scheme); err != nil { // for events and leases
		return nil, err
	}
	if err := v1alpha1.AddToScheme(options.Scheme); err != nil {
		return nil, err
	}
	ours := cache.ByObject{Label: kubelabels.SelectorFromSet(kubelabels.Set{managedByLabel: FieldManager})}
	options.Cache.ByObject = map[client.Object]cache.ByObject{}
	for _, kind := range kinds {
		options.Cache.ByObject[ctrlssaplan.OfKind(kind)] = ours
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("manager for %s: %w", authresilience.RedactAddress(config.Host),
			authresilience.Redact(err))
	}
	return manager, nil
}

// Setup makes the manager run the Reconciler whenever a Website or one of its children changed. There is no predicate
// that leaves events out: one about something that makes no difference, such as a status, costs next to nothing.
func (r *Reconciler) Setup(manager ctrl.Manager) (controller.Controller, error) {
	builder := ctrl.NewControllerManagedBy(manager).For(&v1alpha1.Website{})
	for _, kind := range kinds {
		builder.Owns(ctrlssaplan.OfKind(kind))
	}
	return builder.Build(r)
}
