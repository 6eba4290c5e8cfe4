package ctrlssaplan

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/readiness"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// Options describe how a Kit works. FieldManager and Conditions are required.
type Options struct {
	// FieldManager is the name under which the controller applies.
	FieldManager string
	// Conditions returns where an owner has its conditions, and the generation that they are about, which may be nil.
	Conditions func(owner client.Object) (conditions *[]metav1.Condition, observedGeneration *int64)
	// Kinds are the kinds of children that are looked through for what an owner controls and no longer wants, which is
	// deleted. The cache needs informers for them, of unstructured objects, so a manager's server has to serve them
	// when the kit is made. Default: none; a child that isn't wanted is named with [Child.Absent].
	Kinds []schema.GroupVersionKind
	// Ready tells whether a child does what it is for. Default: [readiness.Of], without conditions.
	Ready set.Readier
	// Events gets events about owners. Default: that of the manager, or nobody.
	Events record.EventRecorder
	// NoOps remembers what the server would not change. Default: a cache for 10000 children.
	NoOps *ssaplan.NoOpCache
	// Sensitive are the fields of children whose values are in no condition, event, log or error; see
	// [ssaplan.Options]. Default: none.
	Sensitive projection.Patterns
	// Observe is told of each request for children. The kit counts them for its metrics anyway.
	Observe func(context.Context, ssaplan.Observation)
	// RetryAfter is the time after which an owner is looked at again that isn't synced for a reason of which no event
	// may tell the end, such as a quota. Default: 5 minutes.
	RetryAfter time.Duration
	// ReplaceTimeout is how long a replacement waits for the old child to be gone, before it goes on another time.
	// Default: 30 seconds.
	ReplaceTimeout time.Duration
}

// Kit makes the children of owners what they have to be. It is safe for concurrent use for different owners.
type Kit struct {
	// Client may be another one, such as in tests.
	Client Client

	scheme          *runtime.Scheme
	forcing, asking *ssaplan.Planner
	memory          memory
	options         Options
}

// New returns the kit of a manager. It reads children from the manager's cache, whose informers have to keep
// metadata.managedFields: a live object without them doesn't say who owns what, and is read again each time.
func New(manager ctrl.Manager, options Options) (*Kit, error) {
	c, err := FromClient(manager.GetCache(), manager.GetAPIReader(), client.WithFieldOwner(manager.GetClient(), options.FieldManager))
	if err != nil {
		return nil, err
	}
	if options.Events == nil {
		options.Events = manager.GetEventRecorderFor(options.FieldManager)
	}
	for _, kind := range options.Kinds {
		err := manager.GetFieldIndexer().IndexField(context.Background(), OfKind(kind), OwnerIndex, ControllerOf)
		if err != nil && !isIndexed(err) {
			return nil, err
		}
	}
	return newKit(c, manager.GetScheme(), options, func(planning ssaplan.Options) (*ssaplan.Planner, error) {
		return ssaplan.New(manager.GetConfig(), planning)
	})
}

// isIndexed reports whether an error of an index says that there is one of that name: another kit of the manager made
// it. It has no type.
func isIndexed(err error) bool { return strings.Contains(err.Error(), "indexer conflict") }

// NewForDynamic returns a kit on top of a dynamic client, such as that of package ssaplantest, without informers; see
// [FromDynamic].
func NewForDynamic(of dynamic.Interface, mapper meta.RESTMapper, scheme *runtime.Scheme, options Options) (*Kit, error) {
	return newKit(FromDynamic(of, mapper, scheme), scheme, options, func(planning ssaplan.Options) (*ssaplan.Planner, error) {
		return ssaplan.NewForClient(of, mapper, planning)
	})
}

func newKit(c Client, scheme *runtime.Scheme, options Options, planner func(ssaplan.Options) (*ssaplan.Planner, error)) (*Kit, error) {
	if options.Conditions == nil {
		return nil, errors.New("ctrlssaplan: Options.Conditions is nil: say where an owner has its conditions")
	}
	options.fillIn()
	planning := ssaplan.Options{
		FieldManager: options.FieldManager, NoOps: options.NoOps, Observe: options.observe,
		Sensitive: options.Sensitive,
	}
	forcing, err := planner(planning)
	if err != nil {
		return nil, err
	}
	planning.RefuseConflicts = true
	asking, err := planner(planning)
	if err != nil {
		return nil, err
	}
	return &Kit{Client: c, scheme: scheme, forcing: forcing, asking: asking, options: options}, nil
}

// fillIn sets the defaults.
func (o *Options) fillIn() {
	if o.NoOps == nil {
		o.NoOps = ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10_000})
	}
	measured.add(o.NoOps)
	if o.Ready == nil {
		o.Ready = readiness.Of(nil)
	}
	if o.Events == nil {
		o.Events = &record.FakeRecorder{} // without a channel, which drops all
	}
	if o.RetryAfter == 0 {
		o.RetryAfter = 5 * time.Minute
	}
	if o.ReplaceTimeout == 0 {
		o.ReplaceTimeout = 30 * time.Second
	}
}

func (o *Options) observe(ctx context.Context, seen ssaplan.Observation) {
	if countRequest(ctx, seen); o.Observe != nil {
		o.Observe(ctx, seen)
	}
}

// Reconcile makes the children of an owner what they have to be, as far as the policy allows, and writes the owner's
// status and events. The status is what the caller has set in the owner, with the kit's conditions. Fields of it that
// only other field managers own stay as they are, unless the caller has changed them. After a write the owner is as the
// server has it. Nothing is done for an owner that is being deleted: what is deleted in its course must not come back.
// The result says when to look again.
//
// All children are planned before the first is written, in their order. What was edited is written to all of them or,
// if one is in the way, to none, and after a write that fails the rest waits. What only has to be put back is put back
// in any case.
func (k *Kit) Reconcile(ctx context.Context, owner client.Object, children []Child, policy Policy) (ctrl.Result, error) {
	if owner.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	outcomes, err := k.sync(ctx, owner, children, policy)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := k.report(ctx, owner, outcomes); err != nil {
		return ctrl.Result{}, err
	}
	return k.next(outcomes)
}

// Forget drops what is remembered of an owner that is gone.
func (k *Kit) Forget(owner client.ObjectKey) { k.memory.forget(owner) }

// next says when to look again: as usual after an error, later if something else is in the way, and otherwise when the
// next event comes.
func (k *Kit) next(outcomes []outcome) (ctrl.Result, error) {
	var result ctrl.Result
	for _, o := range outcomes {
		if o.err != nil {
			return ctrl.Result{}, o.err
		}
		if o.verdict.open() {
			result.RequeueAfter = k.options.RetryAfter
		}
	}
	return result, nil
}
