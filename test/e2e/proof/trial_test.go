package proof_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// The properties of which plan and apply are compared.
const (
	harmless    = "planning changes nothing"
	reading     = "both ways of reading answers"
	listing     = "both ways of reading objects"
	noOp        = "no-op"
	create      = "create"
	values      = "values"
	owners      = "owners"
	conflict    = "conflict"
	replace     = "replace"
	refusal     = "refusal"
	requests    = "requests"
	sideEffects = "side effects"
	fates       = "fates of dropped fields"
	ignored     = "ignored fields"
	normalized  = "normalization"
	refresh     = "refresh"
	prediction  = "predicted conflicts"
	imports     = "imports"
	clearing    = "clearing"
	causes      = "causes"
	deletes     = "deletes"
	handovers   = "handovers"
	releases    = "releases"
	rivals      = "rivals"
	versions    = "versions"
)

// rewritten is the outcome of a no-op after which the server stored the object again.
const rewritten = "NoOp, rewritten"

// gone is the outcome of an apply that removed the object, which was being deleted, by taking its last finalizer.
const gone = "Update, gone"

// trial is an apply that is planned, then done.
type trial struct {
	object     *object
	step       Step
	manifest   *unstructured.Unstructured
	except     explain.Exceptions
	wire       *unstructured.Unstructured // the manifest as the plan wants it to be sent
	created    *unstructured.Unstructured // and as a new object would be created with it, nil if it is the same
	before     *unstructured.Unstructured // nil if there is no object
	supplied   *unstructured.Unstructured // the same as the server has it, which the scale of it is not
	memory     *memory                    // of what the step applies to
	prior      *explain.State             // what the plan was made with
	plan       *ssaplan.Plan
	planErr    error
	dryRun     *unstructured.Unstructured
	after      *unstructured.Unstructured
	applyErr   error
	replaced   bool                // the object was replaced, and after is the new one
	deletion   *deletion.Plan      // of a delete
	giveUp     projection.Patterns // which are ignored as well
	clear      projection.Patterns
	over       bool // nothing can follow: the record is another than a host knows
	handedOver bool // and the plan was carried out
	// hookedTwice says that admission changed a new object once more when fields of it were given up: by a second
	// write, which no dry run shows. A server asks policies before webhooks, so that a policy finds a container then
	// that a webhook added at the first write. Source: AllOrderedPlugins in
	// k8s.io/kubernetes/pkg/kubeapiserver/options.
	hookedTwice bool

	outcome   string
	checks    []check
	unlisted  []string
	met       map[string]bool // see demandedShapes
	shortened bool            // whether it was imported, and a shorter manifest planned
	defaults  string          // "told" if the server showed the defaults of new items, "refused" if it rejected the request, empty without new items
}

// check is a comparison of plan and reality.
type check struct {
	property string
	wrong    string // what they disagree on; empty if they agree
}

func (t *trial) check(property string, agree bool, format string, args ...any) bool {
	c := check{property: property}
	if !agree {
		c.wrong = shorten(fmt.Sprintf(format, args...))
	}
	t.checks = append(t.checks, c)
	return agree
}

func shorten(text string) string {
	const limit = 1500
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}

// isRounded reports whether managedFields have the largest integer of the proof's manifests, which is an item of a set,
// as a float. A server rounds it in the entries of other managers at a write. From then on it takes the item for
// another one.
func isRounded(obj *unstructured.Unstructured) bool {
	return obj != nil && strings.Contains(shown(obj.GetManagedFields()), "9007199254740992")
}

