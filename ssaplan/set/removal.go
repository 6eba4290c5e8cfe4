package set

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Member is an object that was applied with a set, as a caller has stored it.
type Member struct {
	Object identity.Identity
	// UID is the UID of the applied object. An object with another UID is never deleted, nor is a member without a UID.
	UID string
	// Adopted says that the object existed before the set was applied. The State may say the same in its own Adopted.
	// One of the two is enough.
	Adopted bool
	// State is the stored state of the object, nil if there is none. With it, an object is kept if another tool has
	// applied it later under the same field manager, because it may belong to another set now.
	State *explain.State
	// Keep says why the caller keeps the object, empty if it doesn't.
	Keep string
}

// RemovalOptions say how members are removed. The zero value works.
type RemovalOptions struct {
	// Stages are as in [Options]. Members are removed in the opposite order.
	Stages []Stage
	// Adopted also removes members that existed before the set was applied. Default: they are kept.
	Adopted bool
	// Contents also removes namespaces and CRDs with objects that aren't members, and deletes these objects with them.
	// It also removes those whose content isn't known. Default: they are kept. A namespace or CRD with an object of Set
	// or of InUse is always kept.
	Contents bool
	// InUse are objects that stay, besides those of Set. Their namespaces and the CRDs of their kinds aren't removed.
	InUse []identity.Identity
	// Set is the present set, which no longer contains the members. Plan or apply it before the removal. Its objects
	// stay, as those of InUse do. A member is kept if a staying object refers to it, as a Deployment refers to a
	// ConfigMap. The staying objects are those of Set and InUse, and the kept members. If [Set.Apply] failed to change
	// an object of the set, the references in its live version count as well. A Removal only knows the references of
	// built-in kinds, and reads no other object of the cluster. Default: only InUse and the members count.
	Set *Set
	// Delete says how to delete, and to wait for it.
	Delete deletion.Options
	// Patience is for how long to wait until an object is gone. Default: a minute.
	Patience time.Duration
}

// Removal is the deletion of members of a set: of those that have left the set, or of all. It is not safe for
// concurrent use.
type Removal struct {
	planner *ssaplan.Planner
	members []Member
	options RemovalOptions
	objects []identity.Identity // of the members
	stage   []int               // of each member, by its number
	order   []int               // the numbers of the members in the order of their removal
	shown   []*RemovalItem      // as Plan yielded them
	usage   *usage              // which objects refer to members, as Plan or Apply finds them
	ran     bool                // it is being applied
}

// RemovalItem says what will happen to a member.
type RemovalItem struct {
	// Number is the index of the member, from 0.
	Number int
	Member Member
	// Plan is the plan of the deletion; nil if none could be made.
	Plan *deletion.Plan
	// Kept says why the member isn't deleted; empty if it is.
	Kept string
	// Err is why there is no plan.
	Err error
}

// Deletes reports whether the member is going to be deleted.
func (item *RemovalItem) Deletes() bool {
	return item.Err == nil && item.Kept == "" && item.Plan.Deletes()
}

// Gone reports whether the member no longer exists, or was re-created with another UID, so that a caller can forget it.
func (item *RemovalItem) Gone() bool {
	return item.Plan != nil && (item.Plan.Action == deletion.ActionNone || item.Plan.Action == deletion.ActionKeep)
}

// RemovalResult is the result of the removal for a member.
type RemovalResult struct {
	Item    RemovalItem
	Outcome write.Outcome
	// Gone reports whether the member no longer exists, so that a caller can forget it.
	Gone bool
	// Err says why a member that should be deleted still exists.
	Err error
}

// NewRemoval returns the removal of some members.
func NewRemoval(planner *ssaplan.Planner, members []Member, options RemovalOptions) *Removal {
	if options.Patience == 0 {
		options.Patience = time.Minute
	}
	if len(options.Stages) == 0 {
		options.Stages = DefaultStages()
	}
	r := &Removal{planner: planner, members: members, options: options, shown: make([]*RemovalItem, len(members))}
	for i, member := range members {
		r.stage = append(r.stage, stageOf(options.Stages, bare(member.Object)))
		r.objects, r.order = append(r.objects, member.Object), append(r.order, i)
	}
	slices.SortStableFunc(r.order, func(a, b int) int { return r.stage[b] - r.stage[a] })
	return r
}

// bare returns an object with its identity and nothing else.
func bare(id identity.Identity) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": id.APIVersion, "kind": id.Kind}}
	obj.SetName(id.Name)
	obj.SetNamespace(id.Namespace)
	return obj
}

