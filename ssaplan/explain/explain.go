package explain

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

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
	in.Prior = in.Prior.WithSensitive(in.Sensitive)
	e.Writers, e.Rival = in.writers(c.owners, in.Answer, c.unsent), in.rival()
	e.Warnings = append(objectWarnings(in, e.Rival), c.unrecorded()...)
	stay := c.redactedDropped(append(c.abandoned(), c.inGranularLists()...))
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

// Known returns the explanation of an apply that is known to be a no-op from an earlier answer of the server; before is
// the explanation of that answer. It only uses Live, Was, Manager, Subresource, Sensitive, Prior, Ignored, Tools and
// Records of the input. In the result Before, After and Baseline are empty. It shares no memory with before.
func Known(before *Explanation, in Input) Explanation {
	e := Explanation{NoOp: true, Assigned: slices.Clone(before.Assigned), Ineffective: slices.Clone(before.Ineffective)}
	e.ignoredPaths = IgnoredPaths(in.Ignored)
	for i, path := range e.Assigned {
		e.Assigned[i] = slices.Clone(path)
	}
	for i, ineffective := range e.Ineffective {
		e.Ineffective[i].Path = slices.Clone(ineffective.Path)
	}
	in.Answer, in.Prior = in.Live, in.Prior.WithSensitive(in.Sensitive)
	e.Writers, e.Rival = in.knownWriters(), in.rival()
	e.Warnings = append(objectWarnings(in, e.Rival), in.ineffectiveWarnings(e.Ineffective)...)
	return e
}

// create explains an apply that creates the object.
func (c *comparison) create(e *Explanation) (err error) {
	e.Before = projection.Project(nil, e.After.Fields)
	if e.Generated, err = generatedIn(c.Answer, e.After.Fields, c.declaration); err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	e.Changes = withCause(projection.Diff(e.Before, e.After), CauseEdited)
	for _, p := range e.Assigned {
		difference := projection.Difference{Path: p, Op: projection.OpAdd}
		e.Changes = append(e.Changes, Change{Difference: difference, Cause: CauseEdited, Assigned: true})
	}
	return nil
}

// finish removes unknown and sensitive values, and adds the parts that depend on the rest of the explanation.
func (c *comparison) finish(e *Explanation) {
	c.leaveOutUnknown(e)
	c.shown(e)
	e.Warnings = append(e.Warnings, c.ineffectiveWarnings(e.Ineffective)...)
	ignored := IgnoredPaths(e.Ignored)
	e.Before, e.After = e.Before.Without(ignored), e.After.Without(ignored)
	e.Baseline = e.baseline(c.Prior).Without(ignored).WithSensitive(c.Sensitive)
	for i := range e.Changes {
		e.Changes[i].Sensitive = e.Changes[i].Sensitive || c.Sensitive.Touches(e.Changes[i].Path)
	}
}

// leaveOutUnknown removes differences that only appear because unknown values were not sent: in unknown fields, and in
// the items of a list that has an unknown item. If an unknown field wasn't sent with its live value, it also removes
// all side effects: they may come from the missing value.
func (c *comparison) leaveOutUnknown(e *Explanation) {
	if c.Unknown.Empty() {
		return
	}
	manifest := projection.NewManifest(c.Manifest, c.declared)
	e.Unknown = c.Unknown.resolved(c.declared)
	held := true
	for _, p := range e.Unknown {
		_, exists := manifest.Get(p)
		held = held && exists && !isPosition(p)
	}
	isUnknown := func(p projection.Path) bool {
		return c.Unknown.patterns.Match(p) || slices.ContainsFunc(e.Unknown, func(unknown projection.Path) bool {
			// A value that contains an unknown one is compared as a whole, unless it is an item.
			return p.HasPrefix(unknown) || unknown.HasPrefix(p) && !isItem(p) || isOther(p, unknown, manifest)
		})
	}
	e.Changes = slices.DeleteFunc(e.Changes, func(c Change) bool {
		return c.Cause == CauseSideEffect && !held || isUnknown(c.Path)
	})
	e.Ownership = slices.DeleteFunc(e.Ownership, func(t fieldowner.Transfer) bool { return isUnknown(t.Path) })
	e.Dropped = slices.DeleteFunc(e.Dropped, func(d fieldowner.DroppedField) bool { return isUnknown(d.Path) })
	for i := range e.Writers {
		e.Writers[i].Stays = slices.DeleteFunc(e.Writers[i].Stays, isUnknown)
	}
}

// isOther reports whether p may be in the list item that the unknown path selects by its position. It may be if p is an
// item of the same list, or is in an item of this list that the manifest lacks.
func isOther(p, unknown projection.Path, manifest *projection.Object) bool {
	for n, e := range unknown {
		if e.Kind() != projection.IndexKind || len(p) <= n || !p.HasPrefix(unknown[:n]) ||
			p[n].Kind() == projection.FieldKind {
			continue
		}
		if _, sent := manifest.Get(p[:n+1]); !sent || len(p) == n+1 {
			return true
		}
	}
	return false
}

// shown redacts the explanation: list items whose keys are sensitive values become their list. The paths of writers are
// redacted by [Input.writers].
func (c *comparison) shown(e *Explanation) {
	if len(c.Sensitive) == 0 {
		return
	}
	e.Dropped = c.redactedDropped(e.Dropped)
	e.Changes = redactedChanges(e.Changes, c.Sensitive.RedactedPath, c.Live, c.Answer)
	e.Ownership = RedactTransfers(e.Ownership, c.Sensitive)
	pathOf := func(i *projection.Ineffective) *projection.Path { return &i.Path }
	e.Ineffective = redactedOnce(e.Ineffective, c.Sensitive.RedactedPath, pathOf, always)
	e.Ignored = RedactIgnored(e.Ignored, c.Sensitive)
	if !c.asShown.Fields.Equal(c.declaration.Fields) {
		c.asShown.Fields = c.withoutUnknown(c.asShown.Fields.Without(c.unsent))
		e.After = c.asShown.Project(c.Answer).WithSensitive(c.Sensitive)
		if e.Before = e.After; !e.NoOp {
			e.Before = c.asShown.Project(c.Live).WithSensitive(c.Sensitive)
		}
	}
	for _, paths := range []*[]projection.Path{&e.Assigned, &e.Generated, &e.Unknown, &e.omitted, &e.nulls} {
		*paths = redactedPaths(*paths, c.Sensitive)
	}
}
