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
	ssaclient "github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// Options describe how a Kit works. FieldManager and Conditions are required.
type Options struct {
	// FieldManager is the name under which the controller applies.
	FieldManager string
	// Conditions returns pointers to the conditions of an owner and to its observedGeneration, which may be nil.
	Conditions func(owner client.Object) (conditions *[]metav1.Condition, observedGeneration *int64)
	// Kinds are the kinds of children to prune: an object of these kinds that an owner controls, and that isn't among
	// its children any more, is deleted. The cache needs informers for them, of unstructured objects, so the server
	// must serve these kinds when the kit is made. Default: none; use [Child.Absent] to delete a child.
	Kinds []schema.GroupVersionKind
	// Ready returns whether a child is ready. Default: [readiness.Of], without conditions.
	Ready set.ReadyFunc
	// Events records events about owners. Default: the recorder of the manager, or none without a manager.
	Events record.EventRecorder
	// NoOps caches plans without changes. Default: a cache for 10000 children.
	NoOps *ssaplan.NoOpCache
	// Sensitive are more fields of children whose values are redacted in conditions, events, logs and errors; see
	// [ssaplan.Options]. Default: none.
	Sensitive projection.Patterns
	// ShowValuesOf are kinds of children whose values are shown even if it isn't known which of them are sensitive; see
	// [ssaplan.Options]. Default: none.
	ShowValuesOf []schema.GroupKind
	// Observe is called for each request for children. The kit's own metrics count them, too.
	Observe func(context.Context, server.Observation)
	// RetryAfter is the time after which an owner that isn't synced is reconciled again, since some reasons end without
	// an event, such as a full quota. Default: 5 minutes.
	RetryAfter time.Duration
	// ReplaceTimeout is how long a replacement waits until the old child is gone, before it continues in a later
	// reconciliation. Default: 30 seconds.
	ReplaceTimeout time.Duration
}

// Kit plans, applies and prunes the children of owners. It is safe for concurrent use for different owners.
type Kit struct {
	// Client can be replaced, such as in tests.
	Client Client

	scheme          *runtime.Scheme
	forcing, asking *ssaplan.Planner
	memory          memory
	options         Options
}

// New returns a kit for a manager. It reads children from the manager's cache, as unstructured objects: watch them with
// [OfKind]. The informers must keep metadata.managedFields. An object without them doesn't show the owners of its
// fields, and is read from the server each time.
func New(manager ctrl.Manager, options Options) (*Kit, error) {
	c, err := FromClient(manager.GetCache(), manager.GetAPIReader(),
		client.WithFieldOwner(manager.GetClient(), options.FieldManager))
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
	api, err := ssaclient.New(manager.GetConfig(), ssaclient.Options{})
	if err != nil {
		return nil, err
	}
	return newKit(c, manager.GetScheme(), options, func(planning ssaplan.Options) (*ssaplan.Planner, error) {
		return ssaplan.New(api, planning)
	})
}

// isIndexed reports whether an error of an index says that there is one of that name: another kit of the manager made
// it. It has no type.
func isIndexed(err error) bool { return strings.Contains(err.Error(), "indexer conflict") }

// NewForDynamic returns a kit on top of a dynamic client, such as that of package ssaplantest, without informers; see
// [FromDynamic].
func NewForDynamic(of dynamic.Interface, mapper meta.RESTMapper, scheme *runtime.Scheme,
	options Options) (*Kit, error) {
	return newKit(FromDynamic(of, mapper, scheme), scheme, options,
		func(planning ssaplan.Options) (*ssaplan.Planner, error) {
			return ssaplan.New(dynclient.New(of, mapper, dynclient.Options{}), planning)
		})
}

func newKit(c Client, scheme *runtime.Scheme, options Options,
	planner func(ssaplan.Options) (*ssaplan.Planner, error)) (*Kit, error) {
	if options.Conditions == nil {
		return nil, errors.New("ctrlssaplan: Options.Conditions is nil: say where an owner has its conditions")
	}
	options.fillIn()
	planning := ssaplan.Options{
		FieldManager: options.FieldManager, NoOps: options.NoOps, Observe: options.observe,
		Sensitive: options.Sensitive, ShowValuesOf: options.ShowValuesOf,
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

func (o *Options) observe(ctx context.Context, seen server.Observation) {
	if countRequest(ctx, seen); o.Observe != nil {
		o.Observe(ctx, seen)
	}
}

// Forget drops what the kit has stored for an owner. Call it for a deleted owner.
func (k *Kit) Forget(owner client.ObjectKey) { k.memory.forget(owner) }
