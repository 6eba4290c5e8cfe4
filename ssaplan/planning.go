package ssaplan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
	"github.com/ssaplan/primitives/ssaplan/internal/objectset"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/standin"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// Plan returns what applying the manifest will do. It changes nothing on the server.
//
// It takes two requests: a Get and a dry run. With [Request].Live it sends no Get, and on a hit in [Options.NoOps] no
// dry run. If the server rejects the dry run, more requests find out why, and what would help. Usually that is up to
// four, and in addition one for each new cluster IP of a Service, and one if Live may be out of date; see also
// [immutability.Probe]. If the object changes between Get and dry run, both are repeated until they are of the same
// version, or ctx ends; changes of the status alone don't count.
//
// An error means that no plan could be made; it names the object and wraps the server's answer. A [RefusedError] means
// that the manifest can't be applied. If the kind or the namespace doesn't exist yet, the result is a plan with the
// action [ActionDeferred], and no error.
func (p *Planner) Plan(ctx context.Context, request Request) (*Plan, error) {
	id, err := objectset.Identity(request.Manifest, request.AllUnknown)
	if err != nil {
		return nil, err
	}
	if request.Prior != nil && request.Prior.Identity == (identity.Identity{}) {
		request.Prior = nil // the zero State remembers nothing
	}
	ctx, collected := warnings.Collect(p.server.ShareRecords(ctx))
	w := &planning{Planner: p, request: request, warnings: collected, plan: &Plan{Object: id, Subresource: request.Subresource}}
	if err := w.run(ctx); errors.Is(err, explain.ErrTooDeep) {
		return nil, err // looking for secrets in the manifest might not end
	} else if err != nil {
		return nil, w.guard().Error(err)
	}
	if err := w.showDeclared(); err != nil {
		return nil, err
	}
	w.warnOfLostVersions(ctx)
	return w.finish(), nil
}

// planning is the making of one plan.
type planning struct {
	*Planner
	request  Request
	warnings *warnings.Warnings // of the server
	target   *liveobject.Target // nil if the server doesn't serve the kind
	// recalled reports whether the plan is a no-op because Options.NoOps knew.
	recalled bool
	asked    *noop.Asked // what the answer can be remembered with

	prepared explain.Prepared
	handover *handover.Handover         // of fields, before the manifest is sent; nil if nothing changes owners
	recorded *unstructured.Unstructured // the live object with the managedFields that the server gives it at a handover
	settled  bool                       // left and handover are those of the live object
	left     explain.Left               // of what is prepared, to others
	manifest *unstructured.Unstructured // as it is sent
	patch    Patch
	pair     *liveobject.Pair           // of an object that others write all the time; nil for any other
	live     *unstructured.Unstructured // nil if there is no object, or it wasn't read
	lossy    bool                       // a typed client read it, so that only a no-op is proven by it
	absent   bool                       // there is none by a list, which may be of before
	result   *unstructured.Unstructured // what the server would make of it, nil if it wasn't asked
	then     *explain.Explanation       // of the apply after the handover

	requests int // for other objects than that of target
	plan     *Plan
}

