// Package handover takes fields over from other managers, and gives fields up, before an apply. What the apply makes of
// the object then is found out before anything is written.
package handover

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// Handover has the fields of a live object that change owners.
type Handover struct {
	fieldowner.Handover
	wanted Wanted
	live   *unstructured.Unstructured
	after  *unstructured.Unstructured // the live object with its record of then
	own    projection.FieldSet        // what the applier owns then
	alone  projection.FieldSet        // what of that no other has to hand over, and of which it gives nothing up
	others projection.FieldSet        // what the others own then
	given  projection.FieldSet        // what it gave up
	hidden projection.FieldSet        // what of that is recorded in another version, and isn't in the live object of this one
	clears projection.FieldSet        // what it takes from all, so that it goes
	claims projection.FieldSet        // the same by the names of today alone: by others, the server finds nothing
	isIdle bool                       // the apply alone does all of it
	trials trials                     // what was asked of the server about atomic lists and maps
}

// Find returns the fields of the live object that change owners, nil if there are none. The only errors are those of
// managedFields that can't be read, of an object without resourceVersion, of an applier of a subresource, and of a
// handover that leaves no owner of any field.
func Find(live *unstructured.Unstructured, wanted Wanted) (*Handover, error) {
	switch s := wanted.Applier.Subresource; {
	case s != "" && len(wanted.Lost) > 0:
		return nil, fmt.Errorf("managedFields are moved out of lost versions with an apply of the object itself, and not of its %s: apply the object first", s)
	case s != "":
		return nil, fmt.Errorf("fields can only be adopted or given up in the object itself, not in its %s", s)
	}
	h := &Handover{wanted: wanted, live: live, trials: trials{live: live, applier: wanted.Applier}}
	before, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, err
	}
	isApplied := !before.Fields(wanted.Applier.Is).Empty()
	giveUp := wanted.GiveUp.Named(wanted.Manifest, before.Fields(nil))
	cleared := wanted.cleared(live.Object, before)
	h.clears = allNames(cleared, live.Object, before.Fields(nil), wanted.today)
	h.claims = cleared.Renamed(wanted.today, live.Object)
	forced, err := wanted.forced()
	if err != nil {
		return nil, err
	}
	own := fieldowner.Entry{Fields: h.claims, Owner: wanted.owner(live)}
	for _, e := range before.Entries() {
		own.Fields = own.Fields.Union(forced(e))
	}
	var taken projection.FieldSet
	h.Handover, err = fieldowner.HandOver(live.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if wanted.takes(e.Owner) {
			taken = taken.Union(e.Fields)
			e.Manager, e.Operation = foreign.Text(wanted.Applier.Manager), fieldowner.OperationApply
			if isApplied {
				e.Time = time.Time{} // it wasn't the applier who wrote then
			}
		}
		e = wanted.moved(e, live)
		if wanted.Applier.Is(e.Owner) {
			_, given := giveUp.Split(e.Fields)
			e.Fields, h.given = without(e.Fields, given), h.given.Union(given)
			if string(e.APIVersion) != live.GetAPIVersion() {
				h.hidden = h.hidden.Union(missing(live.Object, given.Leaves()))
			}
		}
		e.Fields = e.Fields.Without(h.clears).Difference(forced(e))
		return e
	}, own)
	if err != nil || h.Empty() {
		return nil, err
	}
	after := &unstructured.Unstructured{Object: h.Object()}
	owners, err := fieldowner.Read(after.Object)
	if err == nil && !owners.Recorded() {
		return nil, errors.New("no manager would own a field after giving these up, and the server would then record all fields " +
			"under before-first-apply: apply the fields to keep first, and give up the other fields after that")
	}
	h.makes(after, owners)
	// The server drops fields in the version in which they are recorded, and zero is there for required ones.
	if versionOf(before, wanted.Applier) == versionOf(owners, wanted.Applier) {
		alone := before.Fields(wanted.Applier.Is).Difference(taken.Union(h.clears))
		h.alone = alone.Difference(alone.Above(h.given))
	}
	return h, err
}

// Created returns an object that the applier is going to create with the record that it has after the applier gave up
// what it wants to.
func Created(made *unstructured.Unstructured, wanted Wanted) (*unstructured.Unstructured, error) {
	if len(wanted.GiveUp) == 0 {
		return made, nil
	}
	version := made.GetResourceVersion()
	versioned := made.DeepCopy()
	versioned.SetResourceVersion("0") // a dry run answers none
	h, err := Find(versioned, wanted)
	if err != nil || h == nil {
		return made, err
	}
	h.after.SetResourceVersion(version)
	return h.after, nil
}

