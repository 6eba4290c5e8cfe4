package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Owners is who owns which field of an object.
type Owners struct {
	Object    identity.Identity
	Ownership fieldowner.Ownership
}

type ownersJSON struct {
	APIVersion string       `json:"apiVersion"`
	Object     objectJSON   `json:"object"`
	Fields     []ownedField `json:"fields"`
}

type ownedField struct {
	Path     string             `json:"path"`
	Managers []fieldowner.Owner `json:"managers"`
}

// JSON returns the fields with their owners as indented JSON with a newline at the end.
func (o Owners) JSON() ([]byte, error) {
	out := ownersJSON{APIVersion: apiVersion, Object: objectToJSON(o.Object), Fields: []ownedField{}}
	for path, owners := range o.Ownership.All() {
		out.Fields = append(out.Fields, ownedField{path.String(), owners})
	}
	return encode(out)
}

// YAML returns a YAML document with the same content as [Owners.JSON].
func (o Owners) YAML() ([]byte, error) { return asYAML(o.JSON()) }

// Owners returns a table with a line for each field and owner. On a terminal that is too narrow for it, the owners stand
// below their field.
func (t Text) Owners(o Owners) string {
	object := t.paint(bold, foreign.Visible(o.Object.String()))
	if !o.Ownership.Recorded() {
		return fmt.Sprintf("%s\n\nThe server has no record of who owns the fields.\n", object)
	}
	rows := [][]string{{"FIELD", "MANAGER", "OPERATION", "SUBRESOURCE", "WHEN"}}
	for path, owners := range o.Ownership.All() {
		for _, owner := range owners {
			rows = append(rows, t.row(path.String(), owner))
		}
	}
	lines := table(rows)
	if t.Width > 0 && slices.ContainsFunc(lines, func(line string) bool { return columns(line) > t.Width }) {
		lines = stacked(rows)
	}
	return object + "\n\n" + strings.Join(lines, "\n") + "\n"
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

// stacked writes the first cell of each row on a line of its own, once for rows that share it, and the others below.
func stacked(rows [][]string) []string {
	var others [][]string
	for _, row := range rows {
		others = append(others, row[1:])
	}
	var lines []string
	for i, line := range table(others) {
		if i == 0 || rows[i][0] != rows[i-1][0] {
			lines = append(lines, rows[i][0])
		}
		lines = append(lines, "    "+line)
	}
	return lines
}

func (t Text) row(path string, o fieldowner.Owner) []string {
	when := strings.TrimPrefix(t.age(o.Time), ", ")
	cells := []string{foreign.Visible(path), o.Manager.String(), o.Operation, o.Subresource.String(), when}
	for i, cell := range cells {
		if cell == "" {
			cells[i] = "-"
		}
	}
	return cells
}
