package immutability

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// nameLeftovers finds the fields of the live object that are in the way of the apply. updated is the object after an
// update that works. The candidates are the fields that it lacks, or has with another value. Those near the causes are
// tried first. If every text is known, and the update drops the only field near the causes, nothing is tried. A field
// that no trial proves to be in the way isn't named, since removing it may not help.
func (d *dryRuns) nameLeftovers(ctx context.Context, v Verdict, updated *unstructured.Unstructured) Verdict {
	beside, others := leftovers(d.manifest, d.live, updated, v.causes)
	t := trials{dryRuns: d, updated: updated, causes: v}
	if v.allKnown() && len(beside) == 1 && t.drops(beside[0]) {
		v.Leftovers = beside
		return v
	}
	for _, candidates := range [][]projection.Path{beside, others} {
		if culprits := t.inTheWay(ctx, candidates); len(culprits) > 0 {
			v.Leftovers = t.refined(ctx, culprits)
			break
		}
		if len(candidates) > 1 && t.refuses(ctx, candidates...) {
			v.Leftovers = candidates
			break
		}
	}
	v.Evidence.Requests += t.sent
	return v
}

// trials are dry runs of an update that works, each with fields more of those that it lacks or changes.
type trials struct {
	*dryRuns
	updated *unstructured.Unstructured
	causes  Verdict // of the apply
	sent    int
}

const maxTrials = 16

// drops reports whether the update lacks a field of the live object, or a part of its list.
func (t *trials) drops(field projection.Path) bool {
	record := recordOf(t.live.Object)
	before, _ := projection.NewObject(t.live.Object, record).Get(field)
	after, exists := projection.NewObject(t.updated.Object, record).Get(field)
	return !exists || hasLess(before, after)
}

// inTheWay returns those of the fields with which the update is refused. What can't be tried is not among them.
func (t *trials) inTheWay(ctx context.Context, fields []projection.Path) []projection.Path {
	var refused []projection.Path
	for _, field := range fields {
		if t.refuses(ctx, field) {
			refused = append(refused, field)
		}
	}
	return refused
}

// refuses reports whether the update is refused like the apply if fields are as the live object has them.
func (t *trials) refuses(ctx context.Context, fields ...projection.Path) bool {
	record := recordOf(t.live.Object).Union(projection.NewFieldSet(fields...))
	live, body := projection.NewObject(t.live.Object, record), updateBody(t.updated, t.live)
	object := projection.NewObject(body.Object, record)
	for _, field := range fields {
		if value, exists := live.Get(field); !exists || object.Set(field, value) != nil {
			return false
		}
	}
	if t.sent >= maxTrials {
		return false
	}
	t.sent++
	answer, _ := t.update(ctx, body)
	return answer.Outcome == OutcomeInvalid && t.causes.sharesCause(answer.invalid)
}

// refined returns, in the place of a map of which only some fields are in the way, these.
func (t *trials) refined(ctx context.Context, fields []projection.Path) []projection.Path {
	var refined []projection.Path
	for _, field := range fields {
		inside := t.inside(field)
		culprits := t.inTheWay(ctx, inside)
		if len(culprits) == 0 || len(culprits) == len(inside) {
			culprits = []projection.Path{field}
		}
		refined = append(refined, culprits...)
	}
	return refined
}

// inside returns the fields of a map that isn't an item of a list, nil if it has fewer than two.
func (t *trials) inside(field projection.Path) []projection.Path {
	value, _ := projection.Get(t.live.Object, field)
	m, _ := value.(map[string]any)
	if len(m) < 2 || field[len(field)-1].Kind() != projection.FieldKind {
		return nil
	}
	var inside []projection.Path
	for name := range m {
		inside = append(inside, field.Child(projection.Field(name)))
	}
	slices.SortFunc(inside, projection.Path.Compare)
	return inside
}

