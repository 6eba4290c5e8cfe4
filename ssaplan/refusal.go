package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
)

// RefusedError is the error of [Planner.Plan] that says that the server won't make the object what the manifest says, and that replacing the object isn't
// known to help.
type RefusedError struct {
	Object identity.Identity
	// Verdict is what is known of the refusal.
	Verdict immutability.Verdict
	// Err is the server's answer.
	Err error
}

// Error returns one line: the object, the fields with what the server says of them, and what to do.
func (e *RefusedError) Error() string {
	var fields []string
	for _, f := range e.Verdict.Fields {
		fields = append(fields, f.String())
	}
	text := fmt.Sprintf("%s: %s: %s", e.Object, refusalWords[e.Verdict.Refusal], strings.Join(fields, "; "))
	if len(fields) == 0 {
		text = fmt.Sprintf("%s: %v", e.Object, e.Err)
	}
	if len(e.Verdict.Leftovers) > 0 {
		text += "; in the way: " + pathList(e.Verdict.Leftovers)
	}
	if e.Verdict.Remedy != "" {
		text += "; " + e.Verdict.Remedy
	}
	if e.Verdict.Uncertain != "" {
		text += " (uncertain: " + e.Verdict.Uncertain + ")"
	}
	return text
}

// Unwrap returns the server's answer.
func (e *RefusedError) Unwrap() error { return e.Err }

var refusalWords = map[immutability.Refusal]string{
	immutability.RefusalNone:                 "refused",
	immutability.RefusalImmutable:            "can't change in place, and it isn't known whether replacing it works",
	immutability.RefusalDirectional:          "can change in one direction only, and replacing it loses what that protects",
	immutability.RefusalInvalid:              "invalid",
	immutability.RefusalMergeLeftover:        "a field that the manifest doesn't mention is in the way",
	immutability.RefusalMetadataPrecondition: "the manifest's metadata doesn't fit the object",
	immutability.RefusalAdmissionDenied:      "denied by admission",
}

// refused turns the server's refusal of the dry run into a plan, or into an error if applying can't work.
func (p *Planner) refused(ctx context.Context, plan *Plan, err error) error {
	class := authresilience.Classify(err)
	if class == authresilience.ClassTypeNotServed {
		p.kinds.forget(plan.Object.Group(), plan.Object.Version())
		plan.deferToType()
		return nil
	}
	if plan.live != nil && plan.live == plan.request.Live { // which may be out of date
		var failed error
		if plan.live, failed = plan.target.live(ctx); failed != nil {
			return p.failure(plan.Object, "get", failed)
		}
	}
	switch conflicts := fieldowner.ConflictsFromError(err, plan.liveObject()); {
	case len(conflicts) > 0:
		return p.conflict(ctx, plan, conflicts)
	case class == authresilience.ClassNamespaceNotFound && plan.live == nil:
		plan.deferToNamespace()
		return nil
	case slices.ContainsFunc(answer.Statuses(err), answer.NoDryRun):
		plan.deferTo(DeferralNoDryRun, plan.shown(err).Error())
		return nil
	}
	if len(plan.request.Unknown) > 0 {
		plan.deferTo(DeferralUnknownValues, fmt.Sprintf("can't be tried without the values of %s: %v", pathList(plan.Unknown), plan.shown(err)))
		return nil
	}
	verdict := immutability.Classify(err)
	if verdict.Refusal == immutability.RefusalNone {
		return p.failure(plan.Object, "dry run", err)
	}
	if plan.live == nil && verdict.Refusal != immutability.RefusalAdmissionDenied {
		verdict.Refusal = immutability.RefusalInvalid // there is nothing that could have been immutable
		verdict.Certainty, verdict.Uncertain = immutability.CertaintyProven, ""
		verdict = verdict.Locate(plan.manifest, nil, projection.FieldSet{})
	}
	if plan.live != nil {
		verdict = p.probe(ctx, plan, verdict)
	}
	plan.hideIn(&verdict)
	if !verdict.Replaceable() {
		return &RefusedError{plan.Object, verdict, plan.shown(err)}
	}
	plan.replaceFor(verdict)
	return nil
}

