package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// refused turns the server's refusal of the dry run into a plan, or into an error if applying can't work.
func (w *planning) refused(ctx context.Context, err error) error {
	class := authresilience.Classify(err)
	if class == authresilience.ClassLostVersion {
		if err = handover.Lost(w.live, err); w.plan.Subresource != "" {
			err = fmt.Errorf("%w; an apply of the object itself, with it as a lost version, moves them", err)
		}
		return w.failed("dry run", err)
	}
	isAbsent := class == authresilience.ClassNotFound && w.live != nil && w.plan.Subresource != ""
	if class == authresilience.ClassTypeNotServed || isAbsent {
		return w.notServed(err)
	}
	if w.absent || w.live != nil && w.live == w.request.Live { // which may be out of date
		var failed error
		if w.live, failed = w.target.Live(ctx); failed != nil {
			return w.failed("get", failed)
		}
		if appeared := w.absent && w.live != nil; appeared || !w.prepared.Ignored.Empty() && !explain.SameVersion(content(w.live), content(w.request.Live), nil) { // which tells what is left
			w.absent = false
			return w.ask(ctx)
		}
		w.absent = false
	}
	conflicts := fieldowner.ConflictsOfApply(err, content(w.live), w.manifest.Object)
	if predicted := (*handover.ConflictError)(nil); errors.As(err, &predicted) {
		conflicts = predicted.Conflicts
	}
	switch conflicts = explain.ShownConflicts(w.handover.Conflicts(conflicts), w.sensitive()); {
	case len(conflicts) > 0:
		return w.conflict(ctx, conflicts)
	case class == authresilience.ClassNamespaceNotFound && w.live == nil:
		w.deferToNamespace()
		return nil
	case slices.ContainsFunc(answer.Statuses(err), answer.NoDryRun):
		w.deferTo(DeferralNoDryRun, w.shown(err).Error())
		return nil
	case !w.prepared.Unknown.Empty():
		if items := w.prepared.Unknown.Items(content(w.live)); w.live != nil && len(items) > 0 {
			w.request.Unknown = slices.Concat(w.request.Unknown, items)
			if err := w.prepare(ctx); err != nil {
				return err
			}
			return w.ask(ctx)
		}
		w.deferTo(DeferralUnknownValues, fmt.Sprintf("can't be tried without the values of %s: %v", projection.JoinPaths(w.prepared.Unknown.Paths()), w.shown(err)))
		return nil
	}
	return w.judge(ctx, err)
}

// judge makes the plan a replacement if that is known to help against the refusal.
func (w *planning) judge(ctx context.Context, err error) error {
	verdict := immutability.Classify(err)
	if verdict.Refusal == immutability.RefusalNone {
		return w.failed("dry run", err)
	}
	var unproven error
	if w.live != nil && w.plan.Subresource == "" {
		if err := w.ignoreNothing(ctx); err != nil { // of all that would be created, the server has to be asked
			return err
		}
		if verdict, unproven = w.probe(ctx, verdict); w.target.Wrote() != nil {
			return w.failed("dry run", w.target.Wrote())
		}
	} else {
		verdict = verdict.OfCreate(w.manifest) // there is nothing that could be replaced
	}
	if clearing, more := w.request.clearing(verdict); w.request.ClearBlocking && more {
		asked := w.request
		w.request, w.recorded = clearing, nil
		var part *handover.PartError
		if failed := w.ask(ctx); !errors.As(failed, &part) {
			return failed
		}
		w.request, w.recorded = asked, nil // what is in the way can't go alone
		if err := w.hold(ctx, w.live); err != nil {
			return err
		}
	}
	w.guard().Verdict(&verdict)
	detour := w.detour(ctx)
	if !verdict.Replaceable() {
		verdict.Remedy = cmp.Or(detour, verdict.Remedy)
		if cure := w.cure(ctx, &verdict); cure != "" {
			verdict.Remedy = cure
		}
		return &RefusedError{Object: w.plan.Object, Verdict: verdict, Err: w.shown(err)}
	}
	w.plan.Action = ActionReplace
	w.plan.Replacement = &Replacement{
		Evidence: foreign.Text(verdict.Evidence.String()), Old: w.plan.Object, UID: string(w.live.GetUID()), Fields: verdict.Fields,
		Hazards: verdict.Hazards, Propagation: w.request.propagation(), Refusal: w.shown(err), unproven: unproven,
	}
	var paths []string
	for _, f := range verdict.Fields {
		paths = append(paths, f.Name())
	}
	w.plan.Reason = "can't change in place: " + strings.Join(paths, ", ")
	if detour != "" {
		w.plan.Warnings = append(w.plan.Warnings, foreign.Text(detour))
	}
	return w.explainReplacement(ctx, true)
}

// detour names the subresources through which the fields can change that are in the way, empty if none are known. One
// is enough where the rest can be applied without it.
func (w *planning) detour(ctx context.Context) string {
	if w.live == nil || w.plan.Subresource != "" {
		return ""
	}
	ways, all := w.ways(), kinds.Subresource{}
	var names []string
	for i, sub := range ways {
		names, all.Fields = append(names, sub.Name), append(all.Fields, sub.Fields...)
		ways[i].Name = "subresource " + sub.Name
	}
	if all.Name = "subresources " + strings.Join(names, " and "); len(names) > 1 {
		ways = append(ways, all)
	}
	for _, sub := range ways {
		patterns, err := projection.ParsePatterns(sub.Fields...)
		if err != nil {
			continue
		}
		request := w.request
		request.Ignore = slices.Concat(request.Ignore, patterns)
		if plan, err := w.Plan(ctx, request); err == nil && plan.Replacement == nil && len(plan.Conflicts) == 0 {
			return fmt.Sprintf("the %s can change %s in place, and the rest can be applied without it",
				sub.Name, strings.Join(sub.Fields, ", "))
		}
	}
	return ""
}

