package ssaplan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
)

// Plan says what applying the manifest will do. It changes nothing on the server.
//
// It takes no request when the identity changed, one when the live object is supplied, and two otherwise; up to three
// more when the server refuses (and one for each cluster IP that a refused Service pins anew, and one for a supplied
// object, which may be out of date), and one less when [Options.NoOps] knows the answer. An object that changes between
// the read and the dry run is asked for again, three times at most.
//
// An error means that no plan could be made; it names the object and wraps the server's answer. A [RefusedError] says that
// applying can't work. What the server can't answer yet (a kind or namespace that isn't there) is a plan with the action
// [ActionDeferred].
func (p *Planner) Plan(ctx context.Context, request Request) (*Plan, error) {
	id, err := request.identity()
	if err != nil {
		return nil, err
	}
	if request.Prior != nil && request.Prior.Identity == (identity.Identity{}) {
		request.Prior = nil // the zero State remembers nothing
	}
	ctx, said := collectWarnings(ctx)
	plan := &Plan{Object: id, request: request}
	if err := p.plan(ctx, plan, request); errors.Is(err, errTooDeep) {
		return nil, err // looking for secrets in the manifest might not end
	} else if err != nil {
		return nil, hideSecrets(err, request.Manifest, plan.live)
	}
	if err := plan.showDeclared(ctx); err != nil {
		return nil, err
	}
	p.remember(plan, said)
	plan.warn(said)
	return plan, nil
}

// identity returns what the manifest is about. What nobody knows yet need not have one.
func (r Request) identity() (identity.Identity, error) {
	switch {
	case r.Manifest == nil && r.AllUnknown:
		return identity.Identity{}, nil
	case r.Manifest == nil:
		return identity.Identity{}, errors.New("ssaplan: no manifest")
	}
	id, err := identity.Of(r.Manifest.Object)
	if err != nil && r.AllUnknown {
		m := r.Manifest
		return identity.Identity{APIVersion: m.GetAPIVersion(), Kind: m.GetKind(), Namespace: m.GetNamespace(), Name: m.GetName()}, nil
	}
	return id, err
}

// showDeclared makes what the manifest says the After of a plan for which no server could be asked.
func (plan *Plan) showDeclared(ctx context.Context) error {
	if plan.Action != ActionDeferred || plan.manifest == nil || !plan.After.Fields.Empty() {
		return nil
	}
	declared, err := projection.PredictDeclared(ctx, plan.manifest.Object, projection.NoSchema{})
	if err != nil {
		return fmt.Errorf("%s: %w", plan.Object, err)
	}
	plan.After = projection.Project(plan.manifest.Object, declared.Fields)
	return nil
}

// remember notes that nothing would change, if that is so.
func (p *Planner) remember(plan *Plan, said *warnings) {
	if p.options.NoOps != nil && plan.Action == ActionNoOp && !plan.remembered && len(plan.request.Unknown) == 0 {
		p.options.NoOps.add(plan.noOpKey(plan.Patch.Body), noOpNotes{plan.Ineffective, plan.Assigned, said.all()})
	}
}

// warn collects the warnings: of the manifest, of the server, and of what has no effect.
func (plan *Plan) warn(said *warnings) {
	if plan.target != nil {
		plan.Requests = plan.target.resource.requests
		plan.Warnings = append(plan.Warnings, plan.target.warnings...)
	}
	plan.Warnings = append(plan.Warnings, said.all()...)
	plan.warnOfLoss()
}

// warnOfLoss adds what of the manifest has no effect.
func (plan *Plan) warnOfLoss() {
	for _, step := range plan.Adjustments {
		if step.To == nil {
			plan.Warnings = append(plan.Warnings, step.String())
		}
	}
	for _, unkept := range plan.Ineffective {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s: the server doesn't keep what the manifest says here (%s)", unkept.Path, unkept.Reason))
	}
}

