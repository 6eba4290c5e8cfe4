package ssaplan

import (
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// normalize leaves unknown and ignored fields out of the manifest, and brings the rest into the form that a server tracks
// faithfully. They are left out before that and after it, so that patterns may name the fields of either form.
func (plan *Plan) normalize() (map[string]any, error) {
	content := plan.request.Manifest.Object
	if fastjson.IsTooDeep(content) {
		return nil, fastjson.ErrTooDeep
	}
	content, unknown := plan.leaveOut(content)
	content, plan.Adjustments = projection.Normalize(content)
	content, more := plan.leaveOut(content)
	unknown = append(unknown, more...)
	for _, path := range append(unknown, unnamed(plan.request.Unknown, unknown)...) {
		plan.Unknown = append(plan.Unknown, tracked(content, path))
	}
	return content, nil
}

// leaveOut returns the content without ignored and unknown fields, and which the unknown ones are.
func (plan *Plan) leaveOut(content map[string]any) (rest map[string]any, unknown []projection.Path) {
	if len(plan.request.Unknown) > 0 {
		content, unknown = plan.request.Unknown.Remove(content)
	}
	if len(plan.request.Ignore) > 0 {
		content, _ = plan.request.Ignore.Remove(content)
	}
	return content, unknown
}

// tracked returns the path as the server has it: what a Secret has in stringData is in its data.
func tracked(content map[string]any, p projection.Path) projection.Path {
	if p[0] == projection.Field("stringData") && content["apiVersion"] == "v1" && content["kind"] == "Secret" {
		return append(projection.Path{projection.Field("data")}, p[1:]...)
	}
	return p
}

// unnamed returns the patterns that name one field each, which isn't among the removed ones: a host that doesn't know a
// value may leave the field out by itself.
func unnamed(patterns projection.Patterns, removed []projection.Path) []projection.Path {
	var out []projection.Path
	for _, pattern := range patterns {
		path, err := projection.ParsePath(pattern.String())
		if err == nil && !slices.ContainsFunc(removed, pattern.Match) {
			out = append(out, path)
		}
	}
	return out
}

// leaveOutUnknown takes from the plan what only seems to change because the unknown values were not sent: those fields,
// and all side effects, which may come from their absence.
func (plan *Plan) leaveOutUnknown() {
	if len(plan.request.Unknown) == 0 {
		return
	}
	for i, path := range plan.Unknown {
		plan.Unknown[i] = named(plan.request.Manifest.Object, path, plan.After.Fields)
	}
	plan.Changes = slices.DeleteFunc(plan.Changes, func(c Change) bool {
		return c.Cause == CauseSideEffect || plan.isUnknown(c.Path)
	})
	plan.Ownership = slices.DeleteFunc(plan.Ownership, func(c fieldowner.Transfer) bool { return plan.isUnknown(c.Path) })
	plan.Dropped = slices.DeleteFunc(plan.Dropped, func(d fieldowner.DroppedField) bool { return plan.isUnknown(d.Path) })
	switch {
	case plan.Action == ActionCreate:
	case len(plan.Changes)+len(plan.Ownership) == 0:
		plan.deferTo(DeferralUnknownValues, "nothing changes but what isn't known yet: "+pathList(plan.Unknown))
	default:
		plan.Reason = reason(plan.Changes)
	}
}

// isUnknown reports whether what is at p can't be told without the unknown values: it is one of them, or a value with one
// in it that is compared as a whole.
func (plan *Plan) isUnknown(p projection.Path) bool {
	if plan.request.Unknown.Match(p) {
		return true
	}
	return slices.ContainsFunc(plan.Unknown, func(unknown projection.Path) bool {
		return p.HasPrefix(unknown) || unknown.HasPrefix(p) && !isItem(p)
	})
}

// named returns the path p of the manifest with the keys by which fields has the items of lists, in place of positions.
func named(manifest map[string]any, p projection.Path, fields projection.FieldSet) projection.Path {
	var out projection.Path
	var at any = manifest
	for _, e := range p {
		var next any
		switch v := at.(type) {
		case map[string]any:
			next = v[e.Name()]
		case []any:
			if i := position(v, e); i >= 0 {
				next = v[i]
				e = itemName(e, next, out, fields)
			}
		}
		out, at = append(out, e), next
	}
	return out
}

// position returns where in the list the item stands that e is about, -1 if it isn't there.
func position(list []any, e projection.Element) int {
	if e.Kind() == projection.IndexKind && e.Index() < len(list) {
		return e.Index()
	}
	return slices.IndexFunc(list, func(item any) bool { return isCalled(item, e) })
}

// itemName returns how fields calls the item of the list at p, and e if it doesn't tell.
func itemName(e projection.Element, item any, p projection.Path, fields projection.FieldSet) projection.Element {
	for path := range fields.Under(p).All() {
		if len(path) > len(p) && isCalled(item, path[len(p)]) {
			return path[len(p)]
		}
	}
	return e
}

func isCalled(item any, e projection.Element) bool {
	switch e.Kind() {
	case projection.KeyKind:
		fields, _ := item.(map[string]any)
		for name, value := range e.KeyFields() {
			if own, exists := fields[name]; exists && !sameValue(own, value) || !exists && len(e.KeyFields()) == 1 {
				return false
			}
		}
		return fields != nil
	case projection.ValueKind:
		return sameValue(item, e.Value())
	}
	return false
}

func pathList(paths []projection.Path) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = path.String()
	}
	return strings.Join(texts, ", ")
}
