package controller

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// FieldManager is the name under which the operator applies.
const FieldManager = "website-operator"

// Options adjust a Reconciler. The zero value works.
type Options struct {
	// NoOps remembers what the server would not change. Default: a cache for 10000 children.
	NoOps *ssaplan.NoOpCache
	// Sensitive are the fields of the children whose values must not be shown. Default: none.
	Sensitive projection.Patterns
	// RetryAfter is the time after which a Website is looked at again that isn't synced for a reason of which no event may
	// tell the end, such as a quota. Default: 5 minutes.
	RetryAfter time.Duration
	// ReplaceTimeout is how long a replacement waits for the old child to be gone, before it goes on another time. Default:
	// 30 seconds.
	ReplaceTimeout time.Duration
}

// Reconciler makes the children of a Website what the Website says.
type Reconciler struct {
	// Cache has the objects of the informers, which may be older than those of the server.
	Cache client.Reader

	server          client.Reader
	writer          client.Writer
	status          client.StatusWriter
	events          record.EventRecorder
	forcing, asking *ssaplan.Planner
	memory          memory
	options         Options
}

// New returns a Reconciler that reads what the manager's informers have.
func New(manager ctrl.Manager, options Options) (*Reconciler, error) {
	if options.NoOps == nil {
		options.NoOps = ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10_000})
		measured.Store(options.NoOps)
	}
	if options.RetryAfter == 0 {
		options.RetryAfter = 5 * time.Minute
	}
	if options.ReplaceTimeout == 0 {
		options.ReplaceTimeout = 30 * time.Second
	}
	planning := ssaplan.Options{FieldManager: FieldManager, NoOps: options.NoOps, Observe: countRequest, Sensitive: options.Sensitive}
	forcing, err := ssaplan.New(manager.GetConfig(), planning)
	if err != nil {
		return nil, err
	}
	planning.RefuseConflicts = true
	asking, err := ssaplan.New(manager.GetConfig(), planning)
	if err != nil {
		return nil, err
	}
	c := client.WithFieldOwner(manager.GetClient(), FieldManager)
	return &Reconciler{
		Cache: manager.GetCache(), server: manager.GetAPIReader(), writer: c, status: c.Status(),
		events: manager.GetEventRecorderFor(FieldManager), forcing: forcing, asking: asking, options: options,
	}, nil
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	website := &v1alpha1.Website{}
	if err := r.Cache.Get(ctx, request.NamespacedName, website); err != nil {
		if err = client.IgnoreNotFound(err); err == nil {
			r.memory.forget(request.NamespacedName)
		}
		return ctrl.Result{}, err
	}
	if !website.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // what is deleted in its course must not come back
	}
	outcomes := r.sync(ctx, website)
	if err := r.report(ctx, website, outcomes); err != nil {
		return ctrl.Result{}, err
	}
	return r.next(outcomes)
}

// next says when to look again: as usual after an error, later if something else is in the way, and otherwise when the
// next event comes.
func (r *Reconciler) next(outcomes []outcome) (ctrl.Result, error) {
	var result ctrl.Result
	for _, o := range outcomes {
		if o.err != nil {
			return ctrl.Result{}, o.err
		}
		if o.verdict.open() {
			result.RequeueAfter = r.options.RetryAfter
		}
	}
	return result, nil
}

// sync plans all the children, and then writes those that have to change. What somebody edited in the Website is written
// to all of them or to none, and after a write that failed to no other, so that no Service selects pods that the Deployment
// can't have. What only has to be put back is put back in any case.
func (r *Reconciler) sync(ctx context.Context, website *v1alpha1.Website) []outcome {
	wanted, err := manifests(website)
	if err != nil {
		return []outcome{{verdict: failed, text: err.Error(), err: err}}
	}
	var children []*child
	blocked := false
	for _, kind := range kinds {
		c := r.look(ctx, website, kind, wanted[kind.Kind])
		children = append(children, c)
		blocked = blocked || c.verdict.open()
	}
	var outcomes []outcome
	for _, c := range children {
		switch {
		case c.verdict != "":
		case blocked && c.edits():
			c.verdict, c.text = waiting, "its changes wait for the other children"
		default:
			r.carryOut(ctx, c)
			blocked = blocked || c.verdict.open()
		}
		outcomes = append(outcomes, c.outcome)
	}
	return outcomes
}

// look plans a child, and judges the plan by what the Website allows. The manifest is nil for a child that isn't wanted.
func (r *Reconciler) look(ctx context.Context, website *v1alpha1.Website, kind metav1.TypeMeta, manifest *unstructured.Unstructured) *child {
	c := &child{manifest: manifest, memory: r.memory.of(website, kind.Kind), outcome: outcome{kind: kind}}
	live, err := r.live(ctx, website, kind, manifest != nil)
	if err != nil {
		c.fail(err)
		return c
	}
	c.live = live
	ours := live != nil && metav1.IsControlledBy(live, website)
	switch {
	case manifest == nil && !ours:
		c.verdict = asDeclared
	case manifest == nil: // to be deleted
	case live != nil && !ours:
		c.verdict, c.text = refused, "exists and is not controlled by this Website: rename one of them, or delete it"
	default:
		r.plan(ctx, website, c)
	}
	return c
}

// live returns the child as the informer has it, nil if there is none. The informer has only what bears the operator's
// label, and may be late, so that for a child that is wanted its silence is no proof.
func (r *Reconciler) live(ctx context.Context, website *v1alpha1.Website, kind metav1.TypeMeta, wanted bool) (*unstructured.Unstructured, error) {
	obj, err := get(ctx, r.Cache, website, kind)
	if obj == nil && err == nil && wanted {
		return get(ctx, r.server, website, kind)
	}
	return obj, err
}

// get returns the child of a kind, nil if there is none.
func get(ctx context.Context, reader client.Reader, website *v1alpha1.Website, kind metav1.TypeMeta) (*unstructured.Unstructured, error) {
	obj := ofKind(kind)
	if err := reader.Get(ctx, client.ObjectKeyFromObject(website), obj); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return obj, nil
}

// plan plans a child and judges the plan.
func (r *Reconciler) plan(ctx context.Context, website *v1alpha1.Website, c *child) {
	ignored, err := ignoredOf(website, c.kind.Kind)
	if err != nil {
		c.verdict, c.text = refused, err.Error()
		return
	}
	c.planner = r.forcing
	if website.Spec.ConflictPolicy == v1alpha1.RefuseConflicts {
		c.planner = r.asking
	}
	request := ssaplan.Request{Manifest: c.manifest, Live: c.live, Ignore: ignored, Prior: c.memory.applied}
	if c.plan, err = c.planner.Plan(ctx, request); err != nil {
		c.fail(err)
		return
	}
	c.judge(website.Spec)
}