// ipAddresses is the resource by which a server keeps track of the cluster IPs of Services.
var ipAddresses = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ipaddresses"}

func (p *Planner) probe(ctx context.Context, plan *Plan, verdict immutability.Verdict) immutability.Verdict {
	addresses := &trackedResource{
		resource: p.resources(ipAddresses, ""), sender: p.options.sender(),
		object: identity.Identity{APIVersion: ipAddresses.GroupVersion().String(), Kind: "IPAddress"},
	}
	server := &probed{Writer: plan.target.resource}
	verdict = immutability.Probe(ctx, server, plan.manifest, plan.live, verdict,
		immutability.ProbeOptions{FieldManager: p.options.FieldManager, IPAddresses: addresses})
	plan.target.resource.requests += addresses.requests
	if create := verdict.Evidence.Create; create.Outcome == immutability.OutcomeUnanswered {
		if plan.unproven = server.err; server.err == nil {
			plan.unproven = errors.New(create.Message)
		}
	}
	return verdict
}

// probed keeps the answer to a create, of which evidence has no more than the text.
type probed struct {
	immutability.Writer
	err error
}

func (s *probed) Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, sub ...string) (*unstructured.Unstructured, error) {
	created, err := s.Writer.Create(ctx, obj, options, sub...)
	s.err = err
	return created, err
}

// conflict makes the plan a conflict. What would change is what a forced apply would do, if that can be tried.
func (p *Planner) conflict(ctx context.Context, plan *Plan, conflicts []fieldowner.Conflict) error {
	forced, force := plan.Patch, true
	forced.Options.Force = &force
	dryRun, err := plan.target.dryRun(ctx, forced)
	switch {
	case err != nil:
		plan.Warnings = append(plan.Warnings, "what taking over the fields would change isn't known: "+plan.refusal(err))
	case dryRun.GetResourceVersion() != plan.liveVersion():
		plan.Warnings = append(plan.Warnings, "what taking over the fields would change isn't known: the object changed meanwhile")
	default:
		if err := p.compare(plan, dryRun, plan.request.Prior); err != nil {
			return err
		}
		plan.leaveOutUnknown()
	}
	plan.Action, plan.Deferral, plan.Conflicts = ActionConflict, "", conflicts
	plan.Reason = count(len(conflicts), "field has another value and another owner", "fields have other values and other owners")
	return nil
}

// refusal says in a line why a server refused, without the values that it quotes.
func (plan *Plan) refusal(err error) string {
	verdict := immutability.Classify(err)
	if verdict.Refusal == immutability.RefusalNone {
		return plan.shown(err).Error()
	}
	plan.hideIn(&verdict)
	verdict.Uncertain, verdict.Remedy = "", ""
	return (&RefusedError{plan.Object, verdict, plan.shown(err)}).Error()
}

// shown returns err as it can be printed.
func (plan *Plan) shown(err error) error {
	return hideSecrets(authresilience.Redact(err), plan.request.Manifest, plan.live)
}

// hideIn takes the sensitive values out of what the server said of the fields.
func (plan *Plan) hideIn(verdict *immutability.Verdict) {
	secrets := secretsIn([]*unstructured.Unstructured{plan.request.Manifest, plan.live})
	verdict.Fields = slices.Clone(verdict.Fields)
	for i := range verdict.Fields {
		verdict.Fields[i].Message = secrets.hide(verdict.Fields[i].Message)
	}
	verdict.Uncertain = secrets.hide(verdict.Uncertain)
}

// replaceFor makes the plan a replacement because of fields that can't change in place.
func (plan *Plan) replaceFor(verdict immutability.Verdict) {
	plan.Action = ActionReplace
	plan.Replacement = &Replacement{Evidence: verdict.Evidence.String(), Old: plan.Object, UID: string(plan.live.GetUID()), Hazards: verdict.Hazards}
	var paths []string
	plan.Replacement.Fields = verdict.Fields
	for _, f := range verdict.Fields {
		paths = append(paths, f.Name())
	}
	plan.Reason = "can't change in place: " + strings.Join(paths, ", ")
}