// run makes the plan, but for what is known only at the end.
func (w *planning) run(ctx context.Context) error {
	if w.request.AllUnknown {
		w.deferTo(DeferralUnknownValues, "the values of the manifest, or the cluster, aren't known yet")
		return nil
	}
	if err := w.expired(); err != nil {
		return w.failed("plan", err)
	}
	var err error
	if w.target, err = w.locate(ctx, w.plan.Object, w.request.Subresource); err == nil {
		w.plan.Object = w.target.Identity
	} else if errors.Is(err, liveobject.ErrNoNamespace) {
		return fmt.Errorf("%s: %w", w.plan.Object, err)
	} else if !meta.IsNoMatchError(err) {
		return w.failed("discovery", err)
	}
	w.passwords.LearnCarried(ctx, w.request.Manifest)
	if err := w.compareIdentity(ctx); err != nil {
		return err
	}
	if w.plan.Action == "" && w.live == nil && w.target != nil {
		w.lossy = liveobject.IsLossy(w.request.Live)
		if w.live, w.absent, err = w.target.Known(ctx, w.request.Live, w.request.Manifest); err != nil {
			return fmt.Errorf("%s: %w", w.plan.Object, err)
		}
		w.request.Live = w.live
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if w.plan.Action == ActionReplace {
		old := w.plan.Replacement.Old
		isTaken := old.Group() == w.plan.Object.Group()
		old.APIVersion = w.plan.Object.APIVersion
		return w.explainReplacement(ctx, isTaken && old == w.plan.Object)
	}
	if w.plan.Action != "" {
		return nil
	}
	if w.target == nil {
		w.deferToType()
		return nil
	}
	return w.ask(ctx)
}

// compareIdentity makes the plan a replacement if the prior state is of another object.
func (w *planning) compareIdentity(ctx context.Context) (err error) {
	prior := w.request.Prior
	if prior == nil {
		return nil
	}
	if prior.Subresource != w.plan.Subresource {
		return fmt.Errorf("%s: the prior state is of the subresource %q, and the request of %q", w.plan.Object, prior.Subresource, w.plan.Subresource)
	}
	scope := prior.Identity.ScopeOf(w.plan.Object) // for want of the server's word
	if w.target != nil {
		scope = w.target.Scope
	}
	options := identity.Options{
		DefaultNamespace: w.options.DefaultNamespace, Scope: scope,
		AllowVersionChange: w.options.AllowVersionChange || w.request.AllowVersionChange,
	}
	before, now := identity.Ref{Identity: prior.Identity, UID: prior.UID}, identity.Ref{Identity: w.plan.Object}
	result := identity.Compare(before, now, options)
	if result.Relation == identity.RelationVersionChanged && w.target != nil {
		switch w.live, err = w.target.Live(ctx); {
		case !options.AllowVersionChange: // the plan to replace it tells whether that is needed
		case err != nil:
			return w.failed("get", err)
		case w.live == nil: // a server has one object under all versions of its group, so the old one is gone, too
			return nil
		default:
			now.UID = string(w.live.GetUID())
			result = identity.Compare(before, now, options)
		}
	}
	switch {
	case result.Relation == identity.RelationVersionChanged && w.target == nil && options.AllowVersionChange: // told when the version is served
	case result.Replace() && w.plan.Subresource != "":
		return fmt.Errorf("%s: the prior state is of another object, whose %s stays as it is: plan without it", w.plan.Object, w.plan.Subresource)
	case result.Replace():
		w.replaceIdentity(ctx, result)
	}
	return nil
}

// replaceIdentity makes the plan a replacement of the object that the prior state remembers.
func (w *planning) replaceIdentity(ctx context.Context, result identity.Result) {
	r := &Replacement{Evidence: "identity", Old: result.Old, UID: w.request.Prior.UID, Propagation: w.request.propagation(), Fields: immutability.IdentityFields(result)}
	w.plan.Action, w.plan.Reason, w.plan.Replacement = ActionReplace, result.Reason(), r
	if inPlace := w.live != nil && string(w.live.GetUID()) == r.UID; inPlace {
		r.Hazards = append(r.Hazards, immutability.NeedlessHazard(w.plan.Object.APIVersion))
		w.plan.Reason += "; the server has the same object under both, so AllowVersionChange updates it in place"
	} else {
		w.live, w.requests = w.locator.Remembered(ctx, w.request.Prior.Identity, w.request.Prior.UID)
	}
	options := immutability.HazardOptions{Propagation: w.request.Propagation}
	if w.live != nil {
		r.Hazards = append(r.Hazards, immutability.Hazards(w.live, options)...)
	} else {
		r.Hazards = immutability.HazardsUnread(schema.GroupKind{Group: r.Old.Group(), Kind: r.Old.Kind}, r.Old.Name, options)
	}
}

// prepare sets what is going to be sent; nothing of a plan known to be a no-op, of which a copy would be a tenth of the
// work.
func (w *planning) prepare(ctx context.Context) error {
	e := fastjson.NewEncoder()
	defer e.Release()
	content, err := w.encode(e)
	if err != nil {
		return fmt.Errorf("%s: %w", w.plan.Object, err)
	}
	force := !w.options.RefuseConflicts
	w.prepared.Manifest, w.manifest = content, &unstructured.Unstructured{Object: content}
	w.patch.Options = metav1.PatchOptions{FieldManager: w.options.FieldManager, Force: &force, FieldValidation: metav1.FieldValidationIgnore}
	if w.recall(ctx, e.Text()); !w.recalled {
		w.patch.Body = bytes.Clone(e.Text())
	}
	return nil
}

// encode returns what is sent of the manifest, whose JSON is in the encoder then. Most manifests can be sent as they
// are; the one walk through them that encoding takes finds that out.
func (w *planning) encode(e *fastjson.Encoder) (content map[string]any, err error) {
	content = w.request.Manifest.Object
	except := explain.Exceptions{
		Ignore: w.request.Ignore, GiveUp: w.request.GiveUp, Clear: w.request.Clear, Strip: w.request.Strip, Unknown: w.request.Unknown,
	}
	if except.Empty() && projection.IsNormal(content) {
		content = explain.Addressed(content, w.plan.Object.Namespace, w.plan.Subresource)
		if err = e.EncodePlain(content); !errors.Is(err, fastjson.ErrNotPlain) {
			return content, err
		}
	}
	if w.prepared, err = explain.Prepare(w.request.Manifest.Object, w.plan.Subresource, except); err != nil {
		return nil, err
	}
	w.plan.Adjustments, w.plan.Unknown = w.prepared.Adjustments, w.prepared.Unknown.Paths()
	content = explain.Addressed(w.prepared.Manifest, w.plan.Object.Namespace, w.plan.Subresource)
	return content, e.Encode(content)
}

// ask reads the live object if it isn't there yet, has the server try the apply, and explains its answer, which has to
// be of the same resourceVersion.
func (w *planning) ask(ctx context.Context) (err error) {
	supplied := w.live != nil || w.absent // and maybe of long ago
	if supplied {
		w.passwords.LearnCarried(ctx, w.live)
	} else {
		if w.live, err = w.target.Live(ctx); err != nil {
			return w.unreadable(ctx, err)
		}
		if w.live == nil && w.plan.Subresource != "" {
			return fmt.Errorf("%s: there is no object whose %s could be applied: create it first", w.plan.Object, w.plan.Subresource)
		}
	}
	attempts, outrun := applier.NewAttempts(ctx), 0
	if w.request.outrun > 0 { // so it was read a moment ago
		supplied, w.pair = false, &liveobject.Pair{}
	}
	for first := true; ; first = false {
		if err := w.request.Existing.Check(w.plan.Object, content(w.live), w.applier(), w.request.Prior); err != nil {
			return err
		}
		if err := w.hold(ctx, w.live); err != nil {
			return err
		}
		if first && (!supplied || w.isForLive()) {
			w.recall(ctx, w.patch.Body)
		}
		if w.recalled {
			return nil
		}
		dryRun, err := w.dryRun(ctx, w.patch, supplied)
		switch {
		case (supplied || w.handover != nil && w.manifest.GetResourceVersion() == "") && authresilience.Classify(err) == authresilience.ClassOutdated:
			if !supplied {
				outrun++
			}
			w.live, err = w.target.Live(ctx)
		case err != nil:
			return w.refused(ctx, err)
		case explain.SameVersion(content(w.live), dryRun.Object, w.manifest.Object):
			var settled, learned bool
			w.prepared, settled = w.prepared.Settle(w.left, dryRun.Object)
			w.prepared.Ignored, learned = w.prepared.Ignored.Learn(w.left, content(w.live), dryRun.Object)
			if settled || learned || w.recordsOtherwise() {
				continue
			}
			if err = w.explain(dryRun); err != nil || !w.lossy || w.plan.Action == ActionNoOp {
				return err
			}
			w.lossy, w.plan.Deferral = false, ""
			w.live, err = w.target.Live(ctx)
		case w.pair != nil:
			before := w.live
			w.live = w.pair.Now
			if err = w.target.Verify(ctx, before, dryRun, w.live, w.patch.Body, w.patch.Options); err == nil && w.pair.IsExact() {
				continue // without a pause, since what was tried is the answer unless something else is to be sent by now
			}
		default:
			outrun++
			before := w.live
			w.live, err = w.target.Relook(ctx, before, dryRun, w.patch.Body, w.patch.Options)
			if err == nil && !w.lossy && w.handover == nil && w.plan.Subresource == "" {
				if asked := liveobject.AsOfAnswer(before, dryRun, w.live); asked != nil {
					w.live = asked
					return w.explain(dryRun)
				}
			}
		}
		if err != nil {
			return w.failed("get", err)
		}
		supplied, w.absent = false, false
		if outrun > 1 && w.pair == nil {
			w.pair = &liveobject.Pair{}
		}
		if !attempts.Again(w.live) {
			return w.failed("plan", cmp.Or(ctx.Err(), applier.ErrRestless))
		}
	}
}

// hold finds out what changes owners, leaves what is ignored to others, and puts the live object's values in the place
// of those that aren't known yet.
func (w *planning) hold(ctx context.Context, live *unstructured.Unstructured) (err error) {
	w.settled, w.handover = true, nil
	if live != nil && w.request.handsOver() {
		if w.handover, err = handover.Find(live, w.wanted()); err != nil {
			return fmt.Errorf("%s: %w", w.plan.Object, err)
		}
	}
	if w.prepared.Unknown.Empty() && !w.isForLive() {
		return nil
	}
	if live, err = w.target.Recorded(ctx, live, w.patch.Options); err == nil {
		after := w.handover.Of(live)
		if w.recorded != nil && after != nil && w.recorded.GetResourceVersion() == after.GetResourceVersion() {
			after = w.recorded
		}
		w.left, err = w.prepared.For(content(after), content(cmp.Or(w.request.was, live)), w.applier())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.plan.Object, err)
	}
	w.plan.Adjustments = slices.DeleteFunc(slices.Clone(w.prepared.Adjustments), func(a projection.Adjustment) bool {
		return slices.ContainsFunc(w.left.Restored, a.Path.Equal)
	})
	w.left.Warnings = slices.Concat(w.left.Warnings, w.notGivenUp(live), w.notCleared(live))
	w.manifest = w.handover.Unpinned(w.left.Manifest, w.request.was)
	w.patch.Body, err = fastjson.Encode(w.manifest.Object)
	return err
}