// makes notes what the object is after the handover, and who owns what then.
func (h *Handover) makes(after *unstructured.Unstructured, owners fieldowner.Ownership) {
	isOurs := h.wanted.Applier.Is
	h.after, h.own, h.others = after, owners.Fields(isOurs), owners.Fields(func(o fieldowner.Owner) bool { return !isOurs(o) })
}

// ask has the server try the change of hands. It may have something against the object as it is, such as a policy that
// came later. Its record is by the definition of now: of a list or map that has become one whole it has no parts any
// more. Source: Updater.reconcileManagedFieldsWithSchemaChanges in sigs.k8s.io/structured-merge-diff/v6/merge. Declared
// is what the server records of the manifest.
func (h *Handover) ask(server Server, declared projection.FieldSet) error {
	if err := h.clearByToday(server, declared); err != nil {
		return err
	}
	patch, err := h.Patch()
	if err != nil {
		return err
	}
	answer, err := server.HandOver(patch)
	if err != nil {
		return err
	}
	after := h.after.DeepCopy()
	after.SetManagedFields(answer.GetManagedFields())
	owners, err := fieldowner.Read(after.Object)
	if err != nil {
		return err
	}
	before, err := fieldowner.Read(h.live.Object)
	if err != nil {
		return err
	}
	if err := h.partOfWhole(server, before, owners); err != nil {
		return err
	}
	if owners.Equal(before) {
		return applier.ErrKept
	}
	h.makes(after, owners)
	return nil
}

// kept returns what the applier owns after the apply of the manifest, given what it owns of one with what is given up:
// all but that, and what is there for it alone: items of lists, and lists and maps that have become one whole. Items
// have their names of today in those fields, and maybe others in what is given up.
func (h *Handover) kept(fields projection.FieldSet, manifest map[string]any) projection.FieldSet {
	sent := projection.NewManifest(manifest, fields)
	gone := h.given
	for p := range fields.Above(h.given).All() {
		if _, exists := sent.Get(p); !exists {
			gone = gone.Union(projection.NewFieldSet(p))
		}
	}
	for p := range h.given.Leaves().All() {
		for n := 1; n < len(p); n++ {
			if _, exists := sent.Get(p[:n]); !exists && isItem(p[:n]) {
				gone = gone.Union(projection.NewFieldSet(p[:n]))
				break
			}
		}
	}
	return without(fields, gone).Union(h.around(fields, sent))
}

// around returns the maps and lists of which the applier owns no part once fields in them are given up, and which it
// owns as such all the same, given what it owns with those: lists and maps that have become one whole and that the
// manifest declares, maps that it declares as empty, and what it has as null. Of an empty list of named items a server
// records nothing, but the entry of a map that has nothing but such a list is recorded.
func (h *Handover) around(fields projection.FieldSet, sent *projection.Object) projection.FieldSet {
	var paths []projection.Path
	for p := range h.given.Leaves().All() {
		for n := len(p) - 1; n > 0; n-- {
			value, declared := sent.Get(p[:n])
			isWhole := !isItem(p[:n]) && fields.Under(p[:n]).Equal(projection.NewFieldSet(p[:n]))
			isEntry := fields.Has(p[:n]) && !isItem(p[:n])
			isEmptied := !isEmptyList(value) && isHollow(value) && (isEmpty(value) || value == nil || isEntry)
			if declared && (isWhole || isEmptied) {
				paths = append(paths, p[:n])
			}
		}
	}
	return projection.NewFieldSet(paths...)
}

// Of returns the live object as it is after the handover: with another record, unless h is nil. That is the server's
// once [Handover.Try] has asked for it.
func (h *Handover) Of(live *unstructured.Unstructured) *unstructured.Unstructured {
	if h == nil {
		return live
	}
	return h.after
}

// Unpinned returns the manifest without the version of the object that it is for, if that is the one before the
// handover, which makes another one: the handover is for that version alone, and the apply for the one that it makes.
// Was is the object before one that is done.
func (h *Handover) Unpinned(manifest map[string]any, was *unstructured.Unstructured) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: manifest}
	if h != nil {
		was = h.live
	}
	if was == nil || obj.GetResourceVersion() == "" || obj.GetResourceVersion() != was.GetResourceVersion() {
		return obj
	}
	out := obj.DeepCopy()
	unstructured.RemoveNestedField(out.Object, "metadata", "resourceVersion")
	return out
}

