package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// notTried handles two refusals that aren't about the fields of the manifest: the server doesn't serve the kind any
// more, or managedFields name a version that the CRD no longer has. It returns a plan or an error for these refusals.
// For every other refusal it returns nil.
func (t trial) notTried() (*Plan, error) {
	class := authresilience.Classify(t.refusal)
	isGone := class == authresilience.ClassNotFound && t.live != nil && t.request.Subresource != ""
	switch {
	case class == authresilience.ClassLostVersion:
		err := handover.Lost(t.live, t.refusal)
		if t.request.Subresource != "" {
			err = fmt.Errorf("%w; an apply of the object itself, with it as a lost version, moves them", err)
		}
		return nil, t.failed("dry run", err)
	case class == authresilience.ClassTypeNotServed || isGone:
		return t.notServed(t.refusal)
	}
	return nil, nil
}

// notServed returns the plan for a kind that the server doesn't serve any more.
func (t trial) notServed(cause error) (*Plan, error) {
	if t.request.Subresource != "" {
		return nil, t.failed("apply of the subresource "+t.request.Subresource, cause)
	}
	t.server.Forget(schema.GroupVersion{Group: t.id.Group(), Version: t.id.Version()})
	return t.deferToType(), nil
}

// unreadable returns the plan for an object that the caller may not read. If the caller may apply it, the plan has the
// values after the apply, but not the changes.
func (t trial) unreadable(ctx context.Context, cause error) (*Plan, trial, error) {
	switch authresilience.Classify(cause) {
	case authresilience.ClassAuthorization:
	case authresilience.ClassTypeNotServed: // the Planner's knowledge of the served kinds is out of date
		plan, err := t.notServed(cause)
		return plan, t, err
	default:
		return nil, t, t.failed("get", cause)
	}
	made, err := t.target.TryUnread(ctx, t.patch.Body, t.patch.Options)
	switch {
	case err == nil:
	case authresilience.Classify(err) == authresilience.ClassNamespaceNotFound:
		return t.deferToNamespace(), t, nil
	default:
		return nil, t, fmt.Errorf("%w; and the dry run: %w", t.failed("get", cause), t.redactError(err))
	}
	t.answer = made
	explained, t, err := t.explain()
	if err != nil {
		return nil, t, err
	}
	return deferred(DeferralUnreadable, "the live object can't be read: "+t.redactError(cause).Error(),
		explained.Unread()), t, nil
}

// refresh reads the live object again if it may be out of date, and returns the trial with it. It reports whether
// another dry run is needed, because the object has appeared, or because ignored fields may have other values.
func (t trial) refresh(ctx context.Context) (now trial, again bool, err error) {
	isListed := t.isSupplied && t.live == nil
	if !isListed && (t.live == nil || t.live != t.request.Live) {
		return t, false, nil
	}
	live, err := t.target.Live(ctx)
	if err != nil {
		return t, false, t.failed("get", err)
	}
	hasAppeared := isListed && live != nil
	isChanged := !t.prepared.Ignored.Empty() && !explain.SameVersion(content(live), content(t.request.Live), nil)
	return t.of(live), hasAppeared || isChanged, nil
}

// undecided handles a refusal that doesn't prove the manifest invalid: a conflict with other owners, a missing
// namespace, a webhook without support for dry runs, or unknown values. It returns a plan or an error then, and nil for
// every other refusal.
func (t trial) undecided(ctx context.Context) (*Plan, trial, error) {
	if conflicts := t.conflicts(); len(conflicts) > 0 {
		return t.conflict(ctx, conflicts)
	}
	switch {
	case authresilience.Classify(t.refusal) == authresilience.ClassNamespaceNotFound && t.live == nil:
		return t.deferToNamespace(), t, nil
	case slices.ContainsFunc(answer.Statuses(t.refusal), answer.NoDryRun):
		return deferred(DeferralNoDryRun, t.redactError(t.refusal).Error(), t.unexplained()), t, nil
	case !t.prepared.Unknown.Empty() && len(t.unknownItems()) == 0:
		reason := fmt.Sprintf("can't be tried without the values of %s: %v",
			projection.JoinPaths(t.prepared.Unknown.Paths()), t.redactError(t.refusal))
		return deferred(DeferralUnknownValues, reason, t.unexplained()), t, nil
	}
	return nil, t, nil
}

// unknownItems returns the new list items that contain fields whose values aren't known yet. The server may accept the
// manifest without these items.
func (t trial) unknownItems() projection.Patterns {
	if t.live == nil {
		return nil
	}
	return t.prepared.Unknown.Items(t.live.Object)
}

// conflicts returns the fields in the conflicts that made the server refuse the apply.
func (t trial) conflicts() []fieldowner.Conflict {
	conflicts := fieldowner.ConflictsOfApply(t.refusal, content(t.live), t.manifest.Object)
	if predicted := (*handover.ConflictError)(nil); errors.As(t.refusal, &predicted) {
		conflicts = predicted.Conflicts
	}
	return explain.RedactConflicts(t.handover.Conflicts(conflicts), t.sensitive())
}