func (p *Planner) plan(ctx context.Context, plan *Plan, request Request) error {
	if request.AllUnknown {
		plan.deferTo(DeferralUnknownValues, "the values of the manifest, or the cluster, aren't known yet")
		return nil
	}
	if err := p.expired(); err != nil {
		return p.failure(plan.Object, "plan", err)
	}
	target, err := p.locate(ctx, plan.Object)
	if err != nil && !meta.IsNoMatchError(err) {
		return p.failure(plan.Object, "discovery", err)
	}
	if target != nil {
		plan.target, plan.Object = target, target.identity
	}
	replaced, err := p.identityChange(ctx, plan, request.Prior)
	if err != nil {
		return err
	}
	if plan.live == nil && target != nil && !replaced {
		if plan.live, err = target.supplied(request.Live); err != nil {
			return fmt.Errorf("%s: %w", plan.Object, err)
		}
	}
	if err := p.fillPatch(ctx, plan); err != nil || replaced || plan.remembered {
		return err
	}
	if target == nil {
		plan.deferToType()
		return nil
	}
	if plan.live == nil {
		if plan.live, err = target.live(ctx); err != nil {
			return p.unreadable(ctx, plan, err)
		}
		if p.isRemembered(ctx, plan, plan.Patch.Body) {
			return nil
		}
	}
	return p.ask(ctx, plan)
}

// isRemembered makes the plan a no-op if the server said before that sending body is one.
func (p *Planner) isRemembered(ctx context.Context, plan *Plan, body []byte) bool {
	if p.options.NoOps == nil || plan.live == nil || plan.Action != "" || len(plan.request.Unknown) > 0 {
		return false
	}
	notes, known := p.options.NoOps.get(plan.noOpKey(body))
	if !known {
		return false
	}
	plan.Action, plan.Reason, plan.remembered = ActionNoOp, "the server would write nothing, as it said before of this version", true
	plan.Ineffective, plan.Assigned = notes.unkept, notes.assigned
	for _, text := range notes.warnings {
		warningsOf(ctx).add(text)
	}
	plan.warnOfRecreation()
	plan.warnOfDeletion(plan.live)
	return true
}

func (plan *Plan) deferTo(deferral Deferral, reason string) {
	plan.Action, plan.Deferral, plan.Reason = ActionDeferred, deferral, reason
}

func (plan *Plan) deferToType() {
	plan.deferTo(DeferralTypeNotServed, fmt.Sprintf("the server doesn't serve %s %s (yet)", plan.Object.APIVersion, plan.Object.Kind))
}

func (plan *Plan) deferToNamespace() {
	plan.deferTo(DeferralNamespaceNotFound, fmt.Sprintf("namespace %q doesn't exist (yet)", plan.Object.Namespace))
}

// fillPatch sets what is going to be sent. Nothing is of a plan that is known to be a no-op: to copy the body would be a
// tenth of what that plan takes.
func (p *Planner) fillPatch(ctx context.Context, plan *Plan) error {
	e := newEncoder()
	defer e.release()
	content, err := plan.encode(e)
	if err != nil {
		return fmt.Errorf("%s: %w", plan.Object, err)
	}
	force := !p.options.RefuseConflicts
	plan.manifest = &unstructured.Unstructured{Object: content}
	plan.Patch.Options = metav1.PatchOptions{FieldManager: p.options.FieldManager, Force: &force}
	if !p.isRemembered(ctx, plan, e.text) {
		plan.Patch.Body = bytes.Clone(e.text)
	}
	return nil
}

// encode returns what is sent of the manifest, whose JSON is in the encoder then. Most manifests can be sent as they are;
// the one walk through them that encoding takes finds that out.
func (plan *Plan) encode(e *encoder) (content map[string]any, err error) {
	content = plan.request.Manifest.Object
	if len(plan.request.Unknown)+len(plan.request.Ignore) == 0 && projection.IsNormal(content) {
		content = inNamespace(content, plan.Object.Namespace)
		if err = e.encodePlain(content); !errors.Is(err, errNotPlain) {
			return content, err
		}
	}
	if content, err = plan.normalize(); err != nil {
		return nil, err
	}
	content = inNamespace(content, plan.Object.Namespace)
	return content, e.encode(content)
}

// inNamespace returns the manifest with the namespace, and without one if it is empty. It modifies nothing: what it
// returns shares what it doesn't change.
func inNamespace(manifest map[string]any, namespace string) map[string]any {
	metadata, _ := manifest["metadata"].(map[string]any)
	if current, exists := metadata["namespace"]; exists == (namespace != "") && (!exists || current == namespace) {
		return manifest
	}
	manifest, metadata = maps.Clone(manifest), maps.Clone(metadata)
	manifest["metadata"] = metadata
	if metadata["namespace"] = namespace; namespace == "" {
		delete(metadata, "namespace")
	}
	return manifest
}

