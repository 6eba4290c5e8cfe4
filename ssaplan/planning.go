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

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
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
	ctx, said := wire.CollectWarnings(ctx)
	plan := &Plan{Object: id, request: request}
	if err := p.plan(ctx, plan, request); errors.Is(err, fastjson.ErrTooDeep) {
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
func (p *Planner) remember(plan *Plan, said *wire.Warnings) {
	if p.options.NoOps != nil && plan.Action == ActionNoOp && !plan.remembered && plan.unknown.Empty() {
		p.options.NoOps.add(plan.noOpKey(plan.Patch.Body), noOpNotes{
			explanation: explain.Explanation{Assigned: plan.Assigned, Ineffective: plan.Ineffective}, warnings: said.All(),
		})
	}
}

// warn collects the warnings: of the target, of the server, of the manifest and of what has no effect.
func (plan *Plan) warn(said *wire.Warnings) {
	if plan.target != nil {
		plan.Requests = plan.target.resource.Requests()
		plan.Warnings = append(plan.Warnings, plan.target.warnings...)
	}
	plan.Warnings = append(plan.Warnings, said.All()...)
	for _, adjustment := range plan.Adjustments {
		if adjustment.To == nil {
			plan.Warnings = append(plan.Warnings, adjustment.String())
		}
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
		if p.recall(ctx, plan, plan.Patch.Body) {
			return nil
		}
	}
	return p.ask(ctx, plan)
}

// recall makes the plan a no-op if the server answered before that sending body is one, and reports whether it did.
func (p *Planner) recall(ctx context.Context, plan *Plan, body []byte) bool {
	if p.options.NoOps == nil || plan.live == nil || plan.Action != "" || !plan.unknown.Empty() {
		return false
	}
	notes, known := p.options.NoOps.get(plan.noOpKey(body))
	if !known {
		return false
	}
	plan.Explanation = *explain.Known(&notes.explanation, plan.request.Prior, plan.live.Object)
	plan.Action, plan.Reason, plan.remembered = ActionNoOp, "the server would write nothing, as it said before of this version", true
	for _, text := range notes.warnings {
		wire.WarningsOf(ctx).Add(text)
	}
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
	e := fastjson.NewEncoder()
	defer e.Release()
	content, err := plan.encode(e)
	if err != nil {
		return fmt.Errorf("%s: %w", plan.Object, err)
	}
	force := !p.options.RefuseConflicts
	plan.manifest = &unstructured.Unstructured{Object: content}
	plan.Patch.Options = metav1.PatchOptions{FieldManager: p.options.FieldManager, Force: &force}
	if !p.recall(ctx, plan, e.Text()) {
		plan.Patch.Body = bytes.Clone(e.Text())
	}
	return nil
}

// encode returns what is sent of the manifest, whose JSON is in the encoder then. Most manifests can be sent as they are;
// the one walk through them that encoding takes finds that out.
func (plan *Plan) encode(e *fastjson.Encoder) (content map[string]any, err error) {
	content = plan.request.Manifest.Object
	if len(plan.request.Unknown)+len(plan.request.Ignore) == 0 && projection.IsNormal(content) {
		content = inNamespace(content, plan.Object.Namespace)
		if err = e.EncodePlain(content); !errors.Is(err, fastjson.ErrNotPlain) {
			return content, err
		}
	}
	prepared, err := explain.Prepare(plan.request.Manifest.Object, plan.request.Ignore, plan.request.Unknown)
	if err != nil {
		return nil, err
	}
	plan.Adjustments, plan.unknown, plan.Unknown = prepared.Adjustments, prepared.Unknown, prepared.Unknown.Paths()
	content = inNamespace(prepared.Manifest, plan.Object.Namespace)
	return content, e.Encode(content)
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
		p.forgetKind(plan.Object)
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
	if err := plan.explain(dryRun); err != nil {
		return err
	}
	plan.Explanation = explain.Explanation{
		After: plan.After, Assigned: plan.Assigned, Ineffective: plan.Ineffective, Unknown: plan.Unknown, Warnings: plan.Warnings,
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
			return plan.explain(dryRun)
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
func (p *Planner) identityChange(ctx context.Context, plan *Plan, prior *explain.State) (bool, error) {
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
	plan.Replacement = &Replacement{Evidence: "identity", Old: result.Old, UID: prior.UID, Hazards: hazardsOf(result.Old)}
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

// hazardsOf returns what goes with an object that nobody read, as far as its kind tells.
func hazardsOf(id identity.Identity) []immutability.Hazard {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(id.APIVersion)
	obj.SetKind(id.Kind)
	obj.SetNamespace(id.Namespace)
	obj.SetName(id.Name)
	hazards := immutability.Hazards(obj)
	if id.APIVersion == "v1" && id.Kind == "PersistentVolumeClaim" {
		hazards = append(hazards, immutability.Hazard{
			Kind: immutability.HazardData, Message: "the claim lets go of its volume, if it has one, and with reclaim policy Delete the data is deleted with it",
		})
	}
	return hazards
}

// explain fills the plan from the server's answer to the dry run.
func (plan *Plan) explain(dryRun *unstructured.Unstructured) error {
	explained, err := explain.Apply(explain.Input{
		Manifest: plan.manifest.Object, Live: plan.liveObject(), Answer: dryRun.Object,
		Manager: plan.Patch.Options.FieldManager, Prior: plan.request.Prior, Unknown: plan.unknown,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", plan.Object, err)
	}
	plan.Explanation = *explained
	switch {
	case plan.live == nil:
		plan.Action, plan.Reason = ActionCreate, "does not exist"
	case !plan.unknown.Empty() && len(plan.Changes)+len(plan.Ownership) == 0:
		plan.deferTo(DeferralUnknownValues, "nothing changes but what isn't known yet: "+pathList(plan.Unknown))
	case plan.NoOp:
		plan.Action, plan.Reason = ActionNoOp, "the server would write nothing"
	default:
		plan.Action, plan.Reason = ActionUpdate, plan.Summary()
	}
	return nil
}

func pathList(paths []projection.Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