// recordsOtherwise reports whether the manifest has to be tried again, since the server's managedFields after the
// handover ask for other fields in it than those that were expected. So it is for a null in an atomic map that others
// updated: they own its fields until a handover, at which the server records the whole map.
func (w *planning) recordsOtherwise() bool {
	after := w.handover.Of(w.live)
	if w.handover == nil || w.recorded != nil && w.recorded.GetResourceVersion() == after.GetResourceVersion() {
		return false
	}
	w.recorded = after
	left, err := w.prepared.For(content(after), content(cmp.Or(w.request.was, w.live)), w.applier())
	return err == nil && !reflect.DeepEqual(left.Manifest, w.left.Manifest)
}

// notGivenUp warns of what is to be given up and can't be: the part of a list or map that has one owner as a whole; and
// of what the manager never had, if the remembered state shows that it wasn't given up before.
func (w *planning) notGivenUp(live *unstructured.Unstructured) (out []foreign.Text) {
	owners, _ := fieldowner.Read(content(live)) // which was read before
	before, _ := fieldowner.Read(content(cmp.Or(w.request.was, live)))
	own, prior := before.Fields(w.applier().Is), w.request.Prior
	if prior != nil {
		own = own.Union(prior.Applied.Fields)
	}
	for _, pattern := range w.request.GiveUp {
		given := projection.Patterns{pattern}.Named(w.request.Manifest.Object, owners.Fields(nil))
		isHeld := func(f explain.IgnoredField) bool { return f.Handling == explain.HandlingHeld && given.Match(f.Path) }
		if slices.ContainsFunc(w.left.Fields, isHeld) {
			out = append(out, foreign.Textf("%s: can't be given up, since it is a part of a list or map that has one owner as a whole: "+
				"it is sent with the value that the object has", pattern))
		}
		_, ours := given.Split(own)
		isDeclared := len(given.Find(w.request.Manifest.Object, owners.Fields(nil))) > 0
		isThere := len(given.Find(content(live), owners.Fields(nil))) > 0
		if prior != nil && ours.Empty() && isThere && !isDeclared && !prior.Left(pattern) {
			out = append(out, foreign.Textf("%s: has nothing to give up, since only other managers own it", pattern))
		}
	}
	return out
}

