package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// removing is the removal of objects that are remembered.
type removing struct {
	*options
	entries []statefile.Entry
	removal *set.Removal
	items   []*set.RemovalItem
	gone    map[int]bool // by the number of the entry
}

// removalOptions returns how objects are removed while others stay.
func (p *planning) removalOptions(stay []manifest.Manifest) set.RemovalOptions {
	options := set.RemovalOptions{Adopted: p.pruneAdopted, Contents: p.withContents, Patience: p.timeout, Set: p.set}
	for _, m := range stay {
		id := m.Identity
		if id.Namespace == "" {
			id.Namespace = p.cluster.namespace // also of kinds without namespaces, which does no harm
		}
		options.InUse = append(options.InUse, id)
	}
	return options
}

// planRemoval plans to delete objects that are remembered, but those for which there is a reason to keep them. The
// error is that of a context that ended.
func (p *planning) planRemoval(ctx context.Context, entries []statefile.Entry, stay []manifest.Manifest,
	keep ...string) (*removing, error) {
	members := make([]set.Member, len(entries))
	for i, e := range entries {
		members[i] = set.Member{Object: e.State.Identity, UID: e.State.UID, Adopted: e.State.Adopted, State: e.State}
	}
	removal := set.NewRemoval(p.cluster.planner, keeping(members, keep), p.removalOptions(stay))
	r := &removing{options: p.options, entries: entries, removal: removal, gone: map[int]bool{}}
	for item := range r.removal.Plan(ctx) {
		if ctx.Err() != nil {
			return nil, errors.New("interrupted while planning what to delete")
		}
		r.items = append(r.items, item)
	}
	return r, nil
}

// deletes reports whether something is going to be deleted.
func (r *removing) deletes() bool { return slices.ContainsFunc(r.items, (*set.RemovalItem).Deletes) }

// shown returns what is to be printed.
func (r *removing) shown() (removals []render.Removal) {
	for _, item := range r.items {
		removal := render.Removal{Object: item.Member.Object, Plan: item.Plan, Kept: item.Kept}
		if item.Err != nil {
			removal.Kept = oneLine(item.Err.Error())
		}
		removals = append(removals, removal)
	}
	return removals
}

// apply deletes, tells what it did, and has forgotten what isn't there any more. It reports whether all went well.
func (r *removing) apply(ctx context.Context, journal *statefile.Journal,
	add func(render.Result)) (ok bool, err error) {
	ok = true
	for result := range r.removal.Apply(ctx) {
		id := result.Item.Member.Object
		add(pruned(result))
		switch {
		case result.Err != nil && ctx.Err() != nil && result.Outcome == write.OutcomeNotSent:
			return false, fmt.Errorf("interrupted before %s", id)
		case result.Err != nil:
			ok = false
			say(r.ErrOut, oneLine(result.Err.Error()))
		case result.Outcome == write.OutcomeDone:
			fmt.Fprintf(r.ErrOut, "deleted %s\n", id)
		case !result.Gone:
			say(r.ErrOut, result.Item.String())
		}
		r.gone[result.Item.Number] = result.Gone
		if result.Gone && journal != nil {
			if err := forget(ctx, journal, r.entries[result.Item.Number]); err != nil {
				return false, err
			}
		}
	}
	return ok, nil
}

// pruned returns what is to be told of a removal.
func pruned(of *set.RemovalResult) render.Result {
	result := render.Result{Object: of.Item.Member.Object, Action: render.ActionPrune, Outcome: of.Outcome}
	switch {
	case of.Err != nil:
		result.Class, result.Message = string(authresilience.Classify(of.Err)), oneLine(of.Err.Error())
	case of.Outcome == write.OutcomeNotSent:
		result.Message = "kept: " + foreign.Visible(of.Item.Kept)
	}
	return result
}

// forget takes an object out of the memory, at once.
func forget(ctx context.Context, journal *statefile.Journal, e statefile.Entry) error {
	ctx, cancel := lastly(ctx)
	defer cancel()
	return journal.Forget(ctx, e)
}

// found returns the entries with the UIDs of objects that an interrupted run was going to make, and may have made, and
// why those are kept of which nothing shows that it did. Those that aren't there are left out.
func (p *planning) found(ctx context.Context, entries []statefile.Entry) (there []statefile.Entry, keep []string) {
	for _, e := range entries {
		why := ""
		if e.Intended {
			reading, err := p.cluster.planner.Read(ctx, e.State)
			switch {
			case err == nil && reading.Live == nil && reading.Presence != ssaplan.PresenceUnreadable:
				continue
			case err != nil || reading.Live == nil:
				why = "an interrupted run was going to make it, and it can't be read"
			case !p.isOurs(reading.Live):
				why = "an interrupted run was going to make it, and nothing shows that it did"
			default:
				state := *e.State
				state.UID = string(reading.Live.GetUID())
				e.State = &state
			}
		}
		there, keep = append(there, e), append(keep, why)
	}
	return there, keep
}

// isOurs reports whether the field manager of this program has applied an object.
func (p *planning) isOurs(live *unstructured.Unstructured) bool {
	ownership, err := fieldowner.Read(live.Object)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(ownership.Entries(), func(e fieldowner.Entry) bool {
		return fieldowner.Applier{Manager: p.manager}.Is(e.Owner)
	})
}

// isOther reports whether an entry is of another object than a manifest.
func (p *planning) isOther(e *statefile.Entry, object identity.Identity) bool {
	return e != nil && input.Key(e.State.Identity, p.cluster.namespace) != input.Key(object, p.cluster.namespace)
}
