package explain

import (
	"fmt"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// comparison finds out how the server's answer differs from the live object, and why.
type comparison struct {
	Input
	owners      fieldowner.Ownership // of the answer
	declaration fieldowner.Declaration
	asShown     fieldowner.Declaration // with the unknown and ignored fields, and with hidden lists as a whole
	declared    projection.FieldSet    // with the unknown fields
	unsent      projection.FieldSet    // the ignored fields, except those that are sent

	// Of an update:
	liveOwners fieldowner.Ownership
	isRenamed  bool                    // managedFields name list items by other keys than those of today
	previous   projection.FieldSet     // what the manager's last apply declared
	granular   projection.FieldSet     // the items of lists in previous that aren't atomic any more
	edits      []projection.Difference // declared values that differ from the remembered ones

	// Of a replacement:
	madeAnew     projection.Patterns // the fields that the server generates for the new object
	declaredOnly bool                // the server's side effects aren't known
}

// begin returns a comparison, and an explanation with the fields that don't depend on the live object.
func begin(in Input) (*comparison, *Explanation, error) {
	owners, err := in.Records.Read(in.Answer)
	if err != nil {
		return nil, nil, fmt.Errorf("dry run: %w", err)
	}
	recorded := owners
	owners = recorded.Renamed(recorded.Fields(in.applier().Is), in.Live, in.Answer)
	in.Sensitive = in.Sensitive.OfEveryItem()
	in.Prior = in.Prior.WithSensitive(in.Sensitive)
	revealed := in.Prior.revealed(in.Live, in.Was, in.Answer)
	in.revealed = revealed.reshaped(owners, in.Answer, true)
	if in.revealed != revealed { // the fields have the shape of today now
		in.Prior = in.Prior.reshaped(owners, in.Answer, true)
	}
	c := &comparison{
		Input: in, owners: owners, isRenamed: !owners.Equal(recorded),
		declaration: owners.Declared(in.Manifest, in.Answer, in.applier()),
	}
	c.asShown = redactedDeclaration(c.declaration, in.Sensitive)
	if len(in.Ignored) > 0 {
		in.Ignored = namedAs(in.Ignored, in.Manifest, owners.Fields(nil))
		c.unsent = unsent(in.Ignored)
	}
	c.declared = c.declaration.Fields.Without(c.unsent)
	c.declaration.Fields = in.withoutUnknown(c.declared)
	return c, &Explanation{
		Ignored: in.Ignored, ignoredPaths: IgnoredPaths(in.Ignored),
		After:    c.declaration.Project(in.Answer).WithSensitive(in.Sensitive),
		Assigned: c.declaration.Assigned, Ineffective: c.declaration.Ineffective,
	}, nil
}

// withoutUnknown returns the declared fields without the unknown ones.
func (in Input) withoutUnknown(fields projection.FieldSet) projection.FieldSet {
	if in.Unknown.Empty() {
		return fields
	}
	var held []projection.Path
	for _, p := range in.Unknown.resolved(fields) {
		held = append(held, wholeAt(fields, p))
	}
	return fields.Without(projection.NewFieldSet(held...))
}
