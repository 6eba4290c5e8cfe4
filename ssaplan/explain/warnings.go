package explain

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// objectWarnings warns of a live object that isn't the remembered one, of one that is being deleted, and of a rival.
func objectWarnings(in Input, rival *Rival) []foreign.Text {
	if in.Live == nil {
		return nil
	}
	live, answer := unstructured.Unstructured{Object: in.Live}, unstructured.Unstructured{Object: in.Answer}
	var out []foreign.Text
	if uid := string(live.GetUID()); in.Prior != nil && in.Prior.UID != "" && in.Prior.UID != uid {
		out = append(out, foreign.Textf("%s: the object was re-created: its uid was %s and is %s", nameOf(in.Live),
			in.Prior.UID, uid))
	}
	if live.GetDeletionTimestamp() != nil {
		out = append(out, foreign.Textf("%s: is being deleted, and %s", nameOf(in.Live), fateOfDeleted(live, answer)))
	}
	if rival != nil {
		out = append(out, foreign.Textf("%s: %s", nameOf(in.Live), rival))
	}
	return out
}

// fateOfDeleted returns the effect of an apply to an object that is being deleted. A server removes the object with the
// last finalizer, also when an apply removes that finalizer. Source: ShouldDeleteDuringUpdate in
// k8s.io/apiserver/pkg/registry/generic/registry.
func fateOfDeleted(live, answer unstructured.Unstructured) string {
	grace := answer.GetDeletionGracePeriodSeconds()
	switch finalizers := answer.GetFinalizers(); {
	case len(finalizers) > 0:
		return "will be gone once its finalizers are removed: " + strings.Join(finalizers, ", ")
	case len(live.GetFinalizers()) > 0 && (grace == nil || *grace == 0):
		return "the apply removes the last finalizer, so the object will be deleted; plan again to create it"
	}
	return "the applied fields are deleted with it"
}

// unrecorded warns if the live object has no managedFields. The server then records its fields for another manager at
// the first apply. There is no warning if the manifest declares no fields, since none can be dropped later.
func (c *comparison) unrecorded() []foreign.Text {
	recorded := c.owners.Fields(fieldowner.By(fieldowner.BeforeFirstApply)).Leaves()
	if c.Live == nil || len(managedfields.Of(c.Live)) > 0 || recorded.Empty() || c.declared.Empty() {
		return nil
	}
	var stay foreign.Text
	if n := recorded.Without(c.declared.Leaves()).Len(); n > 0 {
		stay = foreign.Textf(". %d of them aren't in the manifest and stay", n)
	}
	return []foreign.Text{foreign.Textf(
		"%s: has no managedFields, so the server records its fields for %q at this apply%s. "+
			"Fields that are dropped from the manifest later stay, too, until %[2]q is adopted",
		nameOf(c.Live), fieldowner.BeforeFirstApply, stay)}
}

// ineffectiveWarnings returns a warning for each field.
func (in Input) ineffectiveWarnings(ineffective []projection.Ineffective) []foreign.Text {
	live := unstructured.Unstructured{Object: in.Live}
	atCreate := kinds.AtCreate(live.GetAPIVersion(), live.GetKind())
	var out []foreign.Text
	for _, i := range ineffective {
		switch {
		case i.Reason == projection.ReasonUntracked && i.Path.String() == atCreate:
			out = append(out, foreign.Textf(
				"%s: the server takes this only from the manifest of a new object: this one keeps what it has", i.Path))
		case i.Reason == projection.ReasonUnrecorded:
			out = append(out, foreign.Textf(
				"%s: the server stores this without recording an owner: later edits of it aren't compared", i.Path))
		case i.Reason == projection.ReasonOverridden:
			out = append(out, foreign.Textf("%s: the server stores another value%s", i.Path, in.stored(i.Path)))
		default:
			out = append(out, foreign.Textf("%s: the server doesn't keep what the manifest has here (%s)", i.Path,
				i.Reason))
		}
	}
	return out
}

// stored returns a phrase with the value that the answer has at p, without sensitive values; empty for maps, and for
// lists of maps or lists.
func (in Input) stored(p projection.Path) string {
	set := projection.NewFieldSet(p)
	answer := projection.Project(in.Answer, set).WithSensitive(in.Sensitive).Redacted()
	isScalar := func(v any) bool {
		_, isMap := v.(map[string]any)
		_, isList := v.([]any)
		return !isMap && !isList
	}
	v, _ := projection.NewObject(answer.Object, set).Get(p)
	items, isList := v.([]any)
	if v == nil || !isScalar(v) && !isList ||
		slices.ContainsFunc(items, func(item any) bool { return !isScalar(item) }) {
		return ""
	}
	text, _ := plainjson.Marshal(v)
	return ": " + string(text)
}

// nameOf names the object as people read it.
func nameOf(obj map[string]any) string {
	id, err := identity.Of(obj)
	if err != nil {
		return "the object"
	}
	return id.String()
}
