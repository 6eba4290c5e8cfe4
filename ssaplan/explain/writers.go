package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// writers returns which tools wrote to the live object, and what of theirs stays behind in the answer, but for fields that are left to
// others.
func (in Input) writers(owners fieldowner.Ownership, answer map[string]any, left projection.FieldSet) []fieldowner.Writer {
	if in.Live == nil {
		return nil
	}
	out := owners.Writers(answer, in.applier(), in.tools())
	for i := range out {
		out[i].Stays = slices.DeleteFunc(out[i].Stays, func(p projection.Path) bool { return left.Covers(p) || !left.Under(p).Empty() })
	}
	return out
}

// knownWriters returns the writers of a live object to which an apply changes nothing. A record is only read if it names a tool.
func (in Input) knownWriters() []fieldowner.Writer {
	metadata, _ := in.Live["metadata"].(map[string]any)
	record, _ := metadata["managedFields"].([]any)
	if !slices.ContainsFunc(record, in.isOfTool) {
		return nil
	}
	owners, err := fieldowner.Read(in.Live)
	if err != nil {
		return nil // the apply was explained before, which takes a record that can be read
	}
	return in.writers(owners, in.Live, left(named(in.Ignored, in.Live, owners.Fields(nil))))
}

// isOfTool reports whether an entry of a record is of a tool.
func (in Input) isOfTool(entry any) bool {
	fields, _ := entry.(map[string]any)
	manager, _ := fields["manager"].(string)
	operation, _ := fields["operation"].(string)
	_, is := fieldowner.ToolOf(fieldowner.Owner{Manager: foreign.Text(manager), Operation: operation}, in.tools())
	return is
}

// tools returns those that are recognised.
func (in Input) tools() []fieldowner.Tool { return slices.Concat(fieldowner.Tools(), in.Tools) }