// Conflicts returns those of the conflicts that are with others than who is taken over from, all of them if h is nil.
func (h *Handover) Conflicts(all []fieldowner.Conflict) []fieldowner.Conflict {
	if h == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c fieldowner.Conflict) bool { return h.wanted.takes(c.Owner) })
}

// Try returns the object as the apply of the manifest, whose JSON is in body, makes it after the handover, if there is
// one.
//
// The server is also asked whether it lets the fields change owners. No dry run does both, so what the handover adds is
// put into the answer to an apply to the object as it is: fields that are given up are sent with their live values,
// since the server would remove them, and what was taken over and isn't applied is removed by a second dry run, in
// which the server fills in its defaults. If the server refuses that apply, because of what is going to be removed
// maybe, the two are merged here.
func (h *Handover) Try(server Server, manifest map[string]any, body []byte) (*unstructured.Unstructured, error) {
	if h == nil {
		return server.Apply(body)
	}
	made, err := h.try(server, manifest)
	if err != nil || made.GetResourceVersion() != h.live.GetResourceVersion() {
		return made, err
	}
	return h.withCopy(h.inOrder(made), body)
}

// inOrder returns the object with the record of after the handover, if the apply changes nothing of that: what a dry
// run or a merge answers has it in another order.
func (h *Handover) inOrder(made *unstructured.Unstructured) *unstructured.Unstructured {
	before, _ := fieldowner.Read(h.after.Object) // both of which could be read
	if after, err := fieldowner.Read(made.Object); err != nil || !after.Equal(before) {
		return made
	}
	out := made.DeepCopy()
	out.SetManagedFields(h.after.GetManagedFields())
	return out
}

// try is Try but for the order of the record.
func (h *Handover) try(server Server, manifest map[string]any) (*unstructured.Unstructured, error) {
	body, err := fastjson.Encode(h.withGiven(manifest))
	if err != nil {
		return nil, err
	}
	answer, err := server.Apply(body)
	conflicts := fieldowner.ConflictsOfApply(err, h.live.Object, manifest)
	if len(conflicts) > 0 && len(h.declared(h.Conflicts(conflicts), manifest)) == 0 {
		answer, err = server.Force(body)
	}
	if apierrors.IsInvalid(err) || h.movesAfter(err) {
		return h.tryMerged(server, manifest, err)
	}
	if err != nil || answer.GetResourceVersion() != h.live.GetResourceVersion() {
		return answer, err
	}
	if !h.hidden.Empty() {
		return h.tryHidden(server, manifest, answer.Object)
	}
	owners, err := fieldowner.Read(answer.Object)
	if err != nil {
		return nil, err
	}
	if unsendable := h.unsendable(manifest, owners); !unsendable.Empty() {
		h.given = h.given.Without(unsendable)
		return h.try(server, manifest)
	}
	// Not before it is known that the server gets the dryRun of an apply.
	err = h.ask(server, owners.Fields(h.wanted.Applier.Is))
	if errors.Is(err, applier.ErrKept) && h.onlyClears() {
		h.isIdle = true
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	h.nameAsIn(owners)
	// Of an object without managedFields a server records all as written before its first apply, but not after the
	// handover.
	isUnrecorded := len(h.live.GetManagedFields()) == 0
	made, err := change(answer.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if h.wanted.takes(e.Owner) || isUnrecorded && e.Manager == fieldowner.BeforeFirstApply {
			e.Fields = projection.FieldSet{}
		} else if h.wanted.Applier.Is(e.Owner) { // who may write into a map that is cleared, as stringData does
			e.Fields = h.kept(e.Fields, manifest).Difference(h.clears)
		} else {
			e.Fields = e.Fields.Without(h.clears)
		}
		return h.wanted.moved(e, h.live)
	})
	if err != nil {
		return nil, err
	}
	left, err := h.withoutDropped(server, made, h.alone)
	if err != nil || left == nil {
		return &unstructured.Unstructured{Object: made}, err
	}
	left.declareEmpty(manifest)
	return h.tryUpdate(server, manifest, made, left)
}