// run plans and applies. An error is one of the test itself.
func (t *trial) run(ctx context.Context) (err error) {
	switch t.step.Write {
	case "delete":
		return t.runDelete(ctx)
	case "release":
		return t.runRelease(ctx)
	}
	t.manifest, t.memory = t.object.manifest(t.step), t.object.remembered(t.step.Of)
	if t.except.Ignore, err = projection.ParsePatterns(t.step.Ignore...); err != nil {
		return err
	}
	if t.except.Strip, err = projection.ParsePatterns(t.step.Strip...); err != nil {
		return err
	}
	if t.giveUp, err = projection.ParsePatterns(t.step.GiveUp...); err != nil {
		return err
	}
	if t.clear, err = projection.ParsePatterns(t.step.Clear...); err != nil {
		return err
	}
	t.except.Ignore = slices.Concat(t.except.Ignore, t.giveUp)
	if t.supplied, err = t.object.get(ctx, t.manifest); err != nil {
		return err
	}
	t.before = t.seen(t.supplied)
	if isRounded(t.before) {
		t.outcome = "the record is rounded"
		return nil
	}
	t.judgeRefresh(ctx)
	t.makePlan(ctx)
	t.judgeVersion(ctx)
	between, err := t.object.get(ctx, t.manifest)
	if err != nil {
		return err
	}
	t.check(harmless, reflect.DeepEqual(t.supplied, between), "the object changed:\n%v\n%v", t.supplied, between)
	if t.planErr != nil && (strings.Contains(t.planErr.Error(), "items of it are to stay") || strings.Contains(t.planErr.Error(), "the parts that are to stay")) {
		t.judgeGuess()
		t.over, t.outcome = true, "error ignored items can't be distinguished"
		return nil
	}
	if err := t.readPatch(ctx); err != nil {
		return err
	}
	t.judgeNormalization(ctx)
	t.judgePrediction(ctx)
	t.judgeImport(ctx)
	t.judgeShorter(ctx)
	if isJudged, err := t.carryOut(ctx); err != nil || isJudged {
		return err
	}
	if t.applyErr != nil {
		return t.judgeRefusal(ctx)
	}
	if t.step.Of == "scale" { // the answer isn't the object
		t.dryRun = nil
		if t.after, err = t.object.get(ctx, t.manifest); err != nil {
			return err
		}
		t.after = t.seen(t.after)
	}
	t.outcome = "plan error, applied"
	if t.plan != nil {
		t.outcome = string(t.plan.Action)
	}
	if !t.check(refusal, t.planErr == nil && t.planIs(ssaplan.ActionNoOp, ssaplan.ActionCreate, ssaplan.ActionUpdate),
		"planned %v %v, but the apply was accepted", t.plan, t.planErr) {
		return nil
	}
	if err := t.remember(); err != nil {
		return err
	}
	t.judgeCauses()
	t.memory.last = t.applied()
	t.judgeApply(ctx)
	if !t.planIs(ssaplan.ActionNoOp) {
		t.object.redefined = slices.DeleteFunc(t.object.redefined, func(p projection.Path) bool {
			value, declared := valueAt(t.wire, p)
			return !declared || value != nil // null writes nothing into a list, and its record stays as it was
		})
	}
	return nil
}

