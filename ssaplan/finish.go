package ssaplan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// finish sets the parts that every plan has: the object, the warnings, the number of requests, and the data for
// carrying out the plan.
func (t trial) finish(ctx context.Context, plan *Plan) (*Plan, error) {
	sensitive := t.sensitive()
	if plan.Action == ActionDeferred && t.manifest != nil && plan.After.Fields.Empty() {
		after, err := explain.Declared(t.manifest.Object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.id, err)
		}
		plan.After = after.WithSensitive(sensitive)
	}
	lost, requests := t.lostVersions(ctx, plan)
	plan.Warnings = append(plan.Warnings, lost...)
	t.remember(plan)
	plan.Object, plan.Subresource, plan.Adjustments = t.id, t.request.Subresource, t.adjustments()
	if plan.Warnings = append(plan.Warnings, t.outgoing.Warnings...); plan.Ignored == nil {
		plan.Ignored = explain.RedactIgnored(t.outgoing.Fields, sensitive)
	}
	if plan.Requests += requests; t.target != nil {
		plan.Requests += t.target.Requests()
		plan.Warnings = append(plan.Warnings, t.target.Warnings...)
	}
	if said := t.warnings.All(); len(said) > 0 {
		plan.Warnings = append(plan.Warnings, t.redactor().Warnings(said)...)
	}
	plan.Warnings = append(plan.Warnings, explain.AdjustmentWarnings(plan.Adjustments)...)
	plan.Warnings = append(plan.Warnings, t.warnRedacted()...)
	if t.then != nil {
		t.then.Warnings = plan.Warnings
		plan.Warnings = slices.Concat(plan.Warnings, t.handover.Warnings())
	}
	plan.basis = &basis{
		request: t.request, manifest: t.manifest, patch: t.patch, live: t.live, result: t.answer, handover: t.handover,
		then: t.then, madeVersion: &atomic.Pointer[string]{}, sensitive: sensitive,
	}
	return plan, nil
}

// warnRedacted returns warnings about values that are redacted because the secret fields of a kind aren't known.
func (g *goal) warnRedacted() (warnings []foreign.Text) {
	manifest := g.request.Manifest
	if manifest == nil {
		return nil
	}
	option := cmp.Or(g.options.ShowValuesOption, "ShowValuesOf")
	if kind := manifest.GroupVersionKind(); g.passwords.MarksUnknown(kind) {
		warnings = append(warnings,
			foreign.Textf("no value is shown: it isn't known which fields of a %s are secret; %s %s shows them",
				kind.Kind, option, kind.GroupKind()))
	}
	for _, kind := range secrecy.Carried(manifest.Object) {
		if g.passwords.MarksUnknown(kind) {
			warnings = append(warnings, foreign.Textf(
				"no value of the %s inside of the object is shown: it isn't known which of its fields are secret; %s "+
					"%s shows them",
				kind.Kind, option, kind.GroupKind()))
		}
	}
	return warnings
}
