package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/redact"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Action is what carrying out a [Plan] will do.
type Action string

// The actions of a [Plan].
const (
	// ActionRelease: the manager owns fields, and stops owning them.
	ActionRelease Action = "Release"
	// ActionNothing: the manager owns nothing.
	ActionNothing Action = "Nothing"
	// ActionGone: the object doesn't exist any more, or was re-created, or the state has no UID, so that it isn't known
	// which object is meant.
	ActionGone Action = "Gone"
	// ActionRefused: the manager owns fields, and the server rejects the release.
	ActionRefused Action = "Refused"
)

// Plan says what happens when the manager stops owning the object.
type Plan struct {
	Object  identity.Identity
	UID     string
	Manager string
	Action  Action
	// Fields are the fields that the manager stops owning, each with its remaining owners, if any. After them come
	// fields of others that lose their owner. That can happen if others wrote a custom resource in another version, and
	// the server can't convert it: then a server up to 1.36 can drop all managedFields. A later server keeps them, and
	// rejects the release.
	Fields []fieldowner.Transfer
	// Changes are values that change with the release, although it sends none: a webhook, for example, may change the
	// object at each write.
	Changes []explain.Change
	// Warnings are the server's warnings, and what the plan couldn't find out.
	Warnings []foreign.Text
	// Refusal is the server's refusal if the action is Refused, without sensitive values.
	Refusal error

	target     Target
	redactorOf func(...*unstructured.Unstructured) redact.Redactor
	remembered *unstructured.Unstructured
	redactor   redact.Redactor // for what is remembered and the live object
	live       *unstructured.Unstructured
	released   map[string]any // the live object without what the manager owns
	patch      []byte
	busy       bool // others write the object all the time
}

// Target is the object in the cluster.
type Target interface {
	// Live returns the object, nil if there is none.
	Live(ctx context.Context) (*unstructured.Unstructured, error)
	// Patch sends a JSON patch of the live object as a manager.
	Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string,
		dryRun ...string) (*unstructured.Unstructured, error)
	// TryByRecord sends such a patch as a dry run, for an object that others write all the time. The patch must then be
	// guarded by the old managedFields in place of the resourceVersion. TryByRecord returns the object as it is when
	// the server answers (now), and what the server would make of it (made). Both have the same resourceVersion.
	TryByRecord(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string) (now,
		made *unstructured.Unstructured, err error)
}

// For returns the plan to release the object of a stored state. It reads the object and sends the release as a dry run,
// so it writes nothing. If prior has no UID, the action is [ActionGone]. redactor returns the Redactor that redacts
// sensitive values in messages of the server; see Planner.Redactor of package ssaplan.
func For(ctx context.Context, target Target, prior *explain.State,
	redactor func(...*unstructured.Unstructured) redact.Redactor) (*Plan, error) {
	plan := &Plan{Object: prior.Identity, UID: prior.UID, Manager: prior.Manager, target: target, redactorOf: redactor}
	plan.remembered = secrecy.Remembered(prior.Identity, prior.Applied.Object)
	for attempts := applier.NewAttempts(ctx); ; plan.busy = true {
		err := plan.look(ctx)
		if err == nil && plan.Action == ActionRelease {
			err = plan.try(ctx)
		}
		switch {
		case err == nil:
			return plan, nil
		case !applier.Moved(err) || !attempts.Again(plan.live):
			return nil, fmt.Errorf("%s: plan to release: %w", prior.Identity, plan.redactor.Error(err))
		}
	}
}

// look makes the plan the one for the object as it is.
func (p *Plan) look(ctx context.Context) error {
	p.Action, p.Fields, p.Changes, p.redactor = ActionGone, nil, nil, p.redactorOf(p.remembered)
	live, err := p.target.Live(ctx)
	if err == nil {
		err = precondition.Another(p.live, live)
	}
	if err != nil || live == nil || p.UID == "" || string(live.GetUID()) != p.UID {
		return err
	}
	p.live, p.redactor = live, p.redactorOf(live, p.remembered)
	return p.of(live)
}

