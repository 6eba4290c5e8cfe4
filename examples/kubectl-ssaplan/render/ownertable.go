package render

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
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

// Owners returns a table with a line for each field and owner.
func (t Text) Owners(o Owners) string {
	object := t.paint(bold, Printable(o.Object.String()))
	if !o.Ownership.Recorded() {
		return fmt.Sprintf("%s\n\nThe server has no record of who owns the fields.\n", object)
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tMANAGER\tOPERATION\tSUBRESOURCE\tWHEN")
	for path, owners := range o.Ownership.All() {
		for _, owner := range owners {
			fmt.Fprintln(table, strings.Join(t.row(path.String(), owner), "\t"))
		}
	}
	_ = table.Flush() // a strings.Builder doesn't fail
	return object + "\n\n" + b.String()
}

func (t Text) row(path string, o fieldowner.Owner) []string {
	when := strings.TrimPrefix(t.age(o.Time), ", ")
	cells := []string{path, o.Manager, o.Operation, o.Subresource, when}
	for i, cell := range cells {
		if cells[i] = Printable(cell); cell == "" {
			cells[i] = "-"
		}
	}
	return cells
}
