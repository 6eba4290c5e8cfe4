package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Owners is who owns which field of an object.
type Owners struct {
	// Target is where the object is.
	Target    Destination
	Object    identity.Identity
	Ownership fieldowner.Ownership
	// Values are those of the fields, as far as they may be known; of sensitive ones it is only said that there is one.
	Values projection.Projection
}

type ownersJSON struct {
	APIVersion string       `json:"apiVersion"`
	Target     *Destination `json:"target,omitempty"`
	Object     objectJSON   `json:"object"`
	Fields     []fieldJSON  `json:"fields"`
}

type fieldJSON struct {
	Path     string             `json:"path"`
	Value    *any               `json:"value,omitempty"` // nil of what has fields of its own
	Managers []fieldowner.Owner `json:"managers"`
}

// ownedField is a field with its owners.
type ownedField struct {
	path     projection.Path
	value    any
	hasValue bool
	owners   []fieldowner.Owner
}

// fields returns the fields that somebody owns, in the order of their paths.
func (o Owners) fields() (out []ownedField) {
	values := map[string]any{}
	for path, value := range o.Values.Redacted().Leaves() {
		values[path.String()] = value
	}
	for path, owners := range o.Ownership.All() {
		value, has := values[path.String()]
		out = append(out, ownedField{path, value, has, owners})
	}
	return out
}

// JSON returns the fields with their owners as indented JSON with a newline at the end.
func (o Owners) JSON() ([]byte, error) {
	out := ownersJSON{APIVersion: apiVersion, Object: objectToJSON(o.Object), Fields: []fieldJSON{}}
	if o.Target != (Destination{}) {
		out.Target = &o.Target
	}
	for _, field := range o.fields() {
		shown := fieldJSON{Path: field.path.String(), Managers: field.owners}
		if field.hasValue {
			shown.Value = &field.value
		}
		out.Fields = append(out.Fields, shown)
	}
	return JSON(out)
}

// YAML returns a YAML document with the same content as [Owners.JSON].
func (o Owners) YAML() ([]byte, error) { return asYAML(o.JSON()) }

// Owners returns the fields as a tree with their values, and beside each who owns it, a line for each owner. On a
// terminal that is too narrow for it, the owners stand below their field.
func (t Text) Owners(o Owners) string {
	object := t.Heading(o.Target) + t.paint(bold, foreign.Visible(o.Object.String()))
	if !o.Ownership.Recorded() {
		return fmt.Sprintf("%s\n\nThe server has no record of who owns the fields.\n", object)
	}
	rows := [][]string{{"FIELD", "MANAGER", "OPERATION", "SUBRESOURCE", "WHEN"}}
	for _, n := range tree(o.fields(), func(field ownedField) projection.Path { return field.path }) {
		rows = t.branch(rows, n, 0)
	}
	lines := table(rows)
	if t.Width > 0 && slices.ContainsFunc(lines, func(line string) bool { return columns(line) > t.Width }) {
		lines = stacked(rows)
	}
	return object + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// branch adds the rows of a place and of what is below it. The first cell is empty in all rows of a field but the
// first.
func (t Text) branch(rows [][]string, n *node[ownedField], depth int) [][]string {
	label := strings.Repeat("  ", depth) + foreign.Visible(n.label.String())
	if len(n.items) == 0 {
		rows = append(rows, []string{label, "", "", "", ""})
	}
	for _, field := range n.items {
		for i, owner := range field.owners {
			cell := ""
			if i == 0 {
				cell = t.withValue(label, field)
			}
			rows = append(rows, t.row(cell, owner))
		}
	}
	for _, child := range n.children {
		rows = t.branch(rows, child, depth+1)
	}
	return rows
}

// minValue is the number of characters of a value that are shown on terminals of any width.
const minValue = 24

// withValue adds the value of a field, as much of it as half a line has room for. An element of a set has it in its
// path.
func (t Text) withValue(label string, field ownedField) string {
	last := len(field.path) - 1
	if !field.hasValue || last >= 0 && field.path[last].Kind() == projection.ValueKind {
		return label
	}
	return label + ": " + t.shorten(inline(field.value), max(t.width()/2-columns(label), minValue))
}

// table aligns the cells of rows.
func table(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	var lines []string
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-columns(cell)+2)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// stacked writes the first cell of each row, unless it is empty, on a line of its own, and the others below.
func stacked(rows [][]string) []string {
	var others [][]string
	for _, row := range rows {
		others = append(others, row[1:])
	}
	var lines []string
	indent := ""
	for i, line := range table(others) {
		if first := rows[i][0]; first != "" {
			lines = append(lines, first)
			indent = first[:len(first)-len(strings.TrimLeft(first, " "))] + "    "
		}
		if line != "" {
			lines = append(lines, indent+line)
		}
	}
	return lines
}

// row returns the cells of an owner of the field that the first cell shows.
func (t Text) row(field string, o fieldowner.Owner) []string {
	when := strings.TrimPrefix(t.age(o.Time), ", ")
	cells := []string{field, o.Manager.String(), o.Operation, o.Subresource.String(), when}
	for i := range cells[1:] {
		if cells[i+1] == "" {
			cells[i+1] = "-"
		}
	}
	return cells
}