// notCleared warns of the patterns of fields to clear that match nothing, such as a misspelt one. A pattern that the
// remembered state has may have cleared its fields before.
func (w *planning) notCleared(live *unstructured.Unstructured) (out []foreign.Text) {
	if live == nil {
		return nil
	}
	owners, _ := fieldowner.Read(live.Object) // which was read before
	names := owners.Fields(nil)
	for _, pattern := range w.request.Clear {
		named := projection.Patterns{pattern}.Named(w.request.Manifest.Object, names)
		isThere := len(named.Find(live.Object, names))+len(named.Find(w.request.Manifest.Object, names)) > 0
		if prior := w.request.Prior; !isThere && (prior == nil || !prior.Cleared(pattern)) {
			out = append(out, foreign.Textf("%s: matches no field to clear; correct the path, or remove it if the field is already cleared", pattern))
		}
	}
	return out
}

// applier returns who applies.
func (w *planning) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: w.options.FieldManager, Subresource: w.plan.Subresource}
}

// wanted returns what is to change owners.
func (w *planning) wanted() handover.Wanted {
	wanted := handover.Wanted{Applier: w.applier(), Adopt: w.request.Adopt, GiveUp: w.request.GiveUp, Clear: w.request.Clear, Manifest: w.request.Manifest.Object, Lost: w.request.LostVersions}
	if w.request.AdoptTools {
		wanted.Tools = slices.Concat(fieldowner.Tools(), w.options.Tools)
	}
	return wanted
}

