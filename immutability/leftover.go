package immutability

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
)

// leftovers returns the fields that live has and updated, the same object after an update with the whole manifest, has
// not: those which the apply would have left in place. List items are named by key, as live's record names them. Only
// fields near one of the causes are returned, if there are any; an update also drops what has nothing to do with the
// error.
func leftovers(live, updated *unstructured.Unstructured, causes []cause) []projection.Path {
	if live == nil || updated == nil {
		return nil
	}
	fields, err := projection.Outline(live.Object)
	if err != nil {
		return nil // the record can't be read
	}
	fields = withParents(fields)
	before, after := projection.Project(live.Object, fields), projection.Project(updated.Object, fields)
	var all, beside []projection.Path
	add := func(p projection.Path, isBeside func(pattern, cause string) bool) {
		all = append(all, p)
		if slices.ContainsFunc(causes, func(c cause) bool { return isBeside(patternOf(p), c.Pattern()) }) {
			beside = append(beside, p)
		}
	}
	for _, p := range after.Missing {
		add(p, isNear)
	}
	record := recordOf(live.Object)
	for _, d := range projection.Diff(before, after) {
		if isShortened(d) && !record.Covers(d.Path) { // an apply sends an atomic list as a whole
			add(d.Path, func(list, cause string) bool { return cause == list || strings.HasPrefix(cause, list+"[*]") })
		}
	}
	if len(beside) > 0 {
		all = beside
	}
	slices.SortFunc(all, projection.Path.Compare)
	return all
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

// patternOf returns p in the form of [answer.Cause.Pattern], with [*] for every list item and key of a map that is no
// identifier.
func patternOf(p projection.Path) string {
	pattern := ""
	for _, e := range p {
		pattern = patternBelow(pattern, e)
	}
	return pattern
}

func patternBelow(parent string, e projection.Element) string {
	switch {
	case e.Kind() != projection.FieldKind, strings.ContainsAny(e.Name(), ".[]/"):
		return parent + "[*]"
	case parent == "":
		return e.Name()
	}
	return parent + "." + e.Name()
}

func parent(pattern string) string {
	if head, found := strings.CutSuffix(pattern, "[*]"); found {
		return head
	}
	return pattern[:max(strings.LastIndexByte(pattern, '.'), 0)]
}

func remedyFor(leftovers []projection.Path) string {
	if len(leftovers) == 0 {
		return answer.LeftoverRemedy
	}
	return removeByPatch(leftovers) + ", or update the object with the whole manifest (PUT), which also drops what others have set"
}

func removeByPatch(leftovers []projection.Path) string {
	names := make([]string, len(leftovers))
	for i, p := range leftovers {
		names[i] = p.String()
	}
	return fmt.Sprintf("remove %s by a merge patch that makes the change as well (inside lists a strategic one)", strings.Join(names, " and "))
}
