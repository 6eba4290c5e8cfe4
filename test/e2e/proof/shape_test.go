package proof_test

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// The shapes for which what fieldowner predicts of conflicts, and the manifest that it makes, are compared with the
// server.
const (
	duplicateShape   = "prediction over duplicates"
	emptyMapShape    = "prediction for an empty map"
	mapToListShape   = "prediction for a map that becomes a list"
	wholeShape       = "prediction for fields that become a whole"
	emptyImportShape = "import of an empty map"
	defaultKeysShape = "import of an item with default keys"

	// adviceShape is that of what was refused, and done as the refusal advised: with what was in the way cleared. A
	// plan that clears it without being advised has the blockingShape.
	adviceShape   = "clearing as advised"
	blockingShape = "clearing of what is in the way"
)

// demandedShapes are those that a run must have met.
var demandedShapes = []string{duplicateShape, emptyMapShape, mapToListShape, wholeShape, emptyImportShape, defaultKeysShape, adviceShape, blockingShape}

// meetPrediction notes what is special in the declared fields for which conflicts are predicted.
func (t *trial) meetPrediction(declared projection.FieldSet) {
	owners, _ := fieldowner.Read(t.before.Object)
	owned := owners.Fields(func(fieldowner.Owner) bool { return true })
	for _, item := range projection.Project(t.before.Object, owned.Union(declared)).Duplicates {
		if !declared.Under(item[:len(item)-1]).Empty() {
			t.meet(duplicateShape)
		}
	}
	object, manifest := projection.NewObject(t.before.Object, declared), projection.NewManifest(t.wire.Object, declared)
	for p := range declared.Leaves().All() {
		found, _ := object.Get(p)
		wanted, _ := manifest.Get(p)
		_, wasMap := found.(map[string]any)
		_, isList := wanted.([]any)
		content, isMap := wanted.(map[string]any)
		switch {
		case isMap && len(content) == 0 && wasMap:
			t.meet(emptyMapShape)
		case isList && wasMap:
			t.meet(mapToListShape)
		case (isMap || isList) && ownsParts(owners, p):
			t.meet(wholeShape)
		}
	}
}

// ownsParts reports whether a manager owns a field below a path.
func ownsParts(owners fieldowner.Ownership, p projection.Path) bool {
	return slices.ContainsFunc(owners.Entries(), func(e fieldowner.Entry) bool {
		below := e.Fields.Under(p).Len()
		return below > 1 || below == 1 && !e.Fields.Has(p)
	})
}

// meetImport notes what is special in the fields of which a manifest is made.
func (t *trial) meetImport(m fieldowner.Manifest) {
	object := projection.NewObject(m.Object, m.Fields)
	for p := range m.Fields.All() {
		v, _ := object.Get(p)
		if content, isMap := v.(map[string]any); isMap && len(content) == 0 {
			t.meet(emptyImportShape)
		}
	}
	owners, _ := fieldowner.Read(t.before.Object)
	recorded := owners.Fields(t.step.applier().Is)
	for p := range recorded.All() {
		if hasDefaultKeys(recorded, p) {
			t.meet(defaultKeysShape)
		}
	}
}

// hasDefaultKeys reports whether a path is that of an item of whose keys an applier declared none.
func hasDefaultKeys(fields projection.FieldSet, p projection.Path) bool {
	if len(p) == 0 || p[len(p)-1].Kind() != projection.KeyKind {
		return false
	}
	for key := range p[len(p)-1].KeyFields() {
		if fields.Has(p.Child(projection.Field(key))) {
			return false
		}
	}
	return true
}

func (t *trial) meet(shape string) {
	if t.met == nil {
		t.met = map[string]bool{}
	}
	t.met[shape] = true
}