// isForLive reports whether what is sent depends on the live object, beside the values that aren't known.
func (w *planning) isForLive() bool {
	return !w.prepared.Ignored.Empty() || w.prepared.Empty != nil || w.request.handsOver() // also if they were settled
}

// handsOver reports whether fields are to change owners.
func (r Request) handsOver() bool {
	return r.AdoptTools || len(r.Adopt)+len(r.GiveUp)+len(r.Clear)+len(r.LostVersions) > 0
}

// ignoreNothing has all of the manifest sent, as a new object is created with it.
func (w *planning) ignoreNothing(ctx context.Context) error {
	if w.prepared.Ignored.Empty() {
		return nil
	}
	return w.hold(ctx, nil)
}

// dropUID takes the UID out of what is sent, by which a manifest says which object it is for: the new one is another,
// and a server creates none of a given UID.
func (w *planning) dropUID() (err error) {
	if w.manifest.GetUID() == "" {
		return nil
	}
	w.manifest = w.manifest.DeepCopy()
	w.manifest.SetUID("")
	w.patch.Body, err = fastjson.Encode(w.manifest.Object)
	return err
}

// unreadable handles a failed read. Who may apply but not read gets a plan of what would be there, but not of what
// changes.
func (w *planning) unreadable(ctx context.Context, cause error) error {
	switch authresilience.Classify(cause) {
	case authresilience.ClassAuthorization:
	case authresilience.ClassTypeNotServed: // it was, when the planner looked last
		return w.notServed(cause)
	default:
		return w.failed("get", cause)
	}
	dryRun, err := w.target.TryUnread(ctx, w.patch.Body, w.patch.Options)
	switch {
	case err == nil:
	case authresilience.Classify(err) == authresilience.ClassNamespaceNotFound:
		w.deferToNamespace()
		return nil
	default:
		return fmt.Errorf("%w; and the dry run: %w", w.failed("get", cause), w.shown(err))
	}
	if err := w.explain(dryRun); err != nil {
		return err
	}
	w.plan.Explanation = w.plan.Unread()
	w.deferTo(DeferralUnreadable, "the live object can't be read: "+w.shown(cause).Error())
	return nil
}

