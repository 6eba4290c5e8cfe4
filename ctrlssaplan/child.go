package ctrlssaplan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// child is an object of an owner: what it has to be, what it is, and what is going to be done.
type child struct {
	id             identity.Identity
	owner          client.Object
	ownerKind      string
	wanted         Child
	manifest, live *unstructured.Unstructured // nil if it isn't wanted, or not there
	planner        *ssaplan.Planner
	plan           *ssaplan.Plan
	memory         *remembered
	outcome
}

// fail takes an error for the outcome. A refusal stays one until something changes; anything else may pass.
func (c *child) fail(err error) {
	var refusal *immutability.RefusedError
	if errors.As(err, &refusal) {
		c.verdict, c.text = refused, foreign.OfError(err).String()
		return
	}
	c.verdict, c.text, c.err = failed, foreign.OfError(err).String(), err
}

// writing are what is said of a write that failed, by what became of it.
var writing = map[write.Outcome]string{
	write.OutcomeNotSent: "not written", write.OutcomeRefused: "not written, refused",
	write.OutcomeUnknown: "maybe written", write.OutcomeDone: "written, but not as it has to be yet",
}

// failWrite takes the error of a write for the outcome, which says what became of it.
func (c *child) failWrite(err error, became write.Outcome) {
	if c.fail(err); c.verdict != failed {
		return
	}
	c.unwritten, c.text = true, writing[became]+": "+c.text
	if became == write.OutcomeUnknown {
		c.verdict = unknown
	}
}

// judge finds out whether the plan may be carried out, and if not why.
func (c *child) judge(policy Policy) {
	switch {
	case c.plan.Action == ssaplan.ActionConflict:
		c.verdict, c.text = conflicting, lines(c.plan.Conflicts)
	case c.plan.Action == ssaplan.ActionDeferred:
		c.verdict, c.text = deferred, c.plan.Reason+declared(c.plan)
	case c.plan.Action == ssaplan.ActionReplace && (c.live == nil || c.plan.Replacement.UID != string(c.live.GetUID())):
		c.fail(errAnew)
	case c.plan.Action == ssaplan.ActionReplace && !policy.Replace:
		c.verdict, c.text = replacementNeeded, replacement(c.plan, policy.ToReplace)
	case c.intends() || !c.putsBack():
	case policy.Drift == DriftReport && !c.isGone():
		c.verdict, c.text = drifted, lines(drift(c.plan))
	case c.memory.fought(time.Now()):
		text := lines(drift(c.plan))
		if c.isGone() {
			text = "was deleted again"
		}
		c.fought = true
		c.verdict, c.text = drifted,
			fmt.Sprintf("%s; left for now, after %d repairs within %v", text, maxRepairs, repairWindow)
	}
}

// putsBack reports whether the plan undoes what others did.
func (c *child) putsBack() bool { return len(drift(c.plan)) > 0 || c.isGone() }

// isGone reports whether the child isn't there any more.
func (c *child) isGone() bool {
	return c.plan.Action == ssaplan.ActionCreate && c.memory.applied != nil
}

// isBeyondReach reports whether the child is wanted where an object of the owner's namespace owns nothing. The garbage
// collector looks for the owner in the namespace of the child, and deletes the child because there is none.
func (c *child) isBeyondReach() bool {
	return c.manifest != nil && c.owner.GetNamespace() != "" && c.owner.GetNamespace() != c.id.Namespace
}

// writes reports whether carrying out what was planned sends a write, where some child may be in the way.
func (c *child) writes(blocked bool) bool {
	isNoOp := c.plan != nil && c.plan.Action == ssaplan.ActionNoOp
	return c.verdict == "" && !isNoOp && !(blocked && c.edits())
}

// edits reports whether the plan waits for the other children: it does more than to put something back, or deletes the
// child.
func (c *child) edits() bool {
	return c.plan == nil || c.plan.Action == ssaplan.ActionReplace || c.intends()
}

// intends reports whether the plan has what the owner didn't want before. A child that isn't there is put back.
func (c *child) intends() bool {
	if c.plan.Action != ssaplan.ActionUpdate && c.plan.Action != ssaplan.ActionReplace {
		return false
	}
	for _, change := range c.plan.Changes {
		if change.Cause != explain.CauseDrifted && change.Cause != explain.CauseSideEffect {
			return true
		}
	}
	return len(drift(c.plan)) == 0
}

// drift returns what others changed.
func drift(plan *ssaplan.Plan) []explain.Change {
	var out []explain.Change
	for _, change := range plan.Changes {
		if change.Cause == explain.CauseDrifted {
			out = append(out, change)
		}
	}
	return out
}

// declared tells what the manifest has of which nobody could be asked.
func declared(plan *ssaplan.Plan) string {
	fields := projection.Diff(projection.Project(nil, plan.After.Fields), plan.After)
	if len(fields) == 0 {
		return ""
	}
	return "; declared: " + lines(fields)
}

// replacement tells what a replacement would cost, and how to have it.
func replacement(plan *ssaplan.Plan, toReplace string) string {
	hazards := slices.DeleteFunc(slices.Clone(plan.Replacement.Hazards), func(h immutability.Hazard) bool {
		return h.Kind == immutability.HazardOwner // of the child, to whom it is reported
	})
	text := plan.Reason
	if len(hazards) > 0 {
		text += " (replacing it: " + lines(hazards) + ")"
	}
	if toReplace != "" {
		text += "; to delete and re-create it, " + toReplace
	}
	return text
}

// errAnew says that the object that was looked at is another one by now.
var errAnew = errors.New("was re-created meanwhile, maybe by another client: checking again")