// declared returns those of the conflicts that are over fields of the manifest, and not over what is given up and sent
// with it.
func (h *Handover) declared(conflicts []fieldowner.Conflict, manifest map[string]any) []fieldowner.Conflict {
	sent := projection.NewManifest(manifest, h.own)
	return slices.DeleteFunc(slices.Clone(conflicts), func(c fieldowner.Conflict) bool {
		_, declared := sent.Get(c.Path)
		return len(c.Path) > 0 && !declared && !h.given.Under(c.Path).Empty()
	})
}

// unsendable returns the fields that are given up and that can't be sent with their live values, given the owners after
// they were sent: those that name items today, though not when they were recorded; those in an item that has another
// key today than the item with its former key in the manifest; and those in a list or map of others that has become one
// whole, and that the manifest lacks. What is in such an item stays without being sent, since a server doesn't find it
// by the record, and so does the whole of others.
func (h *Handover) unsendable(manifest map[string]any, owners fieldowner.Ownership) projection.FieldSet {
	own := owners.Fields(h.wanted.Applier.Is)
	there := projection.NewObject(h.live.Object, own)
	var sent *projection.Object
	isElsewhere := func(was, is projection.Path) bool {
		for n := 1; n <= len(was); n++ {
			if was[n-1].Kind() != projection.KeyKind || was[n-1] == is[n-1] || own.Has(is[:n]) {
				continue
			}
			if sent == nil {
				sent = projection.NewManifest(h.withGiven(manifest), h.own.Union(h.given))
			}
			if _, exists := sent.Get(was); exists {
				return true
			}
		}
		return false
	}
	var out []projection.Path
	for p := range h.given.Leaves().All() {
		today := there.Resolve(p)
		isName := today.IsKey() && !p.IsKey()
		if isName || isElsewhere(p, today) || h.isInWholeOfOthers(today, own, manifest) {
			out = append(out, p)
		}
	}
	return projection.NewFieldSet(out...)
}

// isInWholeOfOthers reports whether p is in a list or map that the server records as one whole for the applier, that
// the manifest lacks, and in which others own something.
func (h *Handover) isInWholeOfOthers(p projection.Path, own projection.FieldSet, manifest map[string]any) bool {
	sent := projection.NewManifest(manifest, own)
	for n := 1; n < len(p); n++ {
		isWhole := !isItem(p[:n]) && own.Under(p[:n]).Equal(projection.NewFieldSet(p[:n]))
		if _, declared := sent.Get(p[:n]); isWhole && !declared && !h.others.Under(p[:n]).Empty() {
			return true
		}
	}
	return false
}

// nameAsIn adds the names by which the record of an answer has the items in which fields are given up or cleared: a
// server rounds large numbers in a record that it reads, and names items by the keys of today in one that it writes.
func (h *Handover) nameAsIn(owners fieldowner.Ownership) {
	there := projection.NewObject(h.live.Object, owners.Fields(nil))
	today := projection.NewObject(h.live.Object, owners.Fields(h.wanted.Applier.Is)) // others keep the names of before
	for _, fields := range []*projection.FieldSet{&h.given, &h.clears} {
		var names []projection.Path
		for p := range fields.All() {
			names = append(names, there.Resolve(p), today.Resolve(p))
		}
		*fields = fields.Union(projection.NewFieldSet(names...))
	}
	h.clears = h.clears.Union(h.clearedWholes())
}

// clearedWholes returns the lists and maps that have become one whole, and that the manifest lacks, of which the
// applier took over the recorded parts to clear them.
func (h *Handover) clearedWholes() projection.FieldSet {
	var wholes []projection.Path
	sent := projection.NewManifest(h.wanted.Manifest, h.own)
	for p := range h.clears.All() {
		for n := 1; n < len(p); n++ {
			_, declared := sent.Get(p[:n])
			isWhole := h.own.Under(p[:n]).Equal(projection.NewFieldSet(p[:n])) && !h.others.Touches(p[:n])
			if isWhole && !declared {
				wholes = append(wholes, p[:n])
			}
		}
	}
	return projection.NewFieldSet(wholes...)
}

// IsIdle reports whether the server had nothing to do for the handover that was tried: what it clears are parts of a
// list or map that the applier owns as a whole, and that the manifest declares without them.
func (h *Handover) IsIdle() bool { return h != nil && h.isIdle }

// onlyClears reports whether nothing else changes owners than what is cleared.
func (h *Handover) onlyClears() bool {
	others := h.wanted
	others.Clear = nil
	rest, err := Find(h.live, others)
	return err == nil && rest == nil && !h.clears.Empty()
}