// ways returns the subresources of which the manifest has fields that weren't left out already to find a detour.
func (w *planning) ways() (out []kinds.Subresource) {
	matches := func(texts []string, obj map[string]any) bool {
		patterns, err := projection.ParsePatterns(texts...)
		_, found := patterns.Remove(obj)
		return err == nil && len(found) > 0
	}
	for _, sub := range kinds.Subresources(w.plan.Object.APIVersion, w.plan.Object.Kind) {
		isTried := slices.ContainsFunc(w.request.Ignore, func(p projection.Pattern) bool { return p.String() == sub.Fields[0] })
		if matches(sub.Fields, w.manifest.Object) && !matches(sub.Absent, w.live.Object) && !isTried {
			out = append(out, sub)
		}
	}
	return out
}

// clearing returns the request that clears what the verdict proves to be in the way. It reports false if there is
// nothing more to clear.
func (r Request) clearing(verdict immutability.Verdict) (Request, bool) {
	if verdict.Refusal != immutability.RefusalMergeLeftover || verdict.Certainty != immutability.CertaintyProven {
		return r, false
	}
	known := len(r.Clear)
	for _, p := range verdict.Leftovers {
		if !r.Clear.Match(p) {
			r.Clear = append(slices.Clip(r.Clear), projection.PatternOf(p))
		}
	}
	return r, len(r.Clear) > known
}

// cure returns what to do if the plan can be made with an adoption from the tools that wrote what is in the way, or by
// clearing that, else nothing. What is a part of a list or map that can only go as a whole is replaced by that.
func (w *planning) cure(ctx context.Context, verdict *immutability.Verdict) string {
	adopting := w.request
	tools := w.wanted().Missing(w.live, verdict.Leftovers, slices.Concat(fieldowner.Tools(), w.options.Tools))
	if adopting.Adopt = slices.Concat(adopting.Adopt, tools); len(tools) > 0 {
		if _, err := w.Plan(ctx, adopting); err == nil {
			return handover.Advice(tools)
		}
	}
	clearing, more := w.request.clearing(*verdict)
	if !more {
		return ""
	}
	clearing.ClearBlocking = false
	_, err := w.Plan(ctx, clearing)
	if part := (*handover.PartError)(nil); errors.As(err, &part) {
		verdict.Leftovers = []projection.Path{part.Whole}
		clearing.Clear = append(slices.Clip(w.request.Clear), projection.PatternOf(part.Whole))
		_, err = w.Plan(ctx, clearing)
	}
	if err != nil {
		return ""
	}
	return fmt.Sprintf("clear %s, which the apply removes then, no matter who owns it", projection.JoinPaths(verdict.Leftovers))
}

// probe confirms or corrects the verdict by asking the server. The error is why it didn't answer the dry run of the
// create.
func (w *planning) probe(ctx context.Context, verdict immutability.Verdict) (immutability.Verdict, error) {
	verdict = immutability.Probe(ctx, w.target.Resource, w.manifest, w.live, verdict, immutability.ProbeOptions{
		FieldManager: w.options.FieldManager, IPAddresses: w.target.IPAddresses(), Definitions: w.target.Definitions(), Rules: &w.rules, Propagation: w.request.Propagation,
		Apply: w.target.Whole(!w.prepared.Ignored.Empty(), w.live, w.patch.Body, w.patch.Options),
	})
	if create := verdict.Evidence.Create; create.Outcome == immutability.OutcomeUnanswered {
		return verdict, create.Err
	}
	return verdict, nil
}

// conflict makes the plan a conflict. What would change is what a forced apply would do, if that can be tried.
func (w *planning) conflict(ctx context.Context, conflicts []fieldowner.Conflict) error {
	forced, force := w.patch, true
	forced.Options.Force = &force
	dryRun, err := w.dryRun(ctx, forced, false)
	switch {
	case err != nil:
		w.plan.Warnings = append(w.plan.Warnings, foreign.Text("unknown what taking over the fields would change: "+w.refusal(err)))
	case !explain.SameVersion(content(w.live), dryRun.Object, w.manifest.Object):
		if _, err := w.target.Relook(ctx, w.live, dryRun, w.patch.Body, w.patch.Options); err != nil {
			return w.failed("dry run of taking over", err)
		}
		w.plan.Warnings = append(w.plan.Warnings, "unknown what taking over the fields would change: the object changed meanwhile")
	default:
		if err := w.explain(dryRun); err != nil {
			return err
		}
	}
	w.plan.Action, w.plan.Deferral, w.plan.Conflicts = ActionConflict, "", conflicts
	w.plan.Reason = "1 field has another value and another owner"
	if n := len(conflicts); n != 1 {
		w.plan.Reason = fmt.Sprintf("%d fields have other values and other owners", n)
	}
	return nil
}

// refusal tells in a line why a server refused, without the values that it quotes.
func (w *planning) refusal(err error) string {
	verdict := immutability.Classify(err)
	if verdict.Refusal == immutability.RefusalNone {
		return w.shown(err).Error()
	}
	w.guard().Verdict(&verdict)
	verdict.Uncertain, verdict.Remedy = "", ""
	return (&RefusedError{Object: w.plan.Object, Verdict: verdict, Err: w.shown(err)}).Error()
}