// try has the server try the release, and notes what that changes, or the refusal. Only an error that isn't about the
// release is returned.
func (p *Plan) try(ctx context.Context) error {
	listening, collected := warnings.Collect(ctx)
	made, err := p.ask(listening)
	p.Warnings = p.redactor.Warnings(collected.All())
	switch {
	case err == nil:
		if err = p.compareOwners(made); err == nil {
			err = p.compareValues(made)
		}
		return err
	case slices.ContainsFunc(answer.Statuses(err), answer.NoDryRun):
		p.Warnings = append(p.Warnings,
			foreign.Textf("unknown whether the server would release it: %v", p.redactor.Error(err)))
	case applier.Denied(err):
		p.Action, p.Refusal = ActionRefused, p.redactor.Error(err)
	default:
		return err
	}
	return nil
}

// ask returns the object as the server would make it. If others write it all the time, the plan becomes the one for
// what is there when it answers, which has the same record.
func (p *Plan) ask(ctx context.Context) (*unstructured.Unstructured, error) {
	if !p.busy {
		return p.target.Patch(ctx, p.live, p.patch, p.Manager, metav1.DryRunAll)
	}
	now, made, err := p.target.TryByRecord(ctx, p.live, p.patch, p.Manager)
	if err == nil {
		p.live, p.redactor = now, p.redactorOf(now, p.remembered)
		err = p.of(now)
	}
	return made, err
}

// compareOwners notes who owns what by the record that the server makes of the released object: none where it can't
// read the object any more, or the one of before, as nothing is given up then.
func (p *Plan) compareOwners(made *unstructured.Unstructured) error {
	before, err := fieldowner.Read(p.live.Object)
	if err != nil {
		return err
	}
	after, err := before.ReadOther(made.Object)
	if err != nil {
		return err
	}
	if after.Equal(before) {
		p.Action, p.Refusal = ActionRefused, kept(before, p.live)
		return nil
	}
	sensitive := p.redactor.Fields(p.live)
	p.Fields = givenUp(before.Redacted(sensitive), after.Redacted(sensitive), fieldowner.By(p.Manager))
	return nil
}