// explain fills the plan from the server's answer to the dry run.
func (w *planning) explain(dryRun *unstructured.Unstructured) error {
	w.result = dryRun
	explained, err := explain.Apply(w.input(w.handover.Of(w.live)))
	if err == nil && w.live == nil {
		err = w.giveUpCreated(explained, func() (*explain.Explanation, error) { return explain.Apply(w.input(nil)) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.plan.Object, err)
	}
	w.plan.Explanation = *explained
	if w.handover != nil {
		w.then = explained
		if w.plan.Explanation, err = w.handover.Whole(explained, dryRun.Object, w.sensitive()); err != nil {
			return fmt.Errorf("%s: %w", w.plan.Object, err)
		}
	}
	switch {
	case w.live == nil:
		w.plan.Action, w.plan.Reason = ActionCreate, "does not exist"
	case !w.prepared.Unknown.Empty() && len(explained.Changes)+len(explained.Ownership) == 0:
		w.deferTo(DeferralUnknownValues, "nothing changes except fields with values that aren't known yet: "+projection.JoinPaths(explained.Unknown))
	case w.plan.NoOp:
		w.plan.Action, w.plan.Reason = ActionNoOp, "the server would write nothing"
	case w.then != nil && w.then.NoOp && len(w.plan.Ownership) == 0:
		w.plan.Action, w.plan.Reason = ActionUpdate, "no value changes, only the version of entries of managedFields"
	default:
		w.plan.Action, w.plan.Reason = ActionUpdate, explained.Summary()
	}
	return nil
}

// giveUpCreated has the explanation of a create end with what is declared, and who owns what, once fields are given up
// right after it. The function explain explains the object with that record.
func (w *planning) giveUpCreated(create *explain.Explanation, explain func() (*explain.Explanation, error)) (err error) {
	made := w.result
	wanted := handover.Wanted{Applier: w.applier(), GiveUp: w.request.GiveUp, Manifest: w.request.Manifest.Object}
	if w.result, err = handover.Created(made, wanted); err != nil || w.result == made {
		return err
	}
	then, err := explain()
	if err == nil {
		create.Before, create.After, create.Ownership = then.Before, then.After, then.Ownership
	}
	return err
}

// input is what is known of the apply to the live object.
func (w *planning) input(live *unstructured.Unstructured) explain.Input {
	return explain.Input{
		Manifest: content(w.manifest), Live: content(live), Was: content(cmp.Or(w.request.was, w.live)), Answer: content(w.result), Manager: w.options.FieldManager, Subresource: w.plan.Subresource,
		Prior: w.request.Prior, Unknown: w.prepared.Unknown, Sensitive: w.sensitive(), Ignored: w.left.Fields, Tools: w.options.Tools, Records: w.server.Records(),
	}
}

// explainReplacement fills in what a replacement changes, from a dry run that creates the new object. Taken says that
// the old one has its name. Where the server can't try that, the plan has what the manifest declares.
func (w *planning) explainReplacement(ctx context.Context, taken bool) error {
	if err := w.ignoreNothing(ctx); err != nil {
		return err
	}
	if err := w.dropUID(); err != nil {
		return err
	}
	if w.target != nil {
		made, err := w.target.TryCreate(ctx, w.manifest.Object, w.patch.Options, taken)
		switch {
		case err == nil:
		case w.prepared.Unknown.Empty() && standin.Disproves(w.manifest.Object, err, taken):
			verdict := immutability.Classify(err).OfCreate(w.manifest)
			w.guard().Verdict(&verdict)
			return &RefusedError{Object: w.plan.Object, Verdict: verdict, Err: cmp.Or(w.plan.Replacement.Refusal, w.shown(err))}
		case !errors.Is(err, standin.ErrTaken) && !errors.Is(err, standin.ErrNamed) && !slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal):
			return w.failed("dry run of the create", err)
		default:
			w.plan.Warnings = append(w.plan.Warnings, foreign.Textf("unknown which fields the server adds to the new object: %v", w.shown(err)))
		}
		w.result = made
	}
	replaced := func() (*explain.Explanation, error) {
		return explain.Replace(w.input(w.live), immutability.Paths(w.plan.Replacement.Fields))
	}
	explained, err := replaced()
	if err == nil && w.result != nil {
		err = w.giveUpCreated(explained, replaced)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.plan.Object, err)
	}
	explained.Warnings = append(w.plan.Warnings, explained.Warnings...)
	w.plan.Explanation = *explained
	return nil
}

// showDeclared makes what the manifest declares the After of a plan for which no server could be asked.
func (w *planning) showDeclared() error {
	if w.plan.Action != ActionDeferred || w.manifest == nil || !w.plan.After.Fields.Empty() {
		return nil
	}
	after, err := explain.Declared(w.manifest.Object)
	if err != nil {
		return fmt.Errorf("%s: %w", w.plan.Object, err)
	}
	w.plan.After = after.Hiding(w.sensitive())
	return nil
}

// dryRun returns the object as the server would make it, or would make of just that version of the live one.
func (w *planning) dryRun(ctx context.Context, patch Patch, pinned bool) (*unstructured.Unstructured, error) {
	if err := scale.Check(w.plan.Subresource, w.manifest.Object); err != nil {
		return nil, err
	}
	if w.handover == nil { // as in most plans, which allocate less without the rest
		return handover.Apply(ctx, w.target, w.live, patch.Body, patch.Options, pinned, w.pair)
	}
	server := handover.ServerOf(ctx, w.target, w.live, patch.Options, pinned, w.pair)
	made, err := w.handover.Try(server, w.manifest.Object, patch.Body)
	if w.handover.IsIdle() {
		w.handover = nil
	}
	return made, err
}