// remember keeps the state of the object as a host does: as JSON.
func (t *trial) remember() error {
	state, err := t.plan.State(t.after)
	if err != nil {
		return err
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	t.memory.state = &explain.State{}
	return json.Unmarshal(text, t.memory.state)
}

// planners returns those that plan as the step says.
func (t *trial) planners() planners {
	of := t.object.cluster.of(t.step.By)
	if t.step.Force {
		return of.forcing
	}
	return of.refusing
}

// request is what the step asks a planner.
func (t *trial) request() ssaplan.Request {
	request := ssaplan.Request{
		Manifest: t.manifest.DeepCopy(), Ignore: t.except.Ignore, Strip: t.except.Strip, Subresource: t.step.Of, AllowVersionChange: t.step.InPlace,
		Adopt: t.step.Adopt, GiveUp: t.giveUp, Clear: t.clear, ClearBlocking: t.step.ClearBlocking,
		LostVersions: t.step.LostVersions,
	}
	if t.step.Remember {
		request.Prior = t.memory.state
	}
	if t.step.Supply {
		request.Live = t.supplied.DeepCopy()
	}
	return request
}

// makePlan plans, and checks that this does no harm to the manifest.
func (t *trial) makePlan(ctx context.Context) {
	planners, request := t.planners(), t.request()
	t.prior = request.Prior
	defer func() {
		if r := recover(); r != nil {
			t.planErr = fmt.Errorf("panic: %v", r)
			t.check(harmless, false, "panic: %v", r)
		}
	}()
	var ours, others, single, listed string
	for attempt := 0; attempt < 2 && (attempt == 0 || ours != others || single != listed); attempt++ { // the next second may put records into another order
		if attempt > 0 {
			lab.NextSecond()
		}
		t.plan, t.planErr = planners.tested.Plan(ctx, request)
		reference, err := planners.reference.Plan(ctx, request)
		ours, others = textOf(t.plan, t.planErr), textOf(reference, err)
		inSet, err := planByList(ctx, planners.tested, request)
		single, listed = textOf(withoutRequests(t.plan), t.planErr), textOf(withoutRequests(inSet), err)
	}
	t.check(reading, ours == others, "%s\nbut\n%s", ours, others)
	t.check(listing, single == listed, "%s\nbut\n%s", single, listed)
	t.check(harmless, reflect.DeepEqual(t.manifest, request.Manifest), "the manifest was modified: %v", request.Manifest)
	if t.plan != nil {
		t.check(rivals, t.plan.Rival == nil || t.object.unrecorded || t.isOfNameless(t.plan.Rival.Paths), "nobody else applies under this name: %v", t.plan.Rival)
		_, err := json.Marshal(t.plan)
		t.check(harmless, err == nil, "JSON: %v", err)
		t.check(requests, t.plan.Requests <= t.allowedRequests(), "%d requests", t.plan.Requests)
	}
}

// planByList plans as a member of a set that is large enough to be read by lists. The other members name a state that
// isn't theirs, which is an error before anything is sent.
func planByList(ctx context.Context, planner *ssaplan.Planner, request ssaplan.Request) (plan *ssaplan.Plan, err error) {
	set := []ssaplan.Request{request}
	for i := range 49 {
		beside := &unstructured.Unstructured{}
		beside.SetGroupVersionKind(request.Manifest.GroupVersionKind())
		beside.SetNamespace(request.Manifest.GetNamespace())
		beside.SetName(fmt.Sprintf("beside-%d", i))
		id, err := identity.Of(beside.Object)
		if err != nil {
			return nil, err
		}
		set = append(set, ssaplan.Request{Manifest: beside, Prior: &explain.State{Identity: id, Subresource: "another"}})
	}
	var answers int
	for p, e := range planner.PlanAll(ctx, set) {
		if answers++; answers == 1 {
			plan, err = p, e
		} else if e == nil {
			return nil, fmt.Errorf("%s was planned, with requests of its own", p.Object)
		}
	}
	return plan, err
}

// withoutRequests returns a plan without its number of requests.
func withoutRequests(plan *ssaplan.Plan) *ssaplan.Plan {
	if plan == nil {
		return nil
	}
	without := *plan
	without.Requests = 0
	return &without
}

// textOf returns the whole text of a plan or an error. It sorts the fields that are invalid or can't change, because a
// server lists them in no fixed order.
func textOf(plan *ssaplan.Plan, err error) string {
	if err != nil {
		return fixed(err.Error())
	}
	if plan.Action == ssaplan.ActionReplace {
		fields := slices.SortedFunc(slices.Values(plan.Replacement.Fields), func(a, b immutability.Field) int {
			return strings.Compare(a.String(), b.String())
		})
		return fmt.Sprint(plan.Action, sortedWords(string(plan.Replacement.Evidence)), fields, plan.Replacement.Hazards, plan.Requests)
	}
	shown := *plan
	shown.Warnings = slices.Clone(plan.Warnings) // a conflict that can't be forced has the server's reason among them
	for i, warning := range shown.Warnings {
		shown.Warnings[i] = foreign.Text(fixed(string(warning)))
	}
	text, err := json.Marshal(shown)
	text = timestamps.ReplaceAll(text, []byte("$1"))
	return fmt.Sprintf("%s %v %s %s", text, err, plan.Before, plan.Dropped)
}

// unfixed is what a server says otherwise each time: which of several fields that don't fit the schema it found first,
// in a manifest or in what is stored in another version, which of those that no schema has or that are there twice it
// names, and how many, since it stops at the first version of managedFields that has such fields; and the number of a
// request in whose handling it crashed.
var unfixed = regexp.MustCompile(
	`(?s)failed to create typed patch object .*|failed to convert new object .*|` +
		`\s*(?:errors:)?(?:\s*\S+: (?:field not declared in schema|duplicate entries for key))+|stream ID \d+`)

// fixed returns a text without what is unfixed, and with its words in a fixed order.
func fixed(text string) string {
	return sortedWords(unfixed.ReplaceAllString(strings.ReplaceAll(text, " (other requests are answered)", ""), "…"))
}

// TestTold checks that two answers count as the same if they differ in what a server says otherwise each time, and in
// no more.
func TestTold(t *testing.T) {
	same := func(a, b string) bool { return textOf(nil, errors.New(a)) == textOf(nil, errors.New(b)) }
	typed := func(errors string) string {
		return "x: dry run: failed to create typed patch object (a/b): errors:" + errors
	}
	require.True(t, same(typed("\n .spec.a: c\n .spec.b: d"), typed("\n .spec.b: d\n .spec.a: c")))
	require.False(t, same("x: invalid: spec.a: expected list", "x: invalid: spec.b: expected list"))
	require.True(t, same("x: dry run: .spec.a: field not declared in schema", "x: dry run: .spec.b[0].c: field not declared in schema"))
	require.True(t, same("x: dry run: .spec.a: field not declared in schema",
		"x: dry run: errors:\n  .spec.b: field not declared in schema\n  .spec.a: field not declared in schema"))
	require.False(t, same("x: dry run: .spec.a: field not declared in schema", "x: apply: .spec.a: field not declared in schema"))
	require.True(t, same("x: invalid: .spec.a: field not declared in schema", "x: invalid: .spec.b: duplicate entries for key"))
	require.True(t, same("x: stream ID 3", "x: stream ID 5"))
	require.True(t, same("x: stream ID 3 (other requests are answered): y", "x: stream ID 3: y"))
	require.True(t, same("x: [b, a]", "x: [a, b]"))
	at := func(path, time string) string {
		p, err := projection.ParsePath(path)
		require.NoError(t, err)
		plan := &ssaplan.Plan{}
		plan.Changes = []explain.Change{{Difference: projection.Difference{Path: p, Before: "2026-01-01T00:00:00Z", After: time}, Cause: explain.CauseSideEffect}}
		return textOf(plan, nil)
	}
	require.Equal(t, at("status.lastPhaseTransitionTime", "2026-01-01T00:00:01Z"), at("status.lastPhaseTransitionTime", "2026-01-01T00:00:02Z"))
	require.NotEqual(t, at("spec.a", "2026-01-01T00:00:01Z"), at("spec.a", "2026-01-01T00:00:02Z"))
}

// sortedWords returns the words of a text in a fixed order, without what stands between the parts of a list.
func sortedWords(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t[],;", r) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// timestamps are when managers wrote, which for one that only the dry run made is now, and what a server sets to now
// when the phase of a volume changes.
var timestamps = regexp.MustCompile(`,"time":"[^"]*"|(lastPhaseTransitionTime","cause":"SideEffect"(?:,"before":"[^"]*")?),"after":"[^"]*"`)

// readPatch stores the object that the plan sends. Without a patch it builds the object from the normalized manifest.
// It removes the fields to strip, and adds ignored fields and the nulls that reset something, as the library does. It
// also does this for a replacement with ignored fields, because the patch of a new object doesn't show them.
func (t *trial) readPatch(ctx context.Context) error {
	if t.plan != nil && t.plan.Patch().Body != nil {
		options := t.plan.Patch().Options
		t.check(harmless, options.FieldManager == t.step.By && *options.Force == t.step.Force && options.DryRun == nil, "options %v", options)
		t.wire = &unstructured.Unstructured{}
		err := utiljson.Unmarshal(t.plan.Patch().Body, &t.wire.Object)
		if err != nil || !t.planIs(ssaplan.ActionReplace) || len(t.except.Ignore) == 0 {
			return err
		}
	}
	content := t.manifest.DeepCopy().Object
	if t.step.Of == "" {
		content, _ = projection.Normalize(content, "")
	}
	content, _ = t.except.Strip.Strip(content)
	if len(t.except.Ignore) > 0 || t.before != nil && len(hollowsOf(t.manifest.Object)) > 0 {
		prepared, err := explain.Prepare(t.manifest.Object, t.step.Of, t.except)
		if err != nil {
			return err
		}
		was := liveObject(t.recorded(ctx))
		live := was
		if handover, err := t.handover(); err != nil {
			return err
		} else if !handover.Empty() {
			live = handover.Object()
		}
		left, err := prepared.For(live, was, t.step.applier())
		if err != nil {
			return err
		}
		t.created, content = cmp.Or(t.wire, &unstructured.Unstructured{Object: content}), left.Manifest
	}
	t.wire = &unstructured.Unstructured{Object: content}
	if apiVersion, kind, other := kinds.OfSubresource(t.step.Of); other {
		t.wire.SetAPIVersion(apiVersion)
		t.wire.SetKind(kind)
	}
	return nil
}

// recorded returns the object as it was, with the record that its first apply makes if it has none.
func (t *trial) recorded(ctx context.Context) *unstructured.Unstructured {
	if t.before == nil || t.step.Of != "" || len(t.before.GetManagedFields()) > 0 {
		return t.before
	}
	nothing := Step{By: t.step.By, Body: map[string]any{"apiVersion": t.before.GetAPIVersion(), "kind": t.before.GetKind()}}
	made, err := t.object.apply(ctx, t.object.manifest(nothing), nothing, metav1.DryRunAll)
	if err != nil {
		return t.before
	}
	recorded := t.before.DeepCopy()
	recorded.SetManagedFields(made.GetManagedFields())
	return recorded
}

// judgeNormalization compares what the normalized manifest does with what the manifest as it is does, to which only the
// kind of a subresource is added: normalizing may change what is recorded, but no object.
//
// An answer has the selfLink of the manifest if the server wrote nothing, as in a dry run: it takes the field out of
// what it stores. Source: PrepareObjectForStorage in k8s.io/apiserver/pkg/storage/api_object_versioner.go.
func (t *trial) judgeNormalization(ctx context.Context) {
	written := &unstructured.Unstructured{Object: explain.Addressed(t.manifest.Object, t.manifest.GetNamespace(), t.step.Of)}
	if !t.except.Empty() || reflect.DeepEqual(t.wire.Object, written.Object) {
		return
	}
	step := t.step
	step.Force = true // a conflict is about owners, and what is compared are objects
	raw, rawErr := t.object.apply(ctx, written, step, metav1.DryRunAll)
	wire, err := t.object.apply(ctx, t.wire, step, metav1.DryRunAll)
	isSame := (rawErr == nil) == (err == nil) || t.showsNull(rawErr) || t.isRefusedNull(rawErr)
	if !t.check(normalized, isSame, "as it is: %v; normalized: %v", rawErr, err) || rawErr != nil || err != nil || t.before == nil {
		return
	}
	raw.SetSelfLink("")
	t.forgetCopy(raw, wire)
	lines := differences(withoutBookkeeping(raw.Object), withoutBookkeeping(wire.Object), nil)
	if hasOtherVersions(t.before) && !kinds.IsBuiltin(t.manifest.Object) && wire.GetResourceVersion() == t.before.GetResourceVersion() {
		return // a no-op doesn't fill in what the version at hand has by default, as a write does
	}
	isOfHook := hasHook(t.manifest) && !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, `"stamped"`) })
	t.check(normalized, len(lines) == 0 || isOfHook, "%s", strings.Join(lines, "\n"))
}

