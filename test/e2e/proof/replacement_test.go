package proof_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// judgeReplacement carries out the plan to replace the object, and compares the new object with what was planned.
func (t *trial) judgeReplacement(ctx context.Context) error {
	t.outcome = "Replace"
	planner := t.planners().tested
	created, err := planner.Replace(ctx, t.plan, deletion.Options{PollInterval: time.Millisecond, Progress: t.freed(ctx)})
	t.object.memory = map[string]*memory{}
	if !t.check(replace, apierrors.IsInvalid(t.applyErr) && err == nil, "planned %v; apply: %v; replace: %v", t.plan, t.applyErr, err) {
		return t.object.remove(ctx)
	}
	t.after, t.replaced, t.memory, t.wire = created, true, t.object.remembered(t.step.Of), cmp.Or(t.created, t.wire)
	if err := t.remember(); err != nil {
		return err
	}
	t.memory.last = t.applied()
	t.dryRun = nil // of the apply that the server refused
	t.check(replace, t.before.GetUID() != t.after.GetUID(), "it is the same object: %v", t.after)
	isUntried := slices.ContainsFunc(t.plan.Warnings, isUntried)
	if isUntried && (!t.plan.After.Fields.Equal(t.memory.state.Applied.Fields) || t.leavesOutEmpty()) {
		t.judgeUntried()
		return nil
	}
	made := t.after
	if !isUntried && len(t.giveUp) > 0 && hasHook(t.manifest) {
		planned := t.plannedNew()
		lines := differences(withoutBookkeeping(planned.Object), withoutBookkeeping(t.after.Object), nil)
		if t.hookedTwice = areOfHooks(lines); t.hookedTwice {
			made = planned // with which the rest is as the plan lists it
		}
	}
	t.judgeValues(made)
	if !isUntried || len(t.plan.Ownership) > 0 { // without an answer a plan says of no owner what becomes of it
		t.judgeOwners()
	}
	t.judgeFates()
	if isUntried {
		return nil // the server can't try the new object beside the old one, whose node port it has, say
	}
	t.unlisted = unlistedChanges(t.known(t.before), t.known(made), t.plan.Changes, t.filled(ctx))
	t.check(replace, len(t.unlisted) == 0, "%s; listed: %v", strings.Join(t.unlisted, "\n"), t.plan.Changes)
	return nil
}

// judgeUntried compares the values of a plan that names lists and maps as a whole, because neither a dry run nor the
// old managedFields showed the owners of their parts. The new object has all values of the plan, except empty ones. It
// may also have values that the server adds to them.
func (t *trial) judgeUntried() {
	for p, v := range t.plan.After.Leaves() {
		real, exists := valueAt(t.after, p)
		t.check(replace, exists && isPart(v, real) || !exists && isEmptyOrNull(v), "%s: planned %v, in reality %v", p, v, real)
	}
}

// leavesOutEmpty reports whether the new object lacks a map or list that the manifest declares as empty. Only the
// answer to a dry run would show which of them a server omits.
func (t *trial) leavesOutEmpty() bool {
	for p, v := range t.plan.After.Leaves() {
		if _, exists := valueAt(t.after, p); !exists && isEmptyOrNull(v) {
			return true
		}
	}
	return false
}

func isUntried(warning foreign.Text) bool {
	return strings.HasPrefix(string(warning), "unknown which fields the server adds to the new object: ")
}

// freed returns what takes the finalizers away that an object waits for which is being deleted: no controllers run
// here.
func (t *trial) freed(ctx context.Context) func(identity.Identity, []string) {
	return func(identity.Identity, []string) { _ = t.object.remove(ctx) }
}

// known returns the object without what a plan can't know of a new one: its status, and what the server makes up.
func (t *trial) known(obj *unstructured.Unstructured) map[string]any {
	var tree any = copyOf(obj.Object)
	made := slices.Clone(t.plan.Generated)
	slices.SortFunc(made, projection.Path.Compare)
	for _, p := range slices.Backward(made) { // items at the end of lists go first
		if at, ok := resolve(tree, p); ok {
			tree = cut(tree, at)
		}
	}
	for _, at := range []place{{"status"}, {"metadata", "deletionTimestamp"}, {"metadata", "deletionGracePeriodSeconds"}} {
		tree = cut(tree, at)
	}
	m := tree.(map[string]any)
	if finalizers, _ := lookup(m, place{"metadata", "finalizers"}); isLongList(finalizers) { // a set, to which plugins add theirs
		slices.SortFunc(finalizers.([]any), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return m
}