// unreadable handles a failed read. Who may apply but not read gets a plan that shows what would be there, but can't say
// what changes.
func (p *Planner) unreadable(ctx context.Context, plan *Plan, cause error) error {
	switch authresilience.Classify(cause) {
	case authresilience.ClassAuthorization:
	case authresilience.ClassTypeNotServed: // it was, when the planner looked last
		p.kinds.forget(plan.Object.Group(), plan.Object.Version())
		plan.deferToType()
		return nil
	default:
		return p.failure(plan.Object, "get", cause)
	}
	dryRun, err := plan.target.dryRun(ctx, plan.Patch)
	switch {
	case err == nil:
	case authresilience.Classify(err) == authresilience.ClassNamespaceNotFound:
		plan.deferToNamespace()
		return nil
	default:
		return fmt.Errorf("%w; and the dry run: %w", p.failure(plan.Object, "get", cause), plan.shown(err))
	}
	if _, err := p.takeAfter(plan, dryRun); err != nil {
		return err
	}
	plan.deferTo(DeferralUnreadable, "the live object can't be read: "+plan.shown(cause).Error())
	return nil
}

// askAttempts is how often the planner looks at an object that changes between the read and the dry run.
const askAttempts = 3

// ask has the server try the apply, and compares its answer with the live object of the same resourceVersion.
func (p *Planner) ask(ctx context.Context, plan *Plan) error {
	for range askAttempts {
		dryRun, err := plan.target.dryRun(ctx, plan.Patch)
		if err != nil {
			return p.refused(ctx, plan, err)
		}
		if plan.liveVersion() == dryRun.GetResourceVersion() {
			if err := p.compare(plan, dryRun, plan.request.Prior); err != nil {
				return err
			}
			plan.leaveOutUnknown()
			return nil
		}
		if plan.live, err = plan.target.live(ctx); err != nil {
			return p.failure(plan.Object, "get", err)
		}
	}
	return fmt.Errorf("%s: the object changed between read and dry run, %d times in a row: try again", plan.Object, askAttempts)
}

// liveVersion returns the resourceVersion of the live object; a dry run that creates has none either.
func (plan *Plan) liveVersion() string {
	if plan.live == nil {
		return ""
	}
	return plan.live.GetResourceVersion()
}

// identityChange makes the plan a replacement if the prior state is of another object.
func (p *Planner) identityChange(ctx context.Context, plan *Plan, prior *State) (bool, error) {
	if prior == nil {
		return false, nil
	}
	options := identity.Options{
		DefaultNamespace: p.options.DefaultNamespace, Scope: plan.scope(prior.Identity), AllowVersionChange: p.options.AllowVersionChange,
	}
	before, now := identity.Ref{Identity: prior.Identity, UID: prior.UID}, identity.Ref{Identity: plan.Object}
	result := identity.Compare(before, now, options)
	if result.Relation == identity.RelationVersionChanged && p.options.AllowVersionChange && plan.target != nil {
		var err error
		if plan.live, err = plan.target.live(ctx); err != nil {
			return false, p.failure(plan.Object, "get", err)
		}
		if plan.live != nil {
			now.UID = string(plan.live.GetUID())
			result = identity.Compare(before, now, options)
		}
	}
	if !result.Replace() {
		return false, nil
	}
	plan.Action, plan.Reason = ActionReplace, result.Reason()
	plan.Replacement = &Replacement{Evidence: "identity", Old: result.Old, UID: prior.UID, Hazards: hazardsUnread(result.Old)}
	for _, c := range result.Changes {
		plan.Replacement.Fields = append(plan.Replacement.Fields, immutability.Field{Path: c.Field, Message: fmt.Sprintf("%q -> %q", c.Old, c.New)})
	}
	return true, nil
}

// scope returns whether the object's kind has namespaces. Of a kind that isn't served, an older object of it tells.
func (plan *Plan) scope(prior identity.Identity) identity.Scope {
	switch {
	case plan.target != nil:
		return plan.target.scope
	case prior.Group() != plan.Object.Group() || prior.Kind != plan.Object.Kind:
		return identity.ScopeUnknown
	case prior.Namespace == "":
		return identity.ScopeCluster
	}
	return identity.ScopeNamespaced
}