// showsNull reports whether a policy fails since a server shows it as null the labels or annotations that a custom
// resource declares as empty, or a label that it declares as null, which docs/limits.md names.
func (t *trial) showsNull(err error) bool {
	if err == nil || kinds.IsBuiltin(t.manifest.Object) {
		return false
	}
	tier, isDeclared := lookup(t.manifest.Object, place{"metadata", "labels", "tier"})
	return strings.Contains(err.Error(), "no such overload") || isDeclared && tier == nil && strings.Contains(err.Error(), "the tier is for ever")
}

// isRefusedNull reports whether a server refuses a null in the data of an immutable Secret or ConfigMap that it stored
// as no bytes itself: it compares the two, and they differ (seen in 1.37).
func (t *trial) isRefusedNull(err error) bool {
	if err == nil || t.before == nil || !strings.Contains(err.Error(), "field is immutable when `immutable` is set") {
		return false
	}
	for _, at := range places(t.manifest.Object) {
		v, _ := lookup(t.manifest.Object, at)
		stored, exists := lookup(t.before.Object, at)
		if len(at) == 2 && v == nil && exists && stored == "" && kinds.IsBytesField(t.manifest.GetKind(), fmt.Sprint(at[0])) {
			return true
		}
	}
	return false
}

// hasNullOverUnowned reports whether the manifest has null where the object has a value that no manager owns.
func (t *trial) hasNullOverUnowned() bool {
	if t.before == nil {
		return false
	}
	owners, err := fieldowner.Read(t.before.Object)
	if err != nil {
		return false
	}
	_, adjustments := projection.Normalize(t.manifest.Object, "")
	return slices.ContainsFunc(adjustments, func(a projection.Adjustment) bool {
		written, isWritten := valueAt(t.manifest, a.Path)
		_, exists := valueAt(t.before, a.Path)
		return isWritten && written == nil && exists && !owners.Fields(nil).Touches(a.Path)
	})
}

