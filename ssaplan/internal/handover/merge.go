package handover

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
)

// tryMerged returns the object as the apply makes it after the handover, given that the server refused to try the apply
// to the object as it is. It merges the manifest into the live object, takes away what is dropped, and has the server
// try an update to that. The error is the refusal in three cases: nothing is dropped and no entry moves, the server
// refuses the update as well, or the refusal is about fields that the handover doesn't change.
func (h *Handover) tryMerged(server Server, manifest map[string]any,
	refusal error) (*unstructured.Unstructured, error) {
	if uid := (&unstructured.Unstructured{Object: manifest}).GetUID(); uid != "" && uid != h.live.GetUID() {
		return nil, refusal // of an object that the manifest isn't for
	}
	if h.leavesNull(refusal) {
		return nil, refusal
	}
	created, err := server.Create(manifest)
	needsGiven := err != nil && !h.given.Empty()
	if needsGiven { // a new object may need the given-up fields
		created, err = server.Create(h.withGiven(manifest))
	}
	assigned := assignedIn(manifest)
	if err != nil && len(assigned) > 0 { // values that only one object can have, and the live one has
		free, _ := assigned.Remove(manifest)
		created, err = server.Create(free)
	}
	if err != nil {
		return nil, refusal
	}
	owners, err := fieldowner.Read(created.Object)
	if err != nil {
		return nil, refusal
	}
	declared := owners.Fields(h.wanted.Applier.Is)
	declared = declared.Union(projection.NewFieldSet(assigned.Find(manifest, declared)...))
	if needsGiven {
		declared = h.kept(declared, manifest)
	}
	if err := h.tryPatch(server, declared); errors.Is(err, applier.ErrKept) && h.onlyClears() {
		return nil, refusal // the applier already owns the list or map as a whole, as in [Handover.IsIdle]
	} else if err != nil {
		return nil, err
	}
	if h.movesAfter(refusal) && !server.Forced {
		if err := h.conflict(manifest, declared); err != nil {
			return nil, err
		}
	}
	made, err := h.tryContent(server, manifest, declared, created.Object, h.movesAfter(refusal))
	if err != nil || made == nil {
		return nil, refusal
	}
	return made, nil
}

// assignedIn returns the patterns of the values that a server assigns in objects of the kind of the manifest.
func assignedIn(manifest map[string]any) projection.Patterns {
	obj := &unstructured.Unstructured{Object: manifest}
	// which a test parses
	patterns, _ := projection.ParsePatterns(kinds.ValuesOf(obj.GetAPIVersion(), obj.GetKind()).Assigned...)
	return patterns
}

// HiddenError says that fields can't be given up in the version of the live object, which doesn't have them.
type HiddenError struct {
	Fields  projection.FieldSet
	Version string
	Err     error
}

func (e *HiddenError) Error() string {
	var names []string
	for p := range e.Fields.All() {
		names = append(names, p.String())
	}
	const text = "can't give up %s in %s, which lacks that: plan in the version in which it was applied: %v"
	return fmt.Sprintf(text, strings.Join(names, ", "), foreign.Text(e.Version), e.Err)
}

func (e *HiddenError) Unwrap() error { return e.Err }

// tryHidden returns the object as the apply makes it after hidden fields were given up: fields that the version of the
// live object lacks. answer is the answer to an apply before the handover. It lacks the values that this version has in
// place of hidden fields, such as an annotation.
func (h *Handover) tryHidden(
	server Server, manifest, answer map[string]any,
) (*unstructured.Unstructured, error) {
	owners, err := fieldowner.Read(answer)
	if err != nil {
		return nil, err
	}
	applied := owners.Fields(h.wanted.Applier.Is)
	if err := h.tryPatch(server, applied); err != nil {
		return nil, err
	}
	declared := h.kept(applied, manifest)
	made, err := h.tryContent(server, manifest, declared, answer, true)
	if err != nil {
		return nil, &HiddenError{h.hidden, h.live.GetAPIVersion(), err}
	}
	return made, nil
}

// tryContent returns the object as the server makes it from the live object and the declared fields of the manifest.
// stored is an object with the values that the server stores in these fields. If nothing is dropped, tryContent returns
// nil, unless always is true.
func (h *Handover) tryContent(
	server Server, manifest map[string]any, declared projection.FieldSet, stored map[string]any, always bool,
) (*unstructured.Unstructured, error) {
	made, err := h.merged(server, manifest, declared, stored)
	if err != nil {
		return nil, err
	}
	left, err := h.withoutDropped(server, made, projection.FieldSet{})
	if err == nil && left == nil && always {
		left, err = remaining(made, h.wanted.Applier)
	}
	if err != nil || left == nil {
		return nil, err
	}
	return h.tryUpdate(server, manifest, made, left)
}