// leftovers returns the fields that live has and updated, the same object after an update, has not, or has with another
// value, which the manifest doesn't declare: those which the apply would have left in place. List items are named by
// key, as live's record names them. Those near one of the causes are beside; the others may have nothing to do with the
// error. The first of them are what a cause lies in, or an item like that.
func leftovers(manifest, live, updated *unstructured.Unstructured, causes []cause) (beside, others []projection.Path) {
	if live == nil || updated == nil {
		return nil, nil
	}
	fields, err := projection.Outline(live.Object)
	if err != nil {
		return nil, nil // the record can't be read
	}
	fields = withParents(fields)
	before, after := projection.Project(live.Object, fields), projection.Project(updated.Object, fields)
	add := func(p projection.Path, isBeside func(pattern, cause string) bool) {
		if slices.ContainsFunc(causes, func(c cause) bool { return isBeside(patternOf(p), c.Pattern()) }) {
			beside = append(beside, p)
		} else {
			others = append(others, p)
		}
	}
	for _, p := range after.Missing {
		add(p, isNear)
	}
	record := recordOf(live.Object)
	declared := projection.NewManifest(manifest.Object, record)
	for _, d := range projection.Diff(before, after) {
		_, isDeclared := declared.Get(d.Path)
		switch {
		case isShortened(d) && !record.Covers(d.Path): // an apply sends an atomic list as a whole
			add(d.Path, func(list, cause string) bool { return cause == list || strings.HasPrefix(cause, list+"[*]") })
		case d.Op == projection.OpChange && !isDeclared: // which the update made the default
			add(d.Path, isNear)
		}
	}
	slices.SortFunc(beside, projection.Path.Compare)
	slices.SortFunc(others, projection.Path.Compare)
	rank := func(p projection.Path) int {
		if slices.ContainsFunc(causes, func(c cause) bool { return strings.HasPrefix(c.Pattern(), patternOf(p)+".") }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(others, func(a, b projection.Path) int { return rank(a) - rank(b) })
	return beside, others
}

// withParents returns the fields with all that they are in, but for those of metadata, status and identity.
func withParents(fields projection.FieldSet) projection.FieldSet {
	var paths []projection.Path
	for p := range fields.All() {
		switch p[0].Name() {
		case "apiVersion", "kind", "metadata", "status":
			continue
		}
		for n := range p {
			paths = append(paths, p[:n+1])
		}
	}
	return projection.NewFieldSet(paths...)
}

// isShortened reports whether a list has less after than before.
func isShortened(d projection.Difference) bool {
	_, isList := d.Before.([]any)
	return isList && d.Op == projection.OpChange && hasLess(d.Before, d.After)
}

// hasLess reports whether after lacks something that before has, with list items compared by position.
func hasLess(before, after any) bool {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for name, v := range b {
			if other, exists := a[name]; !exists || hasLess(v, other) {
				return true
			}
		}
	case []any:
		a, _ := after.([]any)
		for i, v := range b {
			if i >= len(a) || hasLess(v, a[i]) {
				return true
			}
		}
	}
	return false
}

// isNear reports whether a field lies at the cause's, directly below it, or beside it.
func isNear(field, cause string) bool {
	return field == cause || parent(field) == cause || parent(field) == parent(cause)
}

// orPut is the remedy beside a patch.
const orPut = ", or update the object with the whole manifest (PUT), which also drops what others have set"

// removeByPatch returns the remedy of leftovers: a patch that removes them.
func removeByPatch(manifest *unstructured.Unstructured, leftovers []projection.Path) string {
	names := make([]string, len(leftovers))
	for i, path := range leftovers {
		names[i] = path.String()
	}
	lists := "inside lists a strategic one"
	if !kinds.IsBuiltin(manifest.Object) {
		lists = "which has each list as a whole"
	}
	return fmt.Sprintf("remove %s by a merge patch that makes the change as well (%s)", strings.Join(names, " and "),
		lists)
}
