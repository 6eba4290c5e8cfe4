package proof_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// judgeRefusal compares the plan with an apply that the server refused.
func (t *trial) judgeRefusal(ctx context.Context) error {
	if isOwned(t.applyErr) || t.planIs(ssaplan.ActionConflict) {
		t.judgeConflict(ctx)
		return nil
	}
	if t.planIs(ssaplan.ActionReplace) {
		return t.judgeReplacement(ctx)
	}
	if !t.check(refusal, t.planErr != nil, "planned %v, but the apply was refused: %v", t.plan, t.applyErr) {
		return nil
	}
	if t.step.Of != "" && t.before == nil {
		t.outcome = "error no object"
		// A server reports that the object doesn't exist only after it validated the object that it would create.
		isTold := apierrors.IsNotFound(t.applyErr) || apierrors.IsInvalid(t.applyErr)
		t.check(refusal, isTold && strings.HasSuffix(t.planErr.Error(), "create it first"), "planned %v, apply: %v", t.planErr, t.applyErr)
		return nil
	}
	if len(t.clear) > 0 && strings.Contains(t.planErr.Error(), "can't be cleared, since it is a part of") {
		t.outcome = "error a part can't be cleared, and refused"
		return nil
	}
	var refused *immutability.RefusedError
	if !errors.As(t.planErr, &refused) {
		t.outcome = "error " + reason(t.applyErr)
		t.check(refusal, isSameRefusal(t.planErr, t.applyErr), "planned %v, apply: %v", t.planErr, t.applyErr)
		return nil
	}
	t.check(refusal, isSameRefusal(refused.Err, t.applyErr), "planned %v, apply: %v", refused.Err, t.applyErr)
	return t.judgeVerdict(ctx, refused)
}

// isOwned reports whether an apply was refused because of the owners of fields, and not of a precondition in the
// manifest.
func isOwned(err error) bool {
	details := status(err).Details
	return apierrors.IsConflict(err) && details != nil && slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeFieldManagerConflict
	})
}

func (t *trial) judgeConflict(ctx context.Context) {
	t.outcome = "Conflict"
	if !t.check(conflict, t.planIs(ssaplan.ActionConflict), "planned %v %v, in reality %v", t.plan, t.planErr, t.applyErr) {
		return
	}
	conflicts := fieldowner.ConflictsOfApply(t.applyErr, liveObject(t.before), t.wire.Object)
	t.check(conflict, slices.Equal(lines(t.plan.Conflicts), lines(conflicts)) && len(conflicts) == countCauses(t.applyErr),
		"planned %v, in reality %v", t.plan.Conflicts, t.applyErr)
	t.judgeForced(ctx)
}

// judgeForced compares the values that the plan of a conflict shows with those that force would bring.
func (t *trial) judgeForced(ctx context.Context) {
	if t.step.clears() {
		return // no dry run clears fields and applies
	}
	step := t.step
	step.Force = true
	forced, err := t.object.apply(ctx, t.wire, step, metav1.DryRunAll)
	if err != nil {
		return
	}
	if replicas := (place{"spec", "replicas"}); step.Of == "scale" {
		if _, exists := lookup(forced.Object, replicas); !exists {
			put(forced.Object, replicas, int64(0)) // which a Scale leaves out
		}
	}
	real := projection.Project(forced.Object, t.plan.After.Fields).Replace(emptyIn(t.plan.After), t.emptyInManifest)
	differences := projection.Diff(t.plan.After, real)
	t.check(conflict, len(differences) == 0, "values shown and forced: %v", differences)
	for _, c := range t.plan.Changes {
		wrong := wrongValues(c, t.before, forced)
		t.check(conflict, wrong == "", "%s", wrong)
	}
}