// forgetCopy takes out of the objects the copy that the server keeps of what the manager kubectl applies.
func (t *trial) forgetCopy(objects ...*unstructured.Unstructured) {
	for _, obj := range objects {
		if t.step.By == "kubectl" {
			unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", kinds.LastApplied)
		}
	}
}

// ignoresWithoutOwner reports whether an ignored or given-up field of the object is in a list or map in which no
// manager owns a field.
func (t *trial) ignoresWithoutOwner() bool {
	if t.before == nil {
		return false
	}
	owners, err := fieldowner.Read(t.before.Object)
	t.check(ignored, err == nil, "%v", err)
	outline, err := projection.Outline(t.before.Object)
	t.check(ignored, err == nil, "%v", err)
	owned := owners.Fields(nil)
	return slices.ContainsFunc(slices.Concat(t.except.Ignore, t.giveUp).Find(t.before.Object, owned.Union(outline)), func(p projection.Path) bool {
		for n := 1; n < len(p); n++ {
			if owned.Under(p[:n]).Empty() {
				return true
			}
		}
		return false
	})
}

// allowedRequests is how many requests the plan may have taken.
func (t *trial) allowedRequests() int {
	n := 2
	if t.step.Supply && t.before != nil && len(t.before.GetManagedFields()) > 0 {
		n = 1
	}
	if t.step.Of == "scale" && !kinds.IsBuiltin(t.manifest.Object) {
		n++ // the definition, which says where the number is
	}
	if t.before != nil && len(t.before.GetManagedFields()) == 0 && len(t.except.Ignore)+len(hollowsOf(t.manifest.Object)) > 0 {
		n++ // what a record of it would be
	}
	if t.hasNullOverUnowned() {
		n++ // once the first answer shows that it changes nothing
	}
	if t.ignoresWithoutOwner() {
		n++ // once the first answer shows that a list is one whole
	}
	if t.isOtherVersion() {
		n++ // to see whether it is the same object
	}
	if t.planIs(ssaplan.ActionReplace, ssaplan.ActionConflict) && t.step.Supply {
		n++ // a supplied object may be out of date
	}
	if t.planIs(ssaplan.ActionConflict) {
		n++ // what a forced apply would change
	}
	if t.step.handsOver() || t.step.clears() {
		n += 4 // the handover, a forced apply, a create and an update
		if t.before != nil && len(hollowsOf(withoutBookkeeping(t.before.Object)))+len(hollowsOf(t.manifest.Object)) > 0 {
			n++ // which lists and maps are one whole, once for all that are empty or declared as empty
		} else if !kinds.IsBuiltin(t.manifest.Object) {
			n++ // by which keys the items of lists are named today, which the same request shows
		}
	}
	if t.step.ClearBlocking { // for each field in the way, what finds out whether replacing helps, and the apply again
		n += 6
		for _, c := range t.plan.Changes {
			if c.Cause == explain.CauseCleared {
				n += 6
			}
		}
	}
	if t.planIs(ssaplan.ActionReplace) {
		n += 4 + t.pinnedAddresses() // of each the planner looks up whether it is free
		if !kinds.IsBuiltin(t.manifest.Object) {
			n++ // the definition
		}
	}
	return n
}

