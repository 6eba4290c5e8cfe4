package controller

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// FieldManager is the name under which the operator applies.
const FieldManager = "website-operator"

// Options adjust a Reconciler. The zero value works, see [ctrlssaplan.Options].
type Options struct {
	NoOps                      *ssaplan.NoOpCache
	Sensitive                  projection.Patterns
	RetryAfter, ReplaceTimeout time.Duration
}

// Reconciler makes the children of a Website what the Website says.
type Reconciler struct {
	// Cache has the objects of the informers, which may be older than those of the server.
	Cache client.Reader
	Kit   *ctrlssaplan.Kit
}

// New returns a Reconciler that reads what the manager's informers have.
func New(manager ctrl.Manager, options Options) (*Reconciler, error) {
	kit, err := ctrlssaplan.New(manager, ctrlssaplan.Options{
		FieldManager: FieldManager, Conditions: conditions,
		NoOps: options.NoOps, Sensitive: options.Sensitive, RetryAfter: options.RetryAfter,
		ReplaceTimeout: options.ReplaceTimeout,
	})
	if err != nil {
		return nil, err
	}
	return &Reconciler{Cache: manager.GetCache(), Kit: kit}, nil
}

func conditions(owner client.Object) (*[]metav1.Condition, *int64) {
	status := &owner.(*v1alpha1.Website).Status
	return &status.Conditions, &status.ObservedGeneration
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	website := &v1alpha1.Website{}
	if err := r.Cache.Get(ctx, request.NamespacedName, website); err != nil {
		r.Kit.Forget(request.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return r.Kit.Reconcile(ctx, website, children(website), policy(website.Spec))
}

// policy is how far the operator may go for a Website.
func policy(spec v1alpha1.WebsiteSpec) ctrlssaplan.Policy {
	policy := ctrlssaplan.Policy{
		RefuseConflicts: spec.ConflictPolicy == v1alpha1.RefuseConflicts,
		Replace:         spec.ReplacePolicy == v1alpha1.AllowReplace, ToReplace: "set spec.replacePolicy to Allowed",
	}
	if spec.DriftPolicy == v1alpha1.ReportDrift {
		policy.Drift = ctrlssaplan.DriftReport
	}
	return policy
}