// finish returns the plan, with what is known only at the end.
func (w *planning) finish() *Plan {
	w.remember()
	plan, sensitive := w.plan, w.sensitive()
	if plan.Warnings = append(plan.Warnings, w.left.Warnings...); plan.Ignored == nil {
		plan.Ignored = explain.ShownIgnored(w.left.Fields, sensitive)
	}
	if w.target != nil {
		plan.Requests = w.requests + w.target.Requests()
		plan.Warnings = append(plan.Warnings, w.target.Warnings...)
	}
	if said := w.warnings.All(); len(said) > 0 {
		plan.Warnings = append(plan.Warnings, w.guard().Warnings(said)...)
	}
	plan.Warnings = append(plan.Warnings, explain.AdjustmentWarnings(plan.Adjustments)...)
	plan.Warnings = append(plan.Warnings, w.withheld()...)
	if w.then != nil {
		w.then.Warnings = plan.Warnings
		plan.Warnings = slices.Concat(plan.Warnings, w.handover.Warnings())
	}
	plan.basis = &basis{request: w.request, manifest: w.manifest, patch: w.patch, live: w.live, result: w.result, handover: w.handover, then: w.then, made: &atomic.Pointer[string]{}, sensitive: sensitive}
	return plan
}

func (w *planning) deferTo(deferral Deferral, reason string) {
	w.plan.Action, w.plan.Deferral, w.plan.Reason = ActionDeferred, deferral, reason
}

// notServed handles the answer that the server doesn't serve what it seemed to.
func (w *planning) notServed(cause error) error {
	if w.plan.Subresource != "" {
		return w.failed("apply of the subresource "+w.plan.Subresource, cause)
	}
	w.server.Forget(schema.GroupVersion{Group: w.plan.Object.Group(), Version: w.plan.Object.Version()})
	w.deferToType()
	return nil
}

func (w *planning) deferToType() {
	id := w.plan.Object
	w.deferTo(DeferralTypeNotServed, fmt.Sprintf("the server doesn't serve %s", foreign.Text(id.APIVersion+" "+id.Kind)))
}

func (w *planning) deferToNamespace() {
	w.deferTo(DeferralNamespaceNotFound, fmt.Sprintf("namespace %q doesn't exist", foreign.Text(w.plan.Object.Namespace)))
}

// withheld warns of values that aren't shown because it isn't known which fields are secret.
func (w *planning) withheld() (warnings []foreign.Text) {
	manifest := w.request.Manifest
	if manifest == nil {
		return nil
	}
	option := cmp.Or(w.options.ShowValuesOption, "ShowValuesOf")
	if kind := manifest.GroupVersionKind(); w.passwords.MarksUnknown(kind) {
		warnings = append(warnings, foreign.Textf("no value is shown: it isn't known which fields of a %s are secret; %s %s shows them",
			kind.Kind, option, kind.GroupKind()))
	}
	for _, kind := range secrecy.Carried(manifest.Object) {
		if w.passwords.MarksUnknown(kind) {
			warnings = append(warnings, foreign.Textf(
				"no value of the %s inside of the object is shown: it isn't known which of its fields are secret; %s %s shows them",
				kind.Kind, option, kind.GroupKind()))
		}
	}
	return warnings
}

// sensitive returns the fields whose values are never shown.
func (w *planning) sensitive() projection.Patterns {
	return redact.Fields(w.options.Sensitive, w.passwords.Of, w.plan.Object, w.request.Manifest, w.live, w.result)
}

// guard keeps texts of others from quoting secret values of the object in any of its states.
func (w *planning) guard() redact.Guard { return w.Guard(w.request.Manifest, w.live, w.result) }

// failed returns the error for a request that failed.
func (w *planning) failed(doing string, err error) error {
	return w.failure(w.plan.Object, doing, err, w.request.Manifest, w.live, w.result)
}

// shown returns err as it can be printed.
func (w *planning) shown(err error) error {
	return w.guard().Shown(err)
}
