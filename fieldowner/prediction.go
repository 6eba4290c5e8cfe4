package fieldowner

import (
	"encoding/json"
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// PredictConflicts returns the conflicts for which a server would reject an unforced apply of manifest by applier, from
// live's managedFields and values alone, in the order of the paths. declared are the fields of the manifest; key fields
// that the manifest leaves out of list items are taken from declared. If live is nil, there are no conflicts. The only
// error is that of [Read].
//
// A field conflicts if another owner has it and its value would change. Values are compared as they are written: a
// server also says "conflict" when a manifest writes 1000m where the object has 1.
//
// WARNING: if an object has no managedFields, a server takes [BeforeFirstApply] for the owner of everything. So the
// prediction is wrong for an object whose managedFields a cache has dropped.
//
// The function has no schema. Only a schema says whether an empty map or null in the manifest replaces the map in the
// object or leaves it as it is; here the paths in managedFields decide. It assumes that field paths are the same in
// other API versions.
//
// A server forgives the field manager "kubectl" conflicts about values that client-side apply set, if the schema has
// each field in the annotation of client-side apply. Here it is assumed to have them. The exception is a custom
// resource that lacks a field of the annotation, although its managedFields have the field: then its CRD has lost the
// field.
func PredictConflicts(
	live, manifest map[string]any, declared projection.FieldSet, applier Applier,
) ([]Conflict, error) {
	ownership, err := Read(live)
	if err != nil || live == nil {
		return nil, err
	}
	p := predictor{
		all: ownership.all, declared: declared, filled: ownership.filled(ownership.all, live, nil),
		// managedFields may name items by keys that the list had before. What is declared has the keys of today.
		live:     projection.NewObject(live, declared),
		manifest: projection.NewManifest(manifest, declared),
	}
	p.duplicates = projection.NewFieldSet(projection.Project(live, declared).Duplicates...)
	entries := ownership.entries
	if !ownership.Recorded() {
		entries = []Entry{p.beforeFirstApply(live, manifest, applier)}
	}
	var conflicts []Conflict
	for _, e := range entries {
		if applier.Is(e.Owner) {
			continue
		}
		for path := range p.reconciled(e.Fields).All() {
			if p.changes(path) {
				conflicts = append(conflicts, Conflict{path, e.Owner})
			}
		}
	}
	if applier.Manager == "kubectl" {
		conflicts = p.withoutLastApplied(conflicts, live, ownership)
	}
	slices.SortFunc(conflicts, Conflict.compare)
	return conflicts, nil
}

type predictor struct {
	all, declared  projection.FieldSet
	filled         projection.FieldSet // maps that were declared as empty and have something in them
	live, manifest *projection.Object
	duplicates     projection.FieldSet // items that the live object has several times
}

// beforeFirstApply returns the entry that a server makes up for an object without managedFields. It is for what the
// applier applies to: the object itself, or a subresource. Of the fields that the entry would have, only those of the
// manifest matter here.
func (p *predictor) beforeFirstApply(live, manifest map[string]any, applier Applier) Entry {
	version, _ := live["apiVersion"].(string)
	owner := Owner{
		Manager: BeforeFirstApply, Operation: OperationUpdate,
		APIVersion: foreign.Text(version), Subresource: foreign.Text(applier.Subresource),
	}
	return Entry{owner, p.present(live, manifest)}
}

// present returns the paths of the manifest at which the live object has something: those that are declared, and null
// in the place of an empty list, which may be declared without a record. The value that every object of the kind has
// there is nothing, and so is null in the place of a map or list. In an item, that no object of the kind has by itself,
// null is something in the place of a list that is recorded as a whole.
func (p *predictor) present(live, manifest map[string]any) projection.FieldSet {
	var paths []projection.Path
	isBuiltin := kinds.IsBuiltin(live)
	sent, _ := projection.Outline(manifest) // a manifest that has no record has none that can't be read
	for path := range p.declared.Union(sent).All() {
		wanted, _ := p.manifest.Get(path)
		found, exists := p.live.Get(path)
		list, isList := wanted.([]any)
		if !p.declared.Has(path) && (!isList || len(list) > 0 || found != nil) {
			continue
		}
		isInItem := slices.ContainsFunc(path,
			func(e projection.Element) bool { return e.Kind() != projection.FieldKind })
		isWhole := isList && p.declared.Has(path) && isInItem
		isNothing := found == nil && isContainer(wanted) && isBuiltin && !isWhole ||
			kinds.IsZero(live, path.String(), found)
		if exists && !isNothing {
			paths = append(paths, path)
		}
		for n := range path {
			if v, _ := p.live.Get(path[:n]); v != nil && !isContainer(v) {
				paths = append(paths, path[:n]) // it becomes a map
			}
		}
	}
	return projection.NewFieldSet(paths...)
}

// reconciled returns fields as a server takes them after a change of the schema: who owns a part of what is declared as
// a whole now owns that. A map that becomes a list has no schema, and stays a map with fields until then.
//
// Source: sigs.k8s.io/structured-merge-diff, typed, ReconcileFieldSetWithSchema.
func (p *predictor) reconciled(fields projection.FieldSet) projection.FieldSet {
	for whole := range p.declared.Leaves().All() {
		wanted, _ := p.manifest.Get(whole)
		if _, isList := wanted.([]any); !isList && isEmpty(wanted) || !isContainer(wanted) || !hasBelow(fields, whole) {
			// others may have something in an empty map, and an empty list isn't recorded unless it has one owner
			continue
		}
		if found, _ := p.live.Get(whole); isContainer(found) && isMap(found) != isMap(wanted) {
			continue
		}
		if e := whole[len(whole)-1]; e.Kind() == projection.FieldKind {
			atomic := projection.NewFieldSet(whole)
			fields = fields.Without(atomic).Union(atomic)
		}
	}
	return fields
}

// changes reports whether merging the manifest into the live object adds or modifies the field at path, as
// structured-merge-diff understands it: maps and lists that are owned field by field are modified by none of their
// fields.
//
// Source: sigs.k8s.io/structured-merge-diff, typed, compareWalker and mergingWalker.
func (p *predictor) changes(path projection.Path) bool {
	wanted, sent := p.manifest.Get(path)
	// A manifest has more than it declares, such as a status, which the server ignores. But an empty list is recorded
	// for nobody and counts.
	if !sent || !p.declared.Touches(path) && !isEmpty(wanted) {
		return false
	}
	found, exists := p.live.Get(path)
	if !exists || p.duplicates.Has(path) { // of which one stays
		return true
	}
	if sameValue(wanted, found) {
		return false
	}
	return !p.keepsFields(path, wanted, found)
}

// keepsFields reports whether the values at path are maps or lists that are merged field by field. Null stands for an
// empty one of either.
func (p *predictor) keepsFields(path projection.Path, wanted, found any) bool {
	isMap, wasMap := isMap(wanted), isMap(found)
	if !mayMerge(wanted) || !mayMerge(found) || isEmpty(wanted) && isEmpty(found) || wanted != nil && found != nil &&
		isMap != wasMap {
		return false
	}
	_, isList := wanted.([]any)
	isRecorded := isList || !IsHollow(wanted) || holdsEmptyMap(wanted)
	if isRecorded && !hasBelow(p.declared, path) && p.declared.Covers(path) {
		// what is declared with content and nothing below it is atomic, and so is an empty list that is recorded
		return false
	}
	if hasBelow(p.declared, path) || hasBelow(p.all, path) || isGranular(path) || p.filled.Has(path) ||
		wasMap && holdsUnrecorded(wanted) && !kinds.IsAtomicMap(path[len(path)-1].Name()) {
		return true
	}
	// Nothing recorded: of the things that are sent empty, maps are nearly always structs and lists nearly always
	// atomic.
	return (isMap || wanted == nil && wasMap) && p.all.Empty() && !kinds.IsAtomicMap(path[len(path)-1].Name())
}

func mayMerge(v any) bool { return v == nil || isContainer(v) }

// withoutLastApplied drops the conflicts that a server forgives the manager called "kubectl", and nobody else: those
// about fields that client-side apply set and that still have the value it gave them.
//
// Source: k8s.io/apimachinery, pkg/util/managedfields/internal, lastAppliedManager.
func (p *predictor) withoutLastApplied(conflicts []Conflict, live map[string]any, ownership Ownership) []Conflict {
	text, _ := p.live.Get(lastApplied)
	var applied map[string]any
	if s, _ := text.(string); json.Unmarshal([]byte(s), &applied) != nil {
		return conflicts
	}
	if applied["apiVersion"] != live["apiVersion"] || losesField(live, applied, ownership) {
		return conflicts
	}
	last := projection.NewManifest(applied, p.declared)
	return slices.DeleteFunc(conflicts, func(c Conflict) bool {
		was, sent := last.Get(c.Path)
		is, exists := p.live.Get(c.Path)
		return sent && exists && sameValue(was, is)
	})
}

// losesField reports whether client-side apply set a field that the CRD no longer has, so that a server can't read what
// it set. When a server reads the object from its storage, it leaves such a field out, and keeps its owner. Writes that
// remove a field remove its owner, too, but for a webhook that removes it. The types of built-in kinds don't change,
// and they have fields that aren't stored, such as stringData.
func losesField(live, applied map[string]any, ownership Ownership) bool {
	if kinds.IsBuiltin(live) {
		return false
	}
	recorded := ownership.Fields(func(o Owner) bool { return string(o.APIVersion) == live["apiVersion"] })
	object, manifest := projection.NewObject(live, recorded), projection.NewManifest(applied, recorded)
	for path := range recorded.Leaves().All() {
		if set, _ := manifest.Get(path); IsHollow(set) {
			continue // which may not be stored
		}
		there := 0
		for there < len(path) && has(object, path[:there+1]) {
			there++
		}
		if there < len(path) && path[there].Kind() == projection.FieldKind { // an item may have another key by now
			return true
		}
	}
	return false
}
