package fieldowner

import (
	"encoding/json"
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// lastAppliedAnnotation is where client-side apply keeps a copy of the whole manifest, Secrets included.
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// PredictConflicts returns the conflicts for which a server would refuse to let manager apply manifest without force,
// from live's managedFields and values alone, in the order of the paths. declared are the fields of the manifest; the
// key fields that it leaves out of list items are those of declared. A live that is nil has no conflicts. The only
// error is that of [Read].
//
// A field conflicts if somebody else owns it and its value would change. Values are compared as they are written: a
// server also says "conflict" when a manifest writes 1000m where the object has 1.
//
// WARNING: nothing recorded means to a server that [BeforeFirstApply] owns everything. If a cache has dropped the
// managedFields of live, the prediction is about that other object.
//
// The schema is not known here. Where a server distinguishes by schema alone, whether an empty map in the manifest
// replaces the one in the object or leaves it as it is, the recorded paths decide. Owners in another API version are
// taken to name fields as this one does.
func PredictConflicts(
	live, manifest map[string]any, declared projection.FieldSet, manager string,
) ([]Conflict, error) {
	ownership, err := Read(live)
	if err != nil || live == nil {
		return nil, err
	}
	p := predictor{
		all: ownership.all, declared: declared,
		live: newFinder(live), manifest: newFinder(manifest),
	}
	var conflicts []Conflict
	for _, e := range ownership.orBeforeFirstApply(live, declared) {
		if e.appliedBy(manager) {
			continue
		}
		for path := range e.Fields.All() {
			if p.changes(path) {
				conflicts = append(conflicts, Conflict{path, e.Owner})
			}
		}
	}
	if manager == "kubectl" {
		conflicts = p.withoutLastApplied(conflicts)
	}
	slices.SortFunc(conflicts, Conflict.compare)
	return conflicts, nil
}

// orBeforeFirstApply returns the entries, or the one that a server makes up when there are none. Of the fields that it
// would have, only those of set matter here.
func (o Ownership) orBeforeFirstApply(live map[string]any, set projection.FieldSet) []Entry {
	if o.Recorded() {
		return o.entries
	}
	version, _ := live["apiVersion"].(string)
	owner := Owner{Manager: BeforeFirstApply, Operation: OperationUpdate, APIVersion: version}
	return []Entry{{owner, presentIn(live, set)}}
}

// presentIn returns the paths of set that obj has.
func presentIn(obj map[string]any, set projection.FieldSet) projection.FieldSet {
	f := newFinder(obj)
	var paths []projection.Path
	for p := range set.All() {
		if _, exists := f.at(p); exists {
			paths = append(paths, p)
		}
	}
	return projection.NewFieldSet(paths...)
}

type predictor struct {
	all, declared  projection.FieldSet
	live, manifest *finder
}

// changes reports whether merging the manifest into the live object adds or modifies the field at path, as
// structured-merge-diff understands it: maps and lists that are owned field by field are modified by none of their
// fields.
//
// Source: sigs.k8s.io/structured-merge-diff, typed, compareWalker and mergingWalker.
func (p *predictor) changes(path projection.Path) bool {
	wanted, sent := p.manifest.at(path)
	if !sent || !p.declares(path) && !isEmpty(wanted) { // what is sent as an empty list is declared by nobody
		return false
	}
	found, exists := p.live.at(path)
	if !exists {
		return true
	}
	if sameValue(wanted, found) {
		return false
	}
	return !p.keepsFields(path, wanted, found)
}

// declares reports whether the manifest declares the field at path, part of it, or what it is part of. The rest of a
// manifest, such as its status, the server ignores.
func (p *predictor) declares(path projection.Path) bool {
	return p.declared.Covers(path) || !p.declared.Under(path).Empty()
}

// keepsFields reports whether the values at path are maps or lists that are merged field by field. Null stands for an
// empty one of either.
func (p *predictor) keepsFields(path projection.Path, wanted, found any) bool {
	if !mayMerge(wanted) || !mayMerge(found) || isEmpty(wanted) && isEmpty(found) {
		return false
	}
	if hasBelow(p.declared, path) || hasBelow(p.all, path) || isGranular(path) {
		return true
	}
	if !isEmpty(wanted) {
		return !p.declared.Covers(path) // what is declared with content and nothing below it is atomic
	}
	// Nothing recorded: of the things that are sent empty, maps are nearly always structs and lists nearly always atomic.
	_, isMap := wanted.(map[string]any)
	return isMap && p.all.Empty()
}

func mayMerge(v any) bool { return v == nil || isContainer(v) }

// hasBelow reports whether set has a path below p.
func hasBelow(set projection.FieldSet, p projection.Path) bool {
	for q := range set.Under(p).All() {
		if len(q) > len(p) {
			return true
		}
	}
	return false
}

// withoutLastApplied drops the conflicts that a server forgives the manager called "kubectl", and nobody else: those
// about fields that client-side apply set and that still have the value it gave them.
//
// Source: k8s.io/apimachinery, pkg/util/managedfields/internal, lastAppliedManager.
func (p *predictor) withoutLastApplied(conflicts []Conflict) []Conflict {
	text, _ := p.live.at(annotations.Child(projection.Field(lastAppliedAnnotation)))
	var applied map[string]any
	if s, _ := text.(string); json.Unmarshal([]byte(s), &applied) != nil {
		return conflicts
	}
	if applied["apiVersion"] != p.live.object["apiVersion"] {
		return conflicts
	}
	last := newFinder(applied)
	return slices.DeleteFunc(conflicts, func(c Conflict) bool {
		was, sent := last.at(c.Path)
		is, exists := p.live.at(c.Path)
		return sent && exists && sameValue(was, is)
	})
}
