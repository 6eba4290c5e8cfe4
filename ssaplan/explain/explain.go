package explain

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Input is the input of [Apply], [Known] and [Replace]. It isn't modified.
type Input struct {
	// Manifest is the manifest that was sent; see [Prepare]. Required.
	Manifest map[string]any
	// Live is the object that the apply was for, with its managedFields; nil if it doesn't exist.
	Live map[string]any
	// Was is the live object before a handover of fields for this apply. It shows whether there was an apply that isn't
	// in Prior; see [Rival]. Default: Live.
	Was map[string]any
	// Answer is the object in the server's answer to the apply, or to its dry run. Required.
	Answer map[string]any
	// Manager is the field manager that applies. Required.
	Manager string
	// Subresource is the subresource that is applied: "status", "scale" and the like, and "" for the object itself.
	Subresource string
	// Sensitive are more fields whose values must not be shown, in addition to those that are sensitive in every object
	// of the kind. Optional.
	Sensitive projection.Patterns
	// Prior is the stored state of the last apply. With it, edits are distinguished from drift with certainty.
	// Optional.
	Prior *State
	// Unknown are the fields whose values aren't known yet, as [Prepare] returns them. They were left out of the
	// manifest, or sent with the live values ([Unknown.Hold]). The explanation leaves out these fields, and changes
	// that come only from their absence. If one of them wasn't sent, it leaves out all side effects. Optional.
	Unknown Unknown
	// Ignored are the ignored fields, as [Prepared.For] returns them. Optional.
	Ignored []IgnoredField
	// Tools are recognised in addition to [fieldowner.Tools]. Optional.
	Tools []fieldowner.Tool
	// Records is a cache of decoded managedFields of Live and Answer. Optional.
	Records fieldowner.Records

	clear *State // Prior with the items of hidden lists as the objects have them; set by begin
}

// applier returns who applies.
func (in Input) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: in.Manager, Subresource: in.Subresource}
}

// rival returns an apply of the same manager that isn't in Prior; nil if there is none.
func (in Input) rival() *Rival {
	live := in.Live
	if in.Was != nil {
		live = in.Was
	}
	if in.Prior == nil || in.Prior.applier() != in.applier() {
		return nil
	}
	return rivalOf(live, in.Prior, in.Records, in.Sensitive)
}

// Explanation is everything that the server's answer shows about an apply. Formatting any part of it shows no sensitive
// value.
type Explanation struct {
	// NoOp reports whether the server would write nothing: the answer is equal to the live object, including
	// resourceVersion and managedFields. There is no other reason for a no-op.
	NoOp bool
	// Before and After are the declared fields of the live object, and of the object as the server would make it. A map
	// that is declared as empty is empty in them, even if others or the server fill it.
	Before, After projection.Projection
	// Baseline is what a caller compares After with: the values that Prior observed last, or Before if Prior is stale
	// or nil. With a Prior, sensitive values are digests; see [State.Digested]. For a no-op it equals After. It lacks
	// the Assigned fields and the Dropped fields whose values stay. The maps and list items around such a field stay,
	// too. Baseline also lacks those of them that aren't declared themselves: in a comparison with After they would
	// look removed.
	Baseline projection.Projection
	// Changes are the values that change, the declared ones first.
	Changes []Change
	// Ownership lists the fields whose owners change, with or without a change of the value.
	Ownership []fieldowner.Transfer
	// Dropped are the fields that the manager declared before, by managedFields or by Prior, and that the manifest no
	// longer declares. Each is deleted, reset by the server, kept without an owner, or retained by other owners; see
	// [fieldowner.Fate].
	Dropped []fieldowner.DroppedField
	// Assigned are the declared fields that the manifest leaves empty for the server to pick a value: a cluster IP, a
	// node port. The value isn't known before the apply, so Before and After lack them.
	Assigned []projection.Path
	// Generated are the fields of a new object that the manifest lacks and for which the server generates a value: uid,
	// time of creation, cluster IPs, node ports, generated labels and names. The values in the dry run differ from
	// those in the apply.
	Generated []projection.Path
	// Ineffective are the fields of the manifest that have no effect, because the server doesn't keep them.
	Ineffective []projection.Ineffective
	// Unknown are the fields whose values aren't known yet, with the list keys of After.
	Unknown []projection.Path
	// Ignored are the ignored fields, and whether they are sent. Before, After and Baseline lack them. Other parts of
	// the explanation have them only if they are sent, if the server changes their values, or if the applier stops
	// owning them.
	Ignored []IgnoredField
	// Writers are other tools that wrote to the live object, with the fields of theirs that stay behind.
	Writers []fieldowner.Writer
	// Rival is an apply of the same manager that isn't in Prior; nil if there is none.
	Rival *Rival
	// Warnings are for people: about an object that was re-created or is being deleted, a rival, and fields without
	// effect.
	Warnings []foreign.Text

	left       projection.FieldSet // the ignored fields, by names that may be sensitive
	sameOwners bool                // of the same fields, in an update
	omitted    []projection.Path   // fields that are empty in the manifest and that the server leaves out; set with sameOwners
	nulls      []projection.Path   // those that are null and that the server stores as an empty text or zero
}

