package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"znkr.io/diff"
	"znkr.io/diff/textdiff"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Unified returns the objects that change as a unified diff of YAML, as "kubectl diff" prints it for other programs to
// read. It has the declared fields and what else changes, below a line with the target; of what others have in an
// object, and nothing happens to, a plan doesn't know what is secret. What there is to say of a plan besides stands in
// front of its diff.
func (t Text) Unified(r Report) ([]byte, error) {
	var out strings.Builder
	for _, plan := range inOrder(r.Plans) {
		if plan.Action == ssaplan.ActionNoOp {
			continue
		}
		text, err := unified(plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plan.Object, err)
		}
		out.WriteString(text)
	}
	for _, removal := range r.Removals {
		if r.Pruned && removal.Kept == "" {
			fmt.Fprintf(&out, "diff -u -N LIVE/%[1]s MERGED/%[1]s\nOnly in LIVE: %[1]s, which is deleted\n",
				fileOf(removal.Object))
		}
	}
	if out.Len() == 0 || r.Target == (Destination{}) {
		return []byte(out.String()), nil
	}
	return []byte("# " + r.Target.heading() + "\n" + out.String()), nil
}

func unified(plan *ssaplan.Plan) (string, error) {
	before, after, err := bothSides(plan)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	file := fileOf(plan.Object)
	fmt.Fprintf(&text, "diff -u -N LIVE/%[1]s MERGED/%[1]s\n", file)
	fmt.Fprintf(&text, "# %s: %s\n", plan.Action, foreign.Visible(plan.Reason))
	if lines := textdiff.Unified(before, after, diff.Context(3), diff.Minimal()); lines != "" {
		fmt.Fprintf(&text, "--- LIVE/%[1]s\n+++ MERGED/%[1]s\n%[2]s", file, lines)
	}
	return text.String(), nil
}

// fileOf names an object as kubectl diff names its files.
func fileOf(id identity.Identity) string {
	group, version, found := strings.Cut(id.APIVersion, "/")
	if !found {
		group, version = "", group
	}
	parts := []string{version, id.Kind, id.Namespace, id.Name}
	if group != "" {
		parts = append([]string{group}, parts...)
	}
	return strings.ReplaceAll(foreign.Visible(strings.Join(parts, ".")), "/", "_")
}

// bothSides returns what a plan shows of the object as it is and as it is going to be, as YAML; nothing of one that
// isn't there.
func bothSides(plan *ssaplan.Plan) (before, after string, err error) {
	old := plan.Object
	if r := plan.Replacement; r != nil && r.Old != (identity.Identity{}) {
		old = r.Old
	}
	if plan.Action != ssaplan.ActionCreate && plan.Deferral != ssaplan.DeferralTypeNotServed &&
		plan.Deferral != ssaplan.DeferralNamespaceNotFound {
		before, err = shownSide(old, plan.Before, plan.Changes,
			func(c explain.Change) (any, bool) { value, _ := c.Redacted(); return value, c.Op != projection.OpAdd })
	}
	if err == nil {
		after, err = shownSide(plan.Object, plan.After, plan.Changes, func(c explain.Change) (any, bool) {
			_, value := c.Redacted()
			return value, c.Op != projection.OpRemove
		})
	}
	return before, after, err
}

// shownSide returns an object as YAML: the fields of the projection, and those of the changes.
func shownSide(id identity.Identity, fields projection.Projection, changes []explain.Change,
	value func(explain.Change) (any, bool)) (string, error) {
	content := map[string]any{}
	if shown := fields.Redacted().Object; shown != nil {
		content = runtime.DeepCopyJSON(shown)
	}
	object := projection.NewObject(content, fields.Fields)
	var unplaced []string // of lists that are taken as a whole here, and in the projection not
	outermostFirst := slices.SortedStableFunc(slices.Values(changes),
		func(a, b explain.Change) int { return a.Path.Compare(b.Path) })
	for _, c := range outermostFirst {
		v, there := value(c)
		if !there || c.Assigned {
			continue
		}
		if err := object.Set(c.Path, v); err != nil {
			text, _ := json.Marshal(v) // of values that came out of JSON
			unplaced = append(unplaced, foreign.Visible(fmt.Sprintf("# %s: %s", c.Path, text)))
		}
	}
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	if metadata["name"] = id.Name; id.Namespace != "" {
		metadata["namespace"] = id.Namespace
	}
	content["apiVersion"], content["kind"], content["metadata"] = id.APIVersion, id.Kind, metadata
	text, err := YAML(content)
	for _, line := range unplaced {
		text = append(text, line+"\n"...)
	}
	return string(text), err
}
