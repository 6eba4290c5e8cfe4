package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// remarkUnmatched remarks what of sensitive_fields and adopt matches nothing, such as a misspelt name.
func (p *planning) remarkUnmatched(ctx context.Context, plan *ssaplan.Plan) {
	if fields := p.planned.unmatchedSensitive(ctx, plan); len(fields) > 0 {
		p.remark(plan.Object, "sensitive_fields that match nothing", fmt.Sprintf(
			"%s: neither the manifest nor the object has it, so no value is hidden by it", strings.Join(fields, ", ")))
	}
	if names, managers := p.unmatchedAdopt(ctx, plan); len(names) > 0 {
		p.remark(plan.Object, "adopt names that match nothing",
			fmt.Sprintf("%s: no field manager of the object; those are %s",
				strings.Join(names, ", "), strings.Join(managers, ", ")))
	}
}

// remarkIgnored remarks which edits of an update aren't sent, since the fields are left to others.
func (p *planning) remarkIgnored(ctx context.Context, plan *ssaplan.Plan) {
	if p.prior == nil || plan.Action != ssaplan.ActionUpdate {
		return
	}
	before, now, _, err := p.planned.withPrior(ctx, *p.prior)
	if err != nil {
		return
	}
	left := explain.IgnoredPaths(slices.DeleteFunc(slices.Clone(plan.Ignored), func(f explain.IgnoredField) bool {
		return f.Handling == explain.HandlingSent
	}))
	var lines []string
	for _, d := range projection.Diff(projection.Project(before, left), projection.Project(now, left)) {
		lines = append(lines, d.Path.String()+": is in ignore_fields, so that its new value isn't sent")
	}
	if len(lines) > 0 {
		p.remark(plan.Object, "edits of ignored fields", lines...)
	}
}

// unmatchedSensitive returns the patterns of sensitive_fields that match neither the manifest nor the live object.
// Values that aren't known yet may have any fields.
func (o object) unmatchedSensitive(ctx context.Context, plan *ssaplan.Plan) (unmatched []string) {
	m, err := o.manifest()
	hidden, patternErr := patterns(ctx, sensitiveFieldsPath, o.Sensitive)
	if err != nil || patternErr != nil || len(o.unknown) > 0 {
		return nil
	}
	objects := []map[string]any{m.Object.Object}
	if live := plan.Live(); live != nil {
		objects = append(objects, live.Object)
	}
	for _, pattern := range hidden {
		matches := func(obj map[string]any) bool {
			_, found := projection.Patterns{pattern}.Remove(obj)
			return len(found) > 0
		}
		if !slices.ContainsFunc(objects, matches) {
			unmatched = append(unmatched, pattern.String())
		}
	}
	return unmatched
}

// unmatchedAdopt returns the names in adopt that no field manager of the live object has, and the names of its
// managers. Once the state has the names, their fields were taken over, so that they match nothing by right.
func (p *planning) unmatchedAdopt(ctx context.Context, plan *ssaplan.Plan) (unmatched, managers []string) {
	live := plan.Live()
	if live == nil || p.prior != nil && p.prior.Adopt.Equal(p.planned.Adopt) {
		return nil, nil
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, nil
	}
	for _, entry := range owners.Entries() {
		if name := fmt.Sprintf("%q", entry.Manager); !slices.Contains(managers, name) {
			managers = append(managers, name)
		}
	}
	slices.Sort(managers)
	for _, element := range p.planned.Adopt.Elements() {
		name, _ := element.(types.String)
		if quoted := fmt.Sprintf("%q", foreign.Text(name.ValueString())); name.ValueString() != auto &&
			!slices.Contains(managers, quoted) {
			unmatched = append(unmatched, quoted)
		}
	}
	return unmatched, managers
}