// pinnedAddresses is how many cluster IPs the applied manifest names.
func (t *trial) pinnedAddresses() int {
	var body struct {
		Spec struct {
			ClusterIP  string   `json:"clusterIP"`
			ClusterIPs []string `json:"clusterIPs"`
		} `json:"spec"`
	}
	if json.Unmarshal(t.plan.Patch().Body, &body) != nil || body.Spec.ClusterIP == "" && len(body.Spec.ClusterIPs) == 0 {
		return 0
	}
	return max(len(body.Spec.ClusterIPs), 1)
}

func (t *trial) planIs(actions ...ssaplan.Action) bool {
	return t.plan != nil && slices.Contains(actions, t.plan.Action)
}

// features says what of the generator's repertoire an accepted apply had to do with.
func (t *trial) features() []string {
	if t.deletion != nil {
		return t.deletionFeatures()
	}
	if t.step.Write == "release" {
		return []string{t.outcome}
	}
	if t.applyErr != nil && !t.replaced || t.plan == nil || t.after == nil {
		return nil
	}
	found := map[string]bool{
		"subresource " + t.step.Of: t.step.Of != "", "replacement": t.replaced,
		"no force": !t.step.Force, "remembered state": t.step.Remember && t.before != nil, "supplied object": t.step.Supply && t.before != nil,
		"stripped fields": len(t.except.Strip) > 0,
		"adoption":        t.handedOver && len(t.step.Adopt) > 0, "giving up": t.handedOver && len(t.giveUp) > 0,
		"ignored fields":      slices.ContainsFunc(t.plan.Ignored, func(f explain.IgnoredField) bool { return f.Handling != explain.HandlingSent }),
		"normalized manifest": len(t.plan.Adjustments) > 0,
		"overwriting webhook": t.after.GetAnnotations()["stamped"] != "", "change of owners": len(t.plan.Ownership) > 0,
		"defaults of new items " + t.defaults: t.defaults != "", "grants in items": t.after.GetLabels()[grantHook] != "",
	}
	found["policy for items"] = t.after.GetLabels()[policyHook] != "" && slices.ContainsFunc(t.plan.Changes, isOfPolicy)
	found["another revision"], found["shorter manifest"] = t.object.revision > 0, t.shortened
	found["untried new object"] = t.replaced && slices.ContainsFunc(t.plan.Warnings, isUntried)
	found["another version"] = t.isOtherVersion() && t.before != nil
	found["applied as "+t.step.By] = t.step.By != manager
	found["moved from a lost version"] = t.handedOver && len(t.step.LostVersions) > 0 && hasOtherVersions(t.before)
	found["part of a whole of others"] = t.holdsWhole()
	for _, cleared := range t.cleared() {
		found[cleared] = true
	}
	for _, hollow := range hollowsOf(t.step.Body) {
		found[hollow] = true
	}
	containers, _ := lookup(t.after.Object, place{"spec", "template", "spec", "containers"})
	found["sidecar put first"] = isList(containers) && positionOf(containers.([]any), "sidecar") == 0
	for _, c := range t.plan.Changes {
		found[fmt.Sprintf("change %s %s", c.Cause, c.Op)] = t.before != nil && !t.replaced
	}
	return slices.DeleteFunc(slices.Collect(maps.Keys(found)), func(name string) bool { return !found[name] })
}
