package explain

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
)

// Imported is an object that a caller starts to manage, with the manifest and the state to do so.
type Imported struct {
	// Live is the object as it was read.
	Live *unstructured.Unstructured
	// Manifest has the selected fields as a manifest. The manifest of a Secret contains its values.
	Manifest fieldowner.Manifest
	// State is the state that an apply of the manifest would have left. If the fields of one manager were selected, it
	// is the state of an apply under that manager's name, so such an apply changes nothing. Otherwise it is the state
	// of an apply under the caller's field manager.
	State *State
	// Sensitive are the fields of the manifest whose values must not be shown.
	Sensitive projection.FieldSet
}

// Format prints what was selected whatever the verb, so that no verb shows a secret.
func (i Imported) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, i.Manifest) }

// MarshalJSON returns {"manifest","state","sensitive"}. In place of the manifest, which can hold secrets, there is only
// a text with its kind and the number of its fields.
func (i Imported) MarshalJSON() ([]byte, error) {
	return plainjson.Visible(struct {
		Manifest  fieldowner.Manifest `json:"manifest"`
		State     *State              `json:"state"`
		Sensitive projection.FieldSet `json:"sensitive"`
	}{i.Manifest, i.State, i.Sensitive})
}

// NewImported returns the manifest and the state to manage the selected fields of a live object. manager is the field
// manager that will apply. If no field is selected, the error names managers that own fields. Fields that match a
// sensitive pattern are sensitive, in addition to those that are sensitive in every object of the kind.
func NewImported(live *unstructured.Unstructured, selection fieldowner.Selection, manager string,
	sensitive ...projection.Pattern) (*Imported, error) {
	manifest, err := fieldowner.NewManifest(live.Object, selection)
	if err != nil {
		return nil, err
	}
	if manifest.Fields.Empty() {
		return nil, nothingSelected(live.Object, selection)
	}
	if selection.Manager != "" {
		manager = selection.Manager
	}
	state, err := NewImportedState(manifest, live.Object, manager, sensitive...)
	if err != nil {
		return nil, err
	}
	hidden := projection.Patterns(sensitive).OfEveryItem()
	declared := redactedDeclaration(manifest.Declaration, hidden)
	return &Imported{live, manifest, state, sensitiveFields(declared.Project(live.Object).WithSensitive(hidden))}, nil
}

// sensitiveFields returns those of the fields that are sensitive.
func sensitiveFields(p projection.Projection) projection.FieldSet {
	var found []projection.Path
	for path := range p.Fields.Leaves().All() {
		if p.Sensitive.Touches(path) {
			found = append(found, path)
		}
	}
	return projection.NewFieldSet(found...)
}

func nothingSelected(live map[string]any, selection fieldowner.Selection) error {
	if selection.Strategy != fieldowner.ManagerFields {
		return errors.New("there are no such fields")
	}
	ownership, err := fieldowner.Read(live)
	if err != nil {
		return err
	}
	if !ownership.Recorded() {
		return fmt.Errorf("%q owns no such fields: the object has no managedFields; import all of its fields",
			selection.Manager)
	}
	var owners []string
	for _, e := range ownership.Entries() {
		owners = append(owners, e.String())
	}
	return fmt.Errorf("%q owns no such fields; the owners are %s", selection.Manager, strings.Join(owners, ", "))
}