// Plan yields what will happen to each member, in the order of [Removal.Apply]. It changes nothing on the server.
func (r *Removal) Plan(ctx context.Context) iter.Seq[*RemovalItem] {
	return func(yield func(*RemovalItem) bool) {
		clear(r.shown)
		r.begin(false)
		r.order = r.usage.usersFirst(ctx, r.objects, r.order)
		for _, i := range r.order {
			item := r.item(ctx, i)
			if r.shown[i] = item; !yield(item) {
				return
			}
		}
	}
}

// begin starts Plan, or Apply if ran is true. References that were read before may have changed.
func (r *Removal) begin(ran bool) {
	r.usage, r.ran = &usage{r.planner, r.options.Set, map[identity.Identity]user{}}, ran
}

// item plans the removal of one member.
func (r *Removal) item(ctx context.Context, i int) *RemovalItem {
	member := r.members[i]
	item := &RemovalItem{Number: i, Member: member}
	request := deletion.Request{Object: member.Object, UID: member.UID, Propagation: r.options.Delete.Propagation}
	item.Plan, item.Err = r.planner.PlanDelete(ctx, request)
	switch {
	case item.Err != nil:
	case !item.Plan.Deletes():
		item.Kept = item.Plan.Reason
	case member.Keep != "":
		item.Kept = member.Keep
	case member.UID == "":
		item.Kept = "the UID of the applied object is unknown"
	case (member.Adopted || member.State != nil && member.State.Adopted) && !r.options.Adopted:
		item.Kept = "it existed before the set"
	default:
		if item.Kept = r.rival(ctx, member.State); item.Kept == "" {
			item.Kept = cmp.Or(r.inUse(ctx, item), r.usedBy(ctx, member.Object))
		}
	}
	return item
}

// rival returns why an object is kept because another tool applied it later, empty if no such apply is known.
func (r *Removal) rival(ctx context.Context, remembered *explain.State) string {
	if remembered == nil {
		return ""
	}
	reading, err := r.planner.Read(ctx, remembered)
	if err != nil {
		return fmt.Sprintf("the manager that applied it last is unknown: %s", foreign.OfError(err))
	}
	if reading.Live == nil {
		return ""
	}
	sensitive := r.planner.Redactor(reading.Live).Fields(reading.Live)
	if rival := explain.RivalOf(reading.Live, reading.State, sensitive...); rival != nil {
		return rival.String()
	}
	return ""
}

// usedBy returns why a member is kept because other objects refer to it, empty if none does.
func (r *Removal) usedBy(ctx context.Context, member identity.Identity) string {
	member = resolved(ctx, r.planner, member)
	if !kinds.Referred(kindOf(member)) {
		return ""
	}
	return r.usage.reason(ctx, member, r.staying())
}

// staying returns objects that aren't removed, or not yet: those in use, and members.
func (r *Removal) staying() []identity.Identity {
	objects := slices.Clone(r.options.InUse)
	for _, item := range r.shown {
		if item != nil && !item.Gone() && (r.ran || !item.Deletes()) {
			objects = append(objects, item.Member.Object)
		}
	}
	return objects
}

// inUse returns why a namespace or CRD is kept, empty if it contains only objects that are removed with it.
func (r *Removal) inUse(ctx context.Context, item *RemovalItem) string {
	object := bare(item.Member.Object)
	if !isFoundation(object) {
		return ""
	}
	for _, id := range r.remaining(ctx) {
		switch {
		case isDefinition(object) && isAmong(item.Plan.Contents, id):
			return fmt.Sprintf("%s of the set is of its kind", id)
		case !isDefinition(object) && id.Namespace == object.GetName():
			return fmt.Sprintf("%s of the set is in it", id)
		}
	}
	switch contents := item.Plan.Contents; {
	case r.options.Contents:
		return ""
	case contents == nil:
		return "unknown which objects it holds"
	case len(contents.Uncounted) > 0:
		return fmt.Sprintf("unknown which objects it holds: %s", contents.Uncounted[0])
	}
	for _, count := range item.Plan.Contents.Counts {
		kind := schema.GroupKind{Group: count.Group, Kind: count.Kind}
		if foreigners := count.Objects - r.within(object, kind) - kinds.OfNamespace(kind.String()); count.OrMore ||
			foreigners > 0 && !r.isMade(object, kind) {
			return fmt.Sprintf("it holds objects outside of the set: %d %s", foreigners, kind)
		}
	}
	return ""
}

// remaining returns the objects in use and those of the set, with their namespaces.
func (r *Removal) remaining(ctx context.Context) (objects []identity.Identity) {
	for _, id := range r.options.InUse {
		objects = append(objects, resolved(ctx, r.planner, id))
	}
	if s := r.options.Set; s != nil {
		for i := range s.requests {
			objects = append(objects, s.resolve(ctx, i))
		}
	}
	return objects
}