// judgeVerdict finds out whether replacing would have helped after all.
func (t *trial) judgeVerdict(ctx context.Context, refused *immutability.RefusedError) error {
	verdict := refused.Verdict
	t.outcome = "refused " + string(verdict.Refusal)
	if verdict.Uncertain != "" {
		t.outcome += ", uncertain"
	}
	if t.before == nil || t.step.Of != "" {
		return nil
	}
	if strings.Contains(verdict.Uncertain, "denied request") {
		return nil // a policy denies the write that would show the fields
	}
	if strings.Contains(verdict.Uncertain, "INTERNAL_ERROR") {
		return nil // the server's handler crashes on it; see docs/limits.md
	}
	if slices.Contains([]string{"ResourceQuota", "Service"}, t.before.GetKind()) && strings.Contains(verdict.Uncertain, "refused too, but for other reasons") {
		return nil // of scopes and families of addresses, an apply and an update are refused differently, and neither for what is fixed
	}
	if verdict.Uncertain != "" && lacksValue(t.applyErr) {
		return nil // replacing isn't the only way: what is given up or others keep can be declared again
	}
	if verdict.Refusal == immutability.RefusalMergeLeftover {
		return t.judgeRemedy(ctx, refused)
	}
	createErr, err := t.recreate(ctx)
	if err != nil {
		return err
	}
	// Of these replacing may work, and yet it isn't the way.
	mayWork := []immutability.Refusal{immutability.RefusalDirectional, immutability.RefusalAdmissionDenied, immutability.RefusalMetadataPrecondition}
	isOfAnotherVersion := t.created != nil && t.created.GetResourceVersion() != ""
	isUntried := (isOfAnotherVersion || len(t.giveUp)+len(t.except.Ignore) > 0) &&
		strings.Contains(refused.Error(), "the whole manifest isn't refused for that")
	isKnown := createErr != nil || isUntried || slices.Contains(mayWork, verdict.Refusal)
	t.check(replace, isKnown, "replacing works, which the plan doesn't say: %v", refused)
	return nil
}

// judgeRemedy does what is said to work in place of an apply that leaves something behind.
func (t *trial) judgeRemedy(ctx context.Context, refused *immutability.RefusedError) error {
	m := cmp.Or(t.created, t.wire).DeepCopy() // the whole manifest
	m.SetResourceVersion(t.before.GetResourceVersion())
	resource, err := t.object.resource(m.GroupVersionKind())
	if err != nil {
		return err
	}
	switch remedy := refused.Verdict.Remedy; {
	case strings.HasPrefix(remedy, "adopt the fields of "):
		request := t.request()
		for _, name := range quoted.FindAllString(remedy, -1) {
			request.Adopt = append(slices.Clip(request.Adopt), strings.Trim(name, `"`))
		}
		err = t.applyRemedied(ctx, request)
	case strings.HasPrefix(remedy, "clear "):
		request := t.request()
		for _, p := range refused.Verdict.Leftovers {
			request.Clear = append(slices.Clip(request.Clear), projection.PatternOf(p))
		}
		t.meet(adviceShape)
		err = t.applyRemedied(ctx, request)
	case strings.Contains(remedy, "PUT"):
		_, err = resource.Update(ctx, m, metav1.UpdateOptions{FieldManager: t.step.By})
	default:
		if remedy == answer.MergeRemedy { // of what is applied, with nothing in the place of the field
			m = t.wire.DeepCopy()
			for _, f := range refused.Verdict.Fields {
				if len(f.Path) == 0 {
					continue // the object as a whole, of which some rules weren't checked
				}
				at := projection.NewObject(m.Object, projection.FieldSet{})
				t.check(replace, at.Set(f.Path, nil) == nil, "%s isn't where something can be removed", f)
			}
		}
		for _, p := range refused.Verdict.Leftovers { // the list of the manifest replaces leftovers in a list
			if !slices.ContainsFunc(p, func(e projection.Element) bool { return e.Kind() != projection.FieldKind }) {
				at := projection.NewObject(m.Object, projection.FieldSet{})
				t.check(replace, at.Set(p, nil) == nil, "%s isn't where something can be removed", p)
			}
		}
		body, _ := m.MarshalJSON()
		_, err = resource.Patch(ctx, m.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: t.step.By})
	}
	t.check(replace, err == nil, "the remedy doesn't work: %v; the server: %v", refused, err)
	return nil
}