// conflict returns the plan for conflicts. Its changes are those of a forced apply, if a dry run of it is possible.
func (t trial) conflict(ctx context.Context, conflicts []fieldowner.Conflict) (*Plan, trial, error) {
	plan := &Plan{
		Action: ActionConflict, Conflicts: conflicts, Reason: "1 field has another value and another owner",
		Explanation: t.unexplained(),
	}
	if n := len(conflicts); n != 1 {
		plan.Reason = fmt.Sprintf("%d fields have other values and other owners", n)
	}
	forced, force := t, true
	forced.patch.Options.Force = &force
	forced = forced.try(ctx, false)
	t.handover = forced.handover
	switch {
	case forced.refusal != nil:
		plan.Warnings = []foreign.Text{foreign.Text(
			"unknown what taking over the fields would change: " + t.why(forced.refusal))}
		return plan, t, nil
	case !explain.SameVersion(content(t.live), forced.answer.Object, t.manifest.Object):
		if _, err := t.target.Relook(ctx, t.live, forced.answer, t.patch.Body, t.patch.Options); err != nil {
			return nil, t, t.failed("dry run of taking over", err)
		}
		plan.Warnings = []foreign.Text{"unknown what taking over the fields would change: the object changed meanwhile"}
		return plan, t, nil
	}
	t.answer = forced.answer
	explained, t, err := t.explain()
	if err != nil {
		return nil, t, err
	}
	plan.Explanation = *explained
	return plan, t, nil
}

// why returns the reason of a refusal in one line, without the quoted values.
func (t trial) why(refusal error) string {
	verdict := immutability.Classify(refusal)
	if verdict.Refusal == immutability.RefusalNone {
		return t.redactError(refusal).Error()
	}
	t.redactor().Verdict(&verdict)
	verdict.Uncertain, verdict.Remedy = "", ""
	return (&immutability.RefusedError{Object: t.id, Verdict: verdict, Err: t.redactError(refusal)}).Error()
}

// judge returns the verdict about the refusal, after more dry runs have confirmed or corrected it. whole is the trial
// that sends the whole manifest. unproven is the error if the server didn't answer the dry run of the create.
func (t trial) judge(ctx context.Context) (whole trial, verdict immutability.Verdict, unproven, err error) {
	verdict = immutability.Classify(t.refusal)
	switch {
	case verdict.Refusal == immutability.RefusalNone:
		return t, verdict, nil, t.failed("dry run", t.refusal)
	case t.live == nil || t.request.Subresource != "": // no object can be replaced
		return t, verdict.OfCreate(t.manifest), nil, nil
	}
	if whole, err = t.whole(ctx); err != nil { // the dry run of the create needs the whole manifest
		return whole, verdict, nil, err
	}
	verdict = immutability.Probe(ctx, t.target.Resource, whole.manifest, t.live, verdict, immutability.ProbeOptions{
		FieldManager: t.options.FieldManager, IPAddresses: t.target.IPAddresses(), Definitions: t.target.Definitions(),
		Rules: &t.rules, Propagation: t.request.Propagation,
		Apply: t.target.Whole(!t.prepared.Ignored.Empty(), t.live, whole.patch.Body, whole.patch.Options),
	})
	if err := t.target.Wrote(); err != nil {
		return whole, verdict, nil, whole.failed("dry run", err)
	}
	if create := verdict.Evidence.Create; create.Outcome == immutability.OutcomeUnanswered {
		unproven = create.Err
	}
	return whole, verdict, unproven, nil
}

// ways returns the subresources through which fields of the manifest can change, except those that were already tried.
func (t trial) ways() (out []kinds.Subresource) {
	if t.live == nil || t.request.Subresource != "" {
		return nil
	}
	matches := func(texts []string, obj map[string]any) bool {
		patterns, err := projection.ParsePatterns(texts...)
		_, found := patterns.Remove(obj)
		return err == nil && len(found) > 0
	}
	for _, sub := range kinds.Subresources(t.id.APIVersion, t.id.Kind) {
		isTried := slices.ContainsFunc(t.request.Ignore,
			func(p projection.Pattern) bool { return p.String() == sub.Fields[0] })
		if matches(sub.Fields, t.manifest.Object) && !matches(sub.Absent, t.live.Object) && !isTried {
			out = append(out, sub)
		}
	}
	all := kinds.Subresource{}
	var names []string
	for i, sub := range out {
		names, all.Fields = append(names, sub.Name), append(all.Fields, sub.Fields...)
		out[i].Name = "subresource " + sub.Name
	}
	if all.Name = "subresources " + strings.Join(names, " and "); len(names) > 1 {
		out = append(out, all)
	}
	return out
}

// replacement returns the details of a plan to replace the live object, and the reason of the plan.
func (t trial) replacement(verdict immutability.Verdict, unproven error) (r *Replacement, reason string) {
	var names []string
	for _, f := range verdict.Fields {
		names = append(names, f.Name())
	}
	return &Replacement{
		Evidence: foreign.Text(verdict.Evidence.String()), Old: t.id, UID: string(t.live.GetUID()),
		Fields: verdict.Fields, Hazards: verdict.Hazards, Propagation: t.request.propagation(),
		Refusal: t.redactError(t.refusal), unproven: unproven,
	}, "can't change in place: " + strings.Join(names, ", ")
}