// Retained returns the dropped fields that stay because others own them.
func (e *Explanation) Retained() (paths []projection.Path) {
	for _, d := range e.Dropped {
		if d.Fate == fieldowner.FateRetained {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// LeftFields returns the ignored fields for [State.Without]. Unlike Ignored, it isn't redacted: list keys may be
// sensitive values.
func (e *Explanation) LeftFields() projection.FieldSet {
	if e.left.Empty() {
		return IgnoredPaths(e.Ignored)
	}
	return e.left
}

// Apply explains an apply from the server's answer to it, or to its dry run. Live and Answer must have the same
// resourceVersion, as they do if nothing was written between the read and the dry run. The only errors are those of
// managedFields that can't be read.
func Apply(in Input) (*Explanation, error) {
	c, e, err := begin(in)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Live == nil:
		err = c.create(e)
	case Equal(in.Live, in.Answer):
		e.NoOp, e.Before = true, e.After
	default:
		err = c.update(e)
	}
	if err != nil {
		return nil, err
	}
	in.Prior = in.Prior.Hiding(in.Sensitive)
	e.Writers, e.Rival = in.writers(c.owners, in.Answer, c.left), in.rival()
	e.Warnings = append(objectWarnings(in, e.Rival), c.unrecorded()...)
	stay := c.shownDropped(append(c.leftBehind(), c.inGranularLists()...))
	for _, d := range stay {
		isCovered := func(item fieldowner.DroppedField) bool {
			isAbove := len(item.Path) < len(d.Path) && d.Path.HasPrefix(item.Path)
			return item.Fate == d.Fate && isItem(item.Path) && isAbove
		}
		if e.Dropped = append(e.Dropped, d); !slices.ContainsFunc(stay, isCovered) {
			e.Warnings = append(e.Warnings, foreign.Textf("%s, though the manifest doesn't have it any more", d))
		}
	}
	slices.SortFunc(e.Dropped, func(a, b fieldowner.DroppedField) int { return a.Path.Compare(b.Path) })
	c.finish(e)
	return e, nil
}

// begin returns a comparison, and what is known without the live object.
func begin(in Input) (*comparison, *Explanation, error) {
	owners, err := in.Records.Read(in.Answer)
	if err != nil {
		return nil, nil, fmt.Errorf("dry run: %w", err)
	}
	recorded := owners
	owners = recorded.Renamed(recorded.Fields(in.applier().Is), in.Live, in.Answer)
	in.Sensitive = in.Sensitive.OfEveryItem()
	in.Prior = in.Prior.Hiding(in.Sensitive)
	clear := in.Prior.revealed(in.Live, in.Was, in.Answer)
	in.clear = clear.reshaped(owners, in.Answer, true)
	if in.clear != clear { // the shape is that of today
		in.Prior = in.Prior.reshaped(owners, in.Answer, true)
	}
	c := &comparison{
		Input: in, owners: owners, isRenamed: !owners.Equal(recorded),
		declaration: owners.Declared(in.Manifest, in.Answer, in.applier()),
	}
	c.asShown = shownDeclaration(c.declaration, in.Sensitive)
	if len(in.Ignored) > 0 {
		in.Ignored = namedAs(in.Ignored, in.Manifest, owners.Fields(nil))
		c.left = left(in.Ignored)
	}
	c.declared = c.declaration.Fields.Without(c.left)
	c.declaration.Fields = in.Unknown.without(c.declared)
	return c, &Explanation{
		Ignored: in.Ignored, left: IgnoredPaths(in.Ignored),
		After:    c.declaration.Project(in.Answer).Hiding(in.Sensitive),
		Assigned: c.declaration.Assigned, Ineffective: c.declaration.Ineffective,
	}, nil
}

// finish adds what follows from all else.
func (c *comparison) finish(e *Explanation) {
	c.Unknown.leaveOut(e, c.declared, c.Manifest)
	c.shown(e)
	e.Warnings = append(e.Warnings, c.ineffectiveWarnings(e.Ineffective)...)
	ignored := IgnoredPaths(e.Ignored)
	e.Before, e.After = e.Before.Without(ignored), e.After.Without(ignored)
	e.Baseline = e.baseline(c.Prior).Without(ignored).Hiding(c.Sensitive)
	for i := range e.Changes {
		e.Changes[i].Sensitive = e.Changes[i].Sensitive || c.Sensitive.Touches(e.Changes[i].Path)
	}
}

// Unread returns the explanation for a live object that couldn't be read: with the values after the apply, and without
// changes.
func (e *Explanation) Unread() Explanation {
	return Explanation{After: e.After, Assigned: e.Assigned, Ineffective: e.Ineffective, Unknown: e.Unknown, Warnings: e.Warnings}
}

// Summary returns one line about the changes, by cause: "1 edited, 2 drifted". If neither values nor owners change, it
// names the fields that are null or empty in the manifest. If a server doesn't store such a field, or stores null as
// another value, it writes some objects again at each apply: a NetworkPolicy, a webhook configuration, an embedded
// object.
func (e *Explanation) Summary() string {
	switch {
	case len(e.Changes) > 0:
		return countCauses(e.Changes)
	case !e.sameOwners:
		return "no value changes, only who owns the fields"
	}
	var help []string
	if len(e.omitted) > 0 {
		help = append(help, "leave out "+projection.JoinPaths(e.omitted))
	}
	if len(e.nulls) > 0 {
		help = append(help, "replace null by the value that is stored in "+projection.JoinPaths(e.nulls))
	}
	const rewritten = "no value and no owner changes, but the server writes the object again"
	if len(help) == 0 {
		return rewritten
	}
	return rewritten + ", as it may do at each apply of empty fields: " + strings.Join(help, ", and ")
}

// OnlyRewrites reports whether the server writes the object again although neither values nor owners change. That
// happens if the server doesn't store an applied empty field, or if admission undoes an applied value. In both cases
// the applier's entry gets a new time, which changes the order of managedFields. Source:
// IgnoreManagedFieldsTimestampsTransformer in k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager, which compares the
// entries by position.
func (e *Explanation) OnlyRewrites() bool { return !e.NoOp && len(e.Changes) == 0 && e.sameOwners }

// Known returns the explanation of an apply that is known to be a no-op from an earlier answer of the server; before is
// the explanation of that answer. It only uses Live, Was, Manager, Subresource, Sensitive, Prior, Ignored, Tools and
// Records of the input. In the result Before, After and Baseline are empty. It shares no memory with before.
func Known(before *Explanation, in Input) Explanation {
	e := Explanation{NoOp: true, Assigned: slices.Clone(before.Assigned), Ineffective: slices.Clone(before.Ineffective)}
	e.left = IgnoredPaths(in.Ignored)
	for i, path := range e.Assigned {
		e.Assigned[i] = slices.Clone(path)
	}
	for i, ineffective := range e.Ineffective {
		e.Ineffective[i].Path = slices.Clone(ineffective.Path)
	}
	in.Answer, in.Prior = in.Live, in.Prior.Hiding(in.Sensitive)
	e.Writers, e.Rival = in.knownWriters(), in.rival()
	e.Warnings = append(objectWarnings(in, e.Rival), in.ineffectiveWarnings(e.Ineffective)...)
	return e
}

// objectWarnings warns of a live object that isn't the remembered one, of one that is being deleted, and of a rival.
func objectWarnings(in Input, rival *Rival) []foreign.Text {
	if in.Live == nil {
		return nil
	}
	live, answer := unstructured.Unstructured{Object: in.Live}, unstructured.Unstructured{Object: in.Answer}
	var out []foreign.Text
	if uid := string(live.GetUID()); in.Prior != nil && in.Prior.UID != "" && in.Prior.UID != uid {
		out = append(out, foreign.Textf("%s: the object was re-created: its uid was %s and is %s", nameOf(in.Live), in.Prior.UID, uid))
	}
	if live.GetDeletionTimestamp() != nil {
		out = append(out, foreign.Textf("%s: is being deleted, and %s", nameOf(in.Live), fateOfDeleted(live, answer)))
	}
	if rival != nil {
		out = append(out, foreign.Textf("%s: %s", nameOf(in.Live), rival))
	}
	return out
}

// unrecorded warns that the live object has no managedFields, and what the server records at its first apply then. A
// manifest that declares nothing but its object has nothing that could be dropped later.
func (c *comparison) unrecorded() []foreign.Text {
	recorded := c.owners.Fields(fieldowner.By(fieldowner.BeforeFirstApply)).Leaves()
	if c.Live == nil || len(record(c.Live)) > 0 || recorded.Empty() || c.declared.Empty() {
		return nil
	}
	var stay foreign.Text
	if n := recorded.Without(c.declared.Leaves()).Len(); n > 0 {
		stay = foreign.Textf(". %d of them aren't in the manifest and stay", n)
	}
	return []foreign.Text{foreign.Textf("%s: has no managedFields, so the server records its fields for %q at this apply%s. "+
		"Fields that are dropped from the manifest later stay, too, until %[2]q is adopted",
		nameOf(c.Live), fieldowner.BeforeFirstApply, stay)}
}

// nameOf names the object as people read it.
func nameOf(obj map[string]any) string {
	id, err := identity.Of(obj)
	if err != nil {
		return "the object"
	}
	return id.String()
}

// fateOfDeleted tells what becomes of an apply to an object that is being deleted. A server removes the object with the
// last finalizer, also when an apply takes that. Source: ShouldDeleteDuringUpdate in
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

// stored returns a phrase with the value that the answer has at p, without sensitive values; empty for maps, and for
// lists of maps or lists.
func (in Input) stored(p projection.Path) string {
	set := projection.NewFieldSet(p)
	answer := projection.Project(in.Answer, set).Hiding(in.Sensitive).Redacted()
	isScalar := func(v any) bool {
		_, isMap := v.(map[string]any)
		_, isList := v.([]any)
		return !isMap && !isList
	}
	v, _ := projection.NewObject(answer.Object, set).Get(p)
	items, isList := v.([]any)
	if v == nil || !isScalar(v) && !isList || slices.ContainsFunc(items, func(item any) bool { return !isScalar(item) }) {
		return ""
	}
	text, _ := plainjson.Marshal(v)
	return ": " + string(text)
}

// ineffectiveWarnings returns a warning for each field.
func (in Input) ineffectiveWarnings(ineffective []projection.Ineffective) []foreign.Text {
	live := unstructured.Unstructured{Object: in.Live}
	atCreate := kinds.AtCreate(live.GetAPIVersion(), live.GetKind())
	var out []foreign.Text
	for _, i := range ineffective {
		switch {
		case i.Reason == projection.ReasonUntracked && i.Path.String() == atCreate:
			out = append(out, foreign.Textf("%s: the server takes this only from the manifest of a new object: this one keeps what it has", i.Path))
		case i.Reason == projection.ReasonUnrecorded:
			out = append(out, foreign.Textf("%s: the server stores this without recording an owner: later edits of it aren't compared", i.Path))
		case i.Reason == projection.ReasonOverridden:
			out = append(out, foreign.Textf("%s: the server stores another value%s", i.Path, in.stored(i.Path)))
		default:
			out = append(out, foreign.Textf("%s: the server doesn't keep what the manifest has here (%s)", i.Path, i.Reason))
		}
	}
	return out
}