// isAmong reports whether the contents have objects of the kind of an object, or may have.
func isAmong(contents *deletion.Contents, id identity.Identity) bool {
	if contents == nil {
		return false
	}
	kind := schema.GroupKind{Group: id.Group(), Kind: id.Kind}
	return slices.ContainsFunc(contents.Counts, func(count deletion.Count) bool {
		return count.Group == kind.Group && count.Kind == kind.Kind
	}) || slices.ContainsFunc(contents.Uncounted,
		func(uncounted deletion.Uncounted) bool { return uncounted.What == kind.String() })
}

// within returns how many members of a kind will still be deleted. If the object is a namespace, only members in it
// count. If it is a CRD, members in all namespaces count.
func (r *Removal) within(object *unstructured.Unstructured, kind schema.GroupKind) (n int) {
	for i, member := range r.members {
		if id := member.Object; id.Group() == kind.Group && id.Kind == kind.Kind &&
			(isDefinition(object) || id.Namespace == object.GetName()) {
			if shown := r.shown[i]; shown != nil && shown.Deletes() {
				n++
			}
		}
	}
	return n
}

// isMade reports whether controllers may have made the objects of a kind for members in the namespace. Such objects are
// deleted with the members.
func (r *Removal) isMade(namespace *unstructured.Unstructured, kind schema.GroupKind) bool {
	if kinds.IsEvent(kind.String()) {
		return true
	}
	return slices.ContainsFunc(r.members, func(member Member) bool {
		return member.Object.Namespace == namespace.GetName() && kinds.Makes(kindOf(member.Object), kind.String())
	})
}

// Apply deletes the members as Plan showed it, dependent members first, and yields the result for each. Each delete is
// planned again and has the UID as a precondition; it is an error if the new plan does more than was shown. Besides the
// members that Plan kept, Apply keeps a namespace or CRD that now contains objects outside of the set. It also keeps a
// member to which a remaining object now refers. If a member isn't gone, Apply keeps the members of the stages that
// would follow. A custom resource with a finalizer, for example, needs its controller with its RBAC until it is gone.
// When ctx ends, the remaining results have its error.
func (r *Removal) Apply(ctx context.Context) iter.Seq[*RemovalResult] {
	return func(yield func(*RemovalResult) bool) {
		r.begin(true)
		var stuck *RemovalItem // the first member that should be deleted, and still exists
		for _, i := range r.order {
			item := r.shown[i]
			if item == nil {
				item = &RemovalItem{Number: i, Member: r.members[i], Err: errors.New("it wasn't shown")}
			}
			if stuck != nil && r.stage[i] < r.stage[stuck.Number] && item.Deletes() {
				kept := *item
				kept.Kept = fmt.Sprintf("%s must be deleted first, and still exists", stuck.Member.Object)
				item = &kept
			}
			result := r.remove(ctx, item)
			if stuck == nil && item.Deletes() && !result.Gone {
				stuck = item
			}
			if !yield(result) {
				return
			}
		}
	}
}

func (r *Removal) remove(ctx context.Context, item *RemovalItem) *RemovalResult {
	result := &RemovalResult{Item: *item, Outcome: write.OutcomeNotSent, Gone: item.Gone(), Err: item.Err}
	if ctx.Err() != nil {
		result.Err = fmt.Errorf("%s: not reached: %w", item.Member.Object, ctx.Err())
	}
	if result.Err != nil || !item.Deletes() {
		return result
	}
	if isFoundation(bare(item.Member.Object)) {
		now := r.item(ctx, item.Number) // its content is deleted by now
		if result.Item = *now; now.Err != nil || now.Kept != "" {
			result.Gone, result.Err = now.Gone(), now.Err
			return result
		}
	} else if result.Item.Kept = r.usedBy(ctx, item.Member.Object); result.Item.Kept != "" {
		return result
	}
	limited, cancel := clock.WithTimeout(ctx, r.options.Patience)
	defer cancel()
	result.Err = r.planner.ApplyDelete(limited, item.Plan, r.options.Delete)
	result.Outcome = write.OutcomeOf(result.Err)
	if result.Gone = result.Err == nil || errors.Is(result.Err, write.ErrRecreated); result.Gone {
		r.shown[item.Number] = nil
	}
	return result
}

// String returns one line that says what happens to the member.
func (item *RemovalItem) String() string {
	switch {
	case item.Err != nil:
		return fmt.Sprintf("%s: %s", item.Member.Object, foreign.OfError(item.Err))
	case item.Kept != "":
		return fmt.Sprintf("%s: kept: %s", item.Member.Object, item.Kept)
	}
	return fmt.Sprintf("%s: %s", item.Member.Object, item.Plan.Action)
}