// quoted finds the managers that a remedy names.
var quoted = regexp.MustCompile(`"[^"]+"`)

// applyRemedied plans the trial as its refusal advises, and carries that out. If admission changes something as soon as
// fields change owners, the apply says so and stops, and what it then has reviewed is carried out.
func (t *trial) applyRemedied(ctx context.Context, request ssaplan.Request) error {
	t.over = true // nothing of it is remembered
	planner := t.planners().tested
	plan, err := planner.Plan(ctx, request)
	if err != nil {
		return err
	}
	after, err := planner.Apply(ctx, plan)
	var changed *ssaplan.ChangedError
	if isChanged := errors.As(err, &changed); isChanged && t.isHooked() {
		plan = changed.Plan
		after, err = planner.Apply(ctx, plan)
	} else if isChanged {
		err = fmt.Errorf("%w: %v", err, toldOtherwise(plan, changed.Plan))
	}
	if err != nil {
		return err
	}
	lines := differences(withoutBookkeeping(t.withPicked(plan, after).Object), withoutBookkeeping(after.Object), nil)
	t.check(replace, len(lines) == 0, "with the remedy, foretold and real: %v", lines)
	return nil
}

// recreate deletes the object and creates it from the manifest. createErr is the server's answer to that.
func (t *trial) recreate(ctx context.Context) (createErr, err error) {
	t.object.memory = map[string]*memory{}
	if err := t.object.remove(ctx); err != nil {
		return nil, err
	}
	_, createErr = t.object.apply(ctx, cmp.Or(t.created, t.wire), t.step)
	return createErr, nil
}

func liveObject(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	return obj.Object
}

func status(err error) metav1.Status {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return api.Status()
	}
	return metav1.Status{}
}

// lacksValue reports whether an apply was refused since the object would lack something.
func lacksValue(err error) bool {
	details := status(err).Details
	return details != nil && slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeFieldValueRequired })
}

func countCauses(err error) int {
	details := status(err).Details
	if details == nil {
		return 0
	}
	distinct := map[metav1.StatusCause]bool{}
	for _, c := range details.Causes {
		distinct[c] = true
	}
	return len(distinct)
}

func reason(err error) string {
	s := status(err)
	return fmt.Sprintf("%d %s", s.Code, s.Reason)
}

// isSameRefusal reports whether the planned refusal is the real one. Where the words of the server are redacted, it has
// no field that the object lacks, such as a required one.
func isSameRefusal(planned, applied error) bool {
	if !strings.Contains(planned.Error(), "message is redacted") {
		return causesOf(planned) == causesOf(applied)
	}
	var told, real []metav1.StatusCause
	if details := status(planned).Details; details != nil {
		told = details.Causes
	}
	if details := status(applied).Details; details != nil {
		real = details.Causes
	}
	return reason(planned) == reason(applied) && (len(told) == 0) == (len(real) == 0) && !slices.ContainsFunc(told, func(c metav1.StatusCause) bool {
		return !slices.ContainsFunc(real, func(real metav1.StatusCause) bool {
			return c.Type == real.Type && (c.Field == "" || c.Field == real.Field)
		})
	})
}

// causesOf is what an answer says in its structured part, each cause once: a server repeats one for each owner that
// lacks a field.
func causesOf(err error) string {
	out := []string{}
	if details := status(err).Details; details != nil {
		distinct := map[metav1.StatusCause]bool{}
		for _, c := range details.Causes {
			if !distinct[c] {
				out = append(out, string(c.Type)+" "+c.Field)
			}
			distinct[c] = true
		}
	}
	slices.Sort(out)
	return reason(err) + " " + strings.Join(out, ", ")
}
