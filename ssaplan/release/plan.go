package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Action is what letting go of an object does.
type Action string

// The actions of a [Plan].
const (
	// ActionRelease: the manager owns fields, and stops owning them.
	ActionRelease Action = "Release"
	// ActionNothing: the manager owns nothing.
	ActionNothing Action = "Nothing"
	// ActionGone: there is no such object, or another one by now.
	ActionGone Action = "Gone"
)

// Plan is what letting go of an object does.
type Plan struct {
	Object  identity.Identity
	UID     string
	Manager string
	Action  Action
	// Fields are the fields that the manager owned, and who owns each of them still: nobody, if there are none.
	Fields []fieldowner.Transfer

	target   Target
	shown    func(error) error
	handover fieldowner.Handover
}

// Target is the object in the cluster.
type Target interface {
	// Live returns the object, nil if there is none.
	Live(ctx context.Context) (*unstructured.Unstructured, error)
	// Patch sends a JSON patch of the live object as a manager.
	Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string, dryRun ...string) (*unstructured.Unstructured, error)
}

// For returns what letting go of the object does that a host remembers. It reads the object, and writes nothing. Without a known UID no
// object is the remembered one. Shown makes of an error of the target what may be printed of it.
func For(ctx context.Context, target Target, prior *explain.State, shown func(error) error) (*Plan, error) {
	plan := &Plan{Object: prior.Identity, UID: prior.UID, Manager: prior.Manager, Action: ActionGone, target: target, shown: shown}
	live, err := target.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: plan to release: %w", prior.Identity, shown(err))
	}
	if live == nil || prior.UID == "" || string(live.GetUID()) != prior.UID {
		return plan, nil
	}
	if err := plan.of(live); err != nil {
		return nil, fmt.Errorf("%s: plan to release: %w", prior.Identity, err)
	}
	return plan, nil
}

// of fills the plan from the live object.
func (p *Plan) of(live *unstructured.Unstructured) (err error) {
	if p.handover, err = fieldowner.Release(live.Object, p.Manager); err != nil {
		return err
	}
	if p.Action = ActionRelease; p.handover.Empty() {
		p.Action = ActionNothing
		return nil
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return err
	}
	ours := owners.Fields(fieldowner.By(p.Manager))
	for path := range ours.Leaves().All() {
		others := slices.DeleteFunc(owners.Of(path), fieldowner.By(p.Manager))
		p.Fields = append(p.Fields, fieldowner.Transfer{Path: path, Kind: fieldowner.TransferGivenUp, Owners: others})
	}
	return nil
}

// attempts is how often Apply follows an object that others change.
const attempts = 3

// Apply does what the plan says, guarded by the version of the object, and nothing if there is nothing to do. If the object changed, it looks
// again, and goes on if the plan would be the same; if the answer was lost, it looks whether that was done. Every error is a
// [write.ApplyError]. The plan itself stays as it was reviewed.
func (p *Plan) Apply(ctx context.Context) error {
	now := p
	for attempt := 1; now.Action == ActionRelease; attempt++ {
		err := now.send(ctx)
		if err == nil {
			return nil
		}
		again, failed := For(ctx, p.target, &explain.State{Identity: p.Object, UID: p.UID, Manager: p.Manager}, p.shown)
		isDone := failed == nil && again.Action != ActionRelease
		isSame := failed == nil && err.Outcome == write.OutcomeRefused && applier.Outrun(err) && again.covers(p)
		if attempt == attempts || !isDone && !isSame {
			return err
		}
		now = again
	}
	return nil
}

// covers reports whether letting go does the same as what was reviewed.
func (p *Plan) covers(reviewed *Plan) bool {
	return slices.EqualFunc(p.Fields, reviewed.Fields, func(a, b fieldowner.Transfer) bool {
		return a.Path.Equal(b.Path) && slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
	})
}

// send sends the patch, once.
func (p *Plan) send(ctx context.Context) *write.ApplyError {
	failed := func(outcome write.Outcome, err error) *write.ApplyError {
		return &write.ApplyError{Object: p.Object, Outcome: outcome, Err: fmt.Errorf("%s: release: %w", p.Object, err)}
	}
	patch, err := p.handover.Patch()
	if err != nil {
		return failed(write.OutcomeNotSent, err)
	}
	live := &unstructured.Unstructured{Object: p.handover.Object()}
	if _, err = p.target.Patch(ctx, live, patch, p.Manager); err != nil {
		return failed(applier.Of(err), p.shown(err))
	}
	return nil
}

// String returns a line about the plan, and one for each field.
func (p *Plan) String() string {
	lines := []string{fmt.Sprintf("%s %s: %s", p.Action, p.Object, words[p.Action])}
	for _, f := range p.Fields {
		lines = append(lines, "  "+f.String())
	}
	return strings.Join(lines, "\n")
}

var words = map[Action]string{
	ActionRelease: "stays as it is, and these fields are given up", ActionNothing: "nothing of it is owned", ActionGone: "isn't there any more",
}