// hazardsUnread returns what goes with an object that nobody read, as far as its kind tells.
func hazardsUnread(id identity.Identity) []immutability.Hazard {
	return immutability.HazardsUnread(schema.GroupKind{Group: id.Group(), Kind: id.Kind}, id.Name)
}

// compare fills the plan from the two answers of the server.
func (p *Planner) compare(plan *Plan, dryRun *unstructured.Unstructured, prior *State) error {
	owners, err := p.takeAfter(plan, dryRun)
	if err != nil {
		return err
	}
	defer func() { plan.Baseline = prior.baseline(plan.Before) }()
	if plan.live == nil {
		plan.Before = projection.Project(nil, plan.After.Fields)
		plan.Action, plan.Reason = ActionCreate, "does not exist"
		if plan.Generated, err = generatedIn(dryRun.Object, plan.After.Fields, plan.Assigned); err != nil {
			return fmt.Errorf("%s: dry run: %w", plan.Object, err)
		}
		plan.Changes = append(causeless(projection.Diff(plan.Before, plan.After), CauseEdited), plan.assignments()...)
		return nil
	}
	plan.warnOfRecreation()
	plan.warnOfDeletion(dryRun)
	// A dry run that would write nothing is answered with the live object as it is, so equality is the proof.
	if sameObject(plan.live, dryRun) {
		plan.Before = plan.After
		plan.Action, plan.Reason = ActionNoOp, "the server would write nothing"
		return nil
	}
	plan.Before = projection.Project(plan.live.Object, plan.After.Fields)
	if err := p.explain(plan, dryRun, owners, prior); err != nil {
		return fmt.Errorf("%s: %w", plan.Object, err)
	}
	plan.Action, plan.Reason = ActionUpdate, reason(plan.Changes)
	return nil
}

// takeAfter fills in what the declared fields become, and returns who owns what then.
func (p *Planner) takeAfter(plan *Plan, dryRun *unstructured.Unstructured) (fieldowner.Ownership, error) {
	owners, err := fieldowner.Read(dryRun.Object)
	if err != nil {
		return owners, fmt.Errorf("%s: dry run: %w", plan.Object, err)
	}
	declared := declaredIn(plan.manifest.Object, dryRun.Object, owners, p.options.FieldManager)
	plan.Ineffective, plan.Assigned = declared.unkept, declared.left
	plan.After = projection.Project(dryRun.Object, declared.fields)
	return owners, nil
}

// explain fills in how the dry run's answer differs from the live object, and why.
func (p *Planner) explain(plan *Plan, dryRun *unstructured.Unstructured, owners fieldowner.Ownership, prior *State) error {
	c, err := newComparison(plan, dryRun, owners, p.options.FieldManager, prior)
	if err != nil {
		return err
	}
	if plan.Changes, err = c.changes(); err != nil {
		return err
	}
	plan.markAssigned()
	plan.Dropped = c.liveOwners.Dropped(owners, dryRun.Object, p.options.FieldManager)
	plan.Ownership = fieldowner.Compare(c.liveOwners, owners, p.options.FieldManager)
	return nil
}

// warnOfRecreation warns of an object that is another one than the remembered.
func (plan *Plan) warnOfRecreation() {
	prior, uid := plan.request.Prior, string(plan.live.GetUID())
	if prior != nil && prior.UID != "" && prior.UID != uid {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s: somebody re-created the object: its uid was %s and is %s",
			plan.Object, prior.UID, uid))
	}
}

// warnOfDeletion warns of applying to an object that is going away. A server removes it with the last finalizer, also when
// that is taken by an apply. Source: ShouldDeleteDuringUpdate in k8s.io/apiserver/pkg/registry/generic/registry.
func (plan *Plan) warnOfDeletion(dryRun *unstructured.Unstructured) {
	if plan.live.GetDeletionTimestamp() == nil {
		return
	}
	grace := dryRun.GetDeletionGracePeriodSeconds()
	switch finalizers := dryRun.GetFinalizers(); {
	case len(finalizers) > 0:
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s: is being deleted, and will be gone once its finalizers are removed: %s",
			plan.Object, strings.Join(finalizers, ", ")))
	case len(plan.live.GetFinalizers()) > 0 && (grace == nil || *grace == 0):
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s: is being deleted, and applying takes away the last finalizer: the object will be gone; plan again to create it",
			plan.Object))
	default:
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%s: is being deleted, and what is applied goes with it", plan.Object))
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