// kept is why a server gives up nothing, with the versions that may be the reason, and the way out if they are gone: an
// apply moves the record, which a release doesn't.
func kept(owners fieldowner.Ownership, live *unstructured.Unstructured) error {
	var versions []string
	for _, e := range owners.Entries() {
		if version := e.APIVersion.String(); version != live.GetAPIVersion() && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	if slices.Sort(versions); len(versions) == 0 {
		return applier.ErrKept
	}
	return fmt.Errorf("%w: if the CRD no longer has %s, apply the object with it as a lost version, then release it",
		applier.ErrKept, strings.Join(versions, " or "))
}

// givenUp returns the fields of one record that are ours, with who has them in the other one, and those that others had
// and don't have there.
func givenUp(before, after fieldowner.Ownership, ours func(fieldowner.Owner) bool) (fields []fieldowner.Transfer) {
	for path := range before.Fields(ours).Leaves().All() {
		others := slices.DeleteFunc(after.Of(path), ours)
		fields = append(fields, fieldowner.Transfer{Path: path, Kind: fieldowner.TransferGivenUp, Owners: others})
	}
	theirs := before.Fields(func(o fieldowner.Owner) bool { return !ours(o) })
	for path := range theirs.Leaves().All() {
		if len(slices.DeleteFunc(after.Of(path), ours)) == 0 {
			lost := slices.DeleteFunc(before.Of(path), ours)
			fields = append(fields, fieldowner.Transfer{Path: path, Kind: fieldowner.TransferDisowned, Owners: lost})
		}
	}
	return fields
}

// compareValues notes what changes in the object that a server makes of the released one: as an apply does of a
// manifest without fields.
func (p *Plan) compareValues(made *unstructured.Unstructured) error {
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(p.live.GroupVersionKind())
	nothing.SetName(p.live.GetName())
	nothing.SetNamespace(p.live.GetNamespace())
	explained, err := explain.Apply(explain.Input{
		Manifest: nothing.Object, Live: p.released, Answer: made.Object, Manager: p.Manager,
		Sensitive: p.redactor.Fields(p.live),
	})
	if err == nil {
		p.Changes = explained.Changes
	}
	return err
}

// of fills the plan from the live object.
func (p *Plan) of(live *unstructured.Unstructured) error {
	change, err := fieldowner.Release(live.Object, p.Manager)
	if err != nil {
		return err
	}
	if p.Action = ActionRelease; change.Empty() {
		p.Action = ActionNothing
		return nil
	}
	p.released = change.Object()
	if p.patch, err = change.Patch(); err != nil {
		return err
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return err
	}
	owners = owners.Redacted(p.redactor.Fields(live))
	p.Fields = givenUp(owners, owners, fieldowner.By(p.Manager))
	return nil
}

// Apply carries out the plan, with the resourceVersion of the object as a precondition. It sends nothing if there is
// nothing to do. If the object changed, it plans again, and goes on if the new plan is the same; then the owners of the
// fields are the precondition. If the answer was lost, it reads the object to find out whether the release happened,
// even if ctx has ended. Every error is a [write.ApplyError]. The plan itself isn't modified.
func (p *Plan) Apply(ctx context.Context) error {
	if p.Action == ActionRefused {
		return p.failed(applier.NotSent(p.Refusal))
	}
	now := *p
	now.busy = false
	for attempts := applier.NewAttempts(ctx); now.Action == ActionRelease; now.busy = true {
		sent := now
		made, failure := applier.Once(ctx, sent.send, func(ctx context.Context) applier.Found {
			if err := now.look(ctx); err != nil {
				return applier.Found{Err: err}
			} else if now.Action != ActionRelease {
				return applier.Found{Done: true}
			}
			return applier.Compare(sent.live, now.live)
		})
		if failure == nil && sent.isKept(made) {
			return p.failed(&applier.Failure{Outcome: write.OutcomeRefused, Err: applier.ErrKept})
		}
		if failure == nil {
			return nil
		}
		isLostRace := failure.Outcome == write.OutcomeRefused && applier.LostRace(failure)
		if !isLostRace || !now.covers(p) || !attempts.Again(now.live) {
			failure.Err = sent.redactor.Error(failure.Err)
			return p.failed(failure)
		}
	}
	return nil
}

// isKept reports whether the answer to the write, nil if it was lost, has the record of before: the dry run was of
// another object, or there was none.
func (p *Plan) isKept(made *unstructured.Unstructured) bool {
	if made == nil {
		return false
	}
	before, err := fieldowner.Read(p.live.Object)
	after, otherwise := fieldowner.Read(made.Object)
	return err == nil && otherwise == nil && after.Equal(before)
}

// covers reports whether the release does the same as the reviewed one. What it would change now isn't known.
func (p *Plan) covers(reviewed *Plan) bool {
	now, then := explain.Explanation{Ownership: p.Fields}, explain.Explanation{Ownership: reviewed.Fields}
	return len(reviewed.Changes) == 0 && now.Same(&then)
}

func (p *Plan) send(ctx context.Context) (*unstructured.Unstructured, error) {
	patch := p.patch
	if p.busy {
		var err error
		if patch, err = precondition.ByRecord(p.live, patch, projection.FieldSet{}); err != nil {
			return nil, err
		}
	}
	return p.target.Patch(ctx, p.live, patch, p.Manager)
}

func (p *Plan) failed(f *applier.Failure) *write.ApplyError {
	return &write.ApplyError{Object: p.Object, Outcome: f.Outcome, Err: fmt.Errorf("%s: release: %w", p.Object, f.Err),
		Advice: f.Advice}
}

// Format prints [Plan.String] whatever the verb, so that no verb shows a secret.
func (p Plan) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, p.String()) }

// String returns a line about the plan, and one for each given-up field, each change, and each warning.
func (p Plan) String() string {
	does := words[p.Action]
	if len(p.Changes) > 0 {
		does = "these fields are given up, and others change along with that"
	}
	lines := []string{fmt.Sprintf("%s %s: %s", p.Action, p.Object, does)}
	if p.Refusal != nil {
		lines[0] += ": " + foreign.OfError(p.Refusal).String()
	} else {
		for _, f := range p.Fields {
			lines = append(lines, "  "+f.String())
		}
		for _, c := range p.Changes {
			lines = append(lines, "  "+c.String())
		}
	}
	for _, w := range p.Warnings {
		lines = append(lines, "  warning: "+w.String())
	}
	return strings.Join(lines, "\n")
}

var words = map[Action]string{
	ActionRelease: "stays as it is, and these fields are given up",
	ActionNothing: "the manager owns none of its fields", ActionGone: "no longer exists",
	ActionRefused: "the server rejects the release",
}