// tryUpdate returns the object as the server makes it of the live one with the content that is left of the one that the
// apply makes.
func (h *Handover) tryUpdate(
	server Server, manifest, made map[string]any, left *remains,
) (*unstructured.Unstructured, error) {
	patch, err := contentPatch(h.live, left.object)
	if err != nil {
		return nil, err
	}
	answer, err := server.Patch(patch)
	if err != nil || answer.GetResourceVersion() != h.live.GetResourceVersion() {
		return answer, err
	}
	if nulls := left.lostNulls(answer.Object); len(nulls) > 0 {
		if err := h.tryNulls(server, manifest, nulls); err != nil {
			return nil, err
		}
	}
	return h.withRecord(answer, made, left)
}

// withGiven returns the manifest with the live values of the fields that are given up, but for those in a list item
// that goes. The items that come with them stand where a server has them that is sent the manifest without them.
func (h *Handover) withGiven(manifest map[string]any) map[string]any {
	if h.given.Empty() {
		return manifest
	}
	fields := h.own.Union(h.given)
	out, _ := projection.Patterns{}.Remove(manifest) // a copy
	live, sent := projection.NewObject(h.live.Object, fields), projection.NewManifest(out, fields)
	orders := listOrders(h.given, live, sent, h.addGiven(live, sent))
	for p := range h.given.Leaves().All() {
		at, value := stored(live, p)
		if _, isSent := sent.Get(at); !h.isInDropped(p, sent) && (len(at) == len(p) || !isSent) {
			_ = sent.Set(at, value) // what can't be set isn't sent, and shows as a change then
		}
	}
	for _, o := range orders {
		if _, exists := sent.Get(o.list); exists {
			_ = o.restore(sent) // which has the list
		}
	}
	return out
}

// addGiven puts those items that are given up into what is sent in whose place another one would be found: the manifest
// doesn't have them any more, and it may have a new item that leaves out what tells the two apart. It returns them.
func (h *Handover) addGiven(live, sent *projection.Object) projection.FieldSet {
	var added []projection.Path
	for p := range h.given.All() {
		list, name := p[:len(p)-1], p[len(p)-1]
		found, isFound := mapAt(sent, p)
		_, isThere := live.Get(p)
		lacks := func(key string) bool { return found[key] == nil }
		if !isFound || !isThere || !slices.ContainsFunc(slices.Collect(maps.Keys(name.KeyFields())), lacks) {
			continue
		}
		value, _ := sent.Get(list)
		items, _ := value.([]any)
		if sent.Set(list, append(slices.Clip(items), name.KeyFields())) == nil {
			added = append(added, p)
		}
	}
	return projection.NewFieldSet(added...)
}

// stored returns what the object has at p, or, as an empty one, the nearest map around it: built-in kinds don't store
// empty lists.
func stored(obj *projection.Object, p projection.Path) (projection.Path, any) {
	value, exists := obj.Get(p)
	for !exists {
		p = p[:len(p)-1] // as far as the object itself
		_, exists = mapAt(obj, p)
		value = map[string]any{}
	}
	return p, value
}

// isInDropped reports whether p is in a list item that the applier alone owns and no longer sends.
func (h *Handover) isInDropped(p projection.Path, sent *projection.Object) bool {
	for n := len(p) - 1; n > 0; n-- {
		if _, exists := sent.Get(p[:n]); !exists && p[n-1].Kind() != projection.FieldKind && h.own.Has(p[:n]) && !h.others.Has(p[:n]) {
			return true
		}
	}
	return false
}

// withRecord returns the answer with the record of the object that the apply makes, in which others lose what goes with
// what is dropped. What a server takes away beyond that, as another type of a Service does, stays in the record of who
// wrote it. An item that is named by a default which was dropped is found in the answer alone. Source:
// FieldManager.Apply in k8s.io/apimachinery/pkg/util/managedfields/internal, after which a strategy prepares the
// update.
func (h *Handover) withRecord(answer *unstructured.Unstructured, made map[string]any, left *remains) (*unstructured.Unstructured, error) {
	out := answer.DeepCopy()
	out.SetManagedFields((&unstructured.Unstructured{Object: made}).GetManagedFields())
	content, err := change(out.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if !h.wanted.Applier.Is(e.Owner) {
			gone := missing(answer.Object, missing(left.object, e.Fields))
			e.Fields = e.Fields.Without(gone.Difference(missing(made, gone)))
		}
		return e
	})
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}