// leavesNull reports whether the server refused a null in the place of a map or list in which no field changes owners.
// The apply after the handover leaves such a null as well. An update doesn't show the refusal.
func (h *Handover) leavesNull(refusal error) bool {
	before, _ := fieldowner.Read(h.live.Object) // which could be read
	own := before.Fields(h.wanted.Applier.Is)
	others := before.Fields(func(o fieldowner.Owner) bool { return !h.wanted.Applier.Is(o) })
	moved := own.Difference(h.own).Union(h.own.Difference(own)).Union(others.Difference(h.others))
	return slices.ContainsFunc(refusedNulls(refusal), func(field string) bool {
		p, err := projection.ParsePath(field)
		return err == nil && !moved.Touches(p)
	})
}

// merged returns the live object with the values of the manifest, and with the record of after the handover and the
// apply. declared are the fields that the server records for the manifest, and stored is an object that has them. Other
// managers lose the fields whose values change, and the fields that the live object lacks. Source:
// compareWalker.compare in sigs.k8s.io/structured-merge-diff/v6/typed.
func (h *Handover) merged(
	server Server, manifest map[string]any, declared projection.FieldSet, stored map[string]any,
) (map[string]any, error) {
	out, _ := projection.Patterns{}.Remove(h.after.Object) // a copy
	before, err := fieldowner.Read(out)
	if err != nil {
		return nil, err
	}
	fields := declared.Union(h.own.Union(h.given).Renamed(declared, h.live.Object)) // by which the server finds items
	content, sent := projection.NewObject(out, fields), projection.NewManifest(manifest, declared)
	changed := removeRepeated(out, content, declared)
	orders := listOrders(declared, content, sent, projection.FieldSet{})
	keeping := h.keeping(server, declared.Leaves(), fields.Union(before.Fields(nil)), content, sent)
	for p := range declared.Leaves().All() {
		value, _ := sent.Get(p)
		if was, exists := content.Get(p); exists && (reflect.DeepEqual(was, value) || keeping.Has(p)) {
			continue
		}
		if err := content.Set(p, value); err != nil {
			return nil, err
		}
		changed = append(changed, p)
	}
	if err := addEmptyLists(content, sent, stored, keeping); err != nil {
		return nil, err
	}
	for _, o := range orders {
		if err := o.restore(content); err != nil {
			return nil, err
		}
	}
	own := fieldowner.Entry{Fields: h.kept(declared, manifest), Owner: h.wanted.owner(h.live)}
	var more []fieldowner.Entry
	if h.own.Empty() && !own.Fields.Empty() { // of the first apply of a manager, there is no entry to change
		more = append(more, own)
	}
	return change(out, func(e fieldowner.Entry) fieldowner.Entry {
		if h.wanted.Applier.Is(e.Owner) {
			e.Fields = own.Fields
		} else {
			came := added(h.after.Object, out, e.Fields)
			e.Fields = e.Fields.Without(projection.NewFieldSet(changed...)).Difference(came)
		}
		return e
	}, more...)
}

// keeping returns the declared maps and lists that keep their live content, although the manifest declares them as
// null, as empty, or with only empty lists in them. The server removes the content only if the map or list is atomic. A
// map or list with recorded parts isn't atomic.
func (h *Handover) keeping(
	server Server, declared, recorded projection.FieldSet, content, sent *projection.Object,
) projection.FieldSet {
	var parted, unclear []projection.Path
	for p := range declared.All() {
		value, _ := sent.Get(p)
		was, _ := content.Get(p)
		fields, isMap := was.(map[string]any)
		switch items, _ := was.([]any); {
		case !isHollow(value) || isEmpty(value) && isEmpty(was) || value == nil && len(fields)+len(items) == 0:
		case recorded.Under(p).Len() > 1 || isMap && isHollow(was): // a trial shows nothing of a map of empty lists
			parted = append(parted, p)
		// an empty list of named items isn't recorded
		case isMap && !isEmptyList(value) || len(items) > 0 && value == nil:
			unclear = append(unclear, p)
		}
	}
	wholes := h.trials.wholes(server, content, unclear)
	return projection.NewFieldSet(parted...).Union(projection.NewFieldSet(unclear...).Difference(wholes))
}

// addEmptyLists adds the lists that the manifest declares as empty, and that the server stores, and that the object
// lacks. A server records nothing for an empty list with keys. So a map that has only such lists looks atomic.
func addEmptyLists(content, sent *projection.Object, created map[string]any, keeping projection.FieldSet) error {
	outline, err := projection.Outline(created)
	if err != nil {
		return err
	}
	for p := range keeping.All() {
		value, _ := sent.Get(p)
		outline = outline.Union(projection.NewFieldSet(listsIn(p, value)...))
	}
	stored := projection.NewObject(created, outline)
	for p := range outline.Leaves().All() {
		value, _ := stored.Get(p)
		wanted, _ := sent.Get(p)
		if _, exists := content.Get(p); exists || !isEmptyList(value) || !isEmptyList(wanted) {
			continue
		}
		if err := content.Set(p, value); err != nil {
			return err
		}
	}
	return nil
}
