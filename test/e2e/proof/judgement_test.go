package proof_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// judgeApply compares the plan with an apply that the server accepted.
func (t *trial) judgeApply(ctx context.Context) {
	if !t.check(create, t.planIs(ssaplan.ActionCreate) == (t.before == nil), "planned %s, object existed: %t", t.plan.Action, t.before != nil) {
		return
	}
	unchanged := t.before != nil && t.before.GetResourceVersion() == t.after.GetResourceVersion()
	if t.planIs(ssaplan.ActionNoOp) && !unchanged {
		t.judgeRewrite(ctx)
		return
	}
	if endsDeletion(t.before, t.after) {
		t.outcome, unchanged = gone, false
		t.check(noOp, slices.ContainsFunc(t.plan.Warnings, func(w foreign.Text) bool {
			return strings.HasSuffix(string(w), "the object will be deleted; plan again to create it")
		}),
			"the apply removed the object; planned %v, warnings %q", t.plan, t.plan.Warnings)
	}
	t.check(noOp, t.planIs(ssaplan.ActionNoOp) == unchanged, "planned %v; resourceVersion unchanged: %t; after: %v", t.plan, unchanged, t.after)
	t.judgeValues(t.after)
	t.judgeOwners()
	t.judgeFates()
	t.judgeIgnored()
	if t.planIs(ssaplan.ActionUpdate) {
		unlisted := unlistedChanges(t.before.Object, t.after.Object, t.plan.Changes, t.filled(ctx))
		t.check(sideEffects, len(unlisted) == 0, "%s; listed: %v", strings.Join(unlisted, "\n"), t.plan.Changes)
		t.unlisted = unlisted
	}
}

// endsDeletion reports whether an apply took the last finalizer of an object that was being deleted. The server removes
// such an object, and answers with what it was.
func endsDeletion(before, after *unstructured.Unstructured) bool {
	return before != nil && before.GetDeletionTimestamp() != nil && len(before.GetFinalizers()) > 0 && len(after.GetFinalizers()) == 0
}

// judgeRewrite judges a no-op after which the object has another resourceVersion. Servers store objects of some kinds
// once more, although nothing in them changes. A dry run doesn't show that. It doesn't show either that the apply comes
// in a later second, which changes the order of managedFields entries of the same time.
func (t *trial) judgeRewrite(ctx context.Context) {
	again, err := t.object.apply(ctx, t.wire, t.step)
	before, after := withoutTimes(t.before), withoutTimes(t.after)
	before.SetResourceVersion(after.GetResourceVersion())
	settled := err == nil && again.GetResourceVersion() == t.after.GetResourceVersion()
	if t.check(noOp, reflect.DeepEqual(before.Object, after.Object) && settled,
		"planned %v; the object changed; settled: %t %v\nbefore %v\nafter %v", t.plan, settled, err, t.before, t.after) {
		t.outcome = rewritten
	}
}

// withoutTimes returns the object with its records in an order that no time has a part in.
func withoutTimes(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	records := obj.GetManagedFields()
	for i := range records {
		records[i].Time = nil
	}
	slices.SortFunc(records, func(a, b metav1.ManagedFieldsEntry) int { return strings.Compare(a.String(), b.String()) })
	obj.SetManagedFields(records)
	return obj
}

// isRecordedAsNull reports whether p lies in an item of a list that is recorded with a null among its key fields. A
// server records the null that an apply sends, and gives the item the default: no item has the name that it records.
func isRecordedAsNull(p projection.Path, recorded projection.FieldSet) bool {
	for q := range recorded.All() {
		isSame := func(a, b projection.Element) bool {
			key, sent := a.KeyFields(), b.KeyFields()
			isSent := func(name string) bool { _, exists := sent[name]; return exists }
			for name, w := range sent {
				if w != nil && key[name] != w {
					return false
				}
			}
			return a == b || len(sent) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(key)), func(name string) bool { return !isSent(name) })
		}
		if slices.EqualFunc(p, q, isSame) {
			return true
		}
	}
	return false
}

// judgeValues compares the values. Made is the new object without what admission changed of it at a second write.
func (t *trial) judgeValues(made *unstructured.Unstructured) {
	recorded, err := managedFields(t.after.Object, t.step.applier())
	declared := t.memory.state.Applied.Fields
	unrecorded := slices.DeleteFunc(slices.Collect(declared.Difference(recorded).All()), func(p projection.Path) bool { return isRecordedAsNull(p, recorded) })
	t.check(values, err == nil && len(unrecorded) == 0, "declared, but not recorded: %v", unrecorded)
	t.check(values, declared.Equal(t.plan.After.Fields), "declared fields:\n%s, in reality:\n%s", t.plan.After.Fields, declared)
	t.compareValues("after", t.plan.After, projection.Project(t.after.Object, declared))
	if t.before != nil {
		t.compareValues("before", t.plan.Before, projection.Project(t.before.Object, declared))
	}
	t.judgeBaseline(t.plan, t.prior)
	if t.planIs(ssaplan.ActionNoOp) {
		t.check(values, len(t.plan.Changes) == 0, "a no-op changes %v", t.plan.Changes)
	}
	if t.plan.Subresource != "scale" { // where what is there afterwards is the object, and the answer a Scale
		unforeseen, err := t.plan.Differences(t.after)
		isAsPlanned := len(unforeseen) == 0 || t.hookedTwice
		t.check(values, err == nil && isAsPlanned, "made otherwise than planned: %v %v", unforeseen, err)
	}
	for _, c := range t.plan.Changes {
		if timesOfWrites.Has(c.Path.String()) {
			continue
		}
		wrong := wrongValues(withAssigned(c, t.plan.Changes, made), t.before, made)
		t.check(values, wrong == "", "%s", wrong)
	}
}

func (t *trial) compareValues(when string, planned, real projection.Projection) {
	real = real.Replace(emptyIn(planned), t.emptyInManifest)
	t.check(values, reflect.DeepEqual(planned.Object, real.Object) && len(projection.Diff(planned, real)) == 0,
		"planned and real values %s: %v", when, projection.Diff(planned, real))
}

// emptyIn returns the declared fields that the plan has as empty maps or lists, and as items with nothing but what
// names them.
func emptyIn(planned projection.Projection) projection.FieldSet {
	var found []projection.Path
	for p, v := range planned.Leaves() {
		if key := p[len(p)-1].KeyFields(); isEmptyOrNull(v) || key != nil && reflect.DeepEqual(v, any(key)) {
			found = append(found, p)
		}
	}
	return projection.NewFieldSet(found...)
}

// emptyInManifest returns an empty map or list for one in which the manifest has nothing that a server records, such as
// an empty list or null, and for an item what names it: what the real object has in it isn't declared.
func (t *trial) emptyInManifest(at projection.Path, v any) any {
	if !slices.ContainsFunc(valuesAt(t.wire.Object, at), isHollow) {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		name := map[string]any{}
		for field := range at[len(at)-1].KeyFields() {
			if key, exists := v[field]; exists {
				name[field] = key
			}
		}
		return name
	case []any:
		return []any{}
	}
	return v
}

// isHollow reports whether v is empty, null, or a map of nothing else. Of an empty set or keyed list a server records
// no more than the map in which it is.
func isHollow(v any) bool {
	fields, isMap := v.(map[string]any)
	for _, field := range fields {
		if !isHollow(field) {
			return false
		}
	}
	return isMap || isEmptyOrNull(v)
}

func isEmptyOrNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// valuesAt returns what a manifest may have at a path: an item of a list is any that has no other key than the path.
func valuesAt(v any, path projection.Path) []any {
	if len(path) == 0 {
		return []any{v}
	}
	var found []any
	switch v := v.(type) {
	case map[string]any:
		if child, exists := v[path[0].Name()]; exists {
			found = valuesAt(child, path[1:])
		}
	case []any:
		for i, item := range v {
			fields, isMap := item.(map[string]any)
			isNamed := path[0].Kind() == projection.KeyKind && isMap && fits(fields, path[0].KeyFields())
			isValue := path[0].Kind() == projection.ValueKind && reflect.DeepEqual(item, path[0].Value())
			if isNamed || isValue || path[0].Kind() == projection.IndexKind && path[0].Index() == i {
				found = append(found, valuesAt(item, path[1:])...)
			}
		}
	}
	return found
}

func fits(fields, key map[string]any) bool {
	for name, want := range key {
		if v := fields[name]; v != nil && !reflect.DeepEqual(v, want) { // the item of null has the default
			return false
		}
	}
	return true
}

var key = regexp.MustCompile(`\[name=("[^"]*")[^\]]*\]`)

// withoutKeys returns the lines with items named by the first of their keys.
func withoutKeys(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, key.ReplaceAllString(line, "[name=$1]"))
	}
	return out
}

func (t *trial) judgeOwners() {
	var before fieldowner.Ownership
	if t.before != nil {
		before, _ = fieldowner.Read(t.before.Object)
	}
	real, err := fieldowner.Read(t.after.Object)
	t.check(owners, err == nil, "%v", err)
	if t.dryRun != nil {
		predicted, err := fieldowner.Read(t.dryRun.Object)
		t.check(owners, err == nil && predicted.Equal(real), "dry run:\n%v\nreality:\n%v", predicted.Entries(), real.Entries())
	}
	if t.before != nil {
		ours := t.step.applier().Is
		lost := lostFields(t.before, t.after, before, real, ours)
		if t.handedOver { // updates own maps and lists as such, applies what is in them
			lost = slices.DeleteFunc(lost, func(line string) bool { return isKept(line, real) })
		}
		want, planned := append(changedOwners(t.before.Object, before, real, ours), lost...), ownerLines(t.plan.Ownership)
		if len(t.object.redefined) > 0 && hasMixedKeys(t.before, t.after) {
			// Items have the names of today in a plan.
			want, planned = withoutKeys(want), withoutKeys(planned)
		}
		if t.replaced { // controllers write the status again, so a replacement doesn't speak of its owners
			want = slices.DeleteFunc(want, func(line string) bool { return strings.HasPrefix(line, "status") })
		}
		slices.Sort(want)
		slices.Sort(planned)
		t.check(owners, slices.Equal(want, planned), "planned %v, in reality %v: %v", t.plan.Ownership, want, real.Entries())
	}
}

// changedOwners returns the changes of owners of each field that we apply, one line each, as [fieldowner.Compare]
// reports them. It finds them in managedFields. For items that are recorded by former keys, it also uses the object
// from before.
func changedOwners(live map[string]any, before, after fieldowner.Ownership, ours func(fieldowner.Owner) bool) []string {
	others := func(o fieldowner.Ownership, p projection.Path) map[string]bool {
		found := map[string]bool{}
		for _, e := range o.Entries() {
			if !ours(e.Owner) && hasRenamed(live, e.Fields, p) {
				found[nameOf(e.Owner)] = true
			}
		}
		return found
	}
	var out []string
	had, has := before.Fields(ours), after.Fields(ours)
	for p := range had.Union(has).All() {
		was, is := others(before, p), others(after, p)
		lost, won := without(was, is), without(is, was)
		switch {
		case has.Has(p) && lost > 0:
			out = append(out, p.String()+" Taken")
		case !has.Has(p) && won > 0:
			out = append(out, p.String()+" Lost")
		case !hasRenamed(live, has, p):
			out = append(out, p.String()+" GivenUp")
		}
		if has.Has(p) && (won > 0 || !hasRenamed(live, had, p) && len(is) > 0) {
			out = append(out, p.String()+" Shared")
		}
	}
	return out
}

// nameOf returns what a server knows an owner by. One who applies is the same in each version, and stays it when its
// record is moved to another one.
//
// Source: k8s.io/apimachinery, pkg/util/managedfields/internal, BuildManagerIdentifier.
func nameOf(o fieldowner.Owner) string {
	if o.Operation == fieldowner.OperationApply {
		return o.String()
	}
	return o.String() + o.APIVersion.String()
}

// hasRenamed reports whether the fields have p, maybe in an item that has more or fewer keys since its definition was
// changed.
func hasRenamed(live map[string]any, fields projection.FieldSet, p projection.Path) bool {
	if fields.Has(p) {
		return true
	}
	for q := range fields.All() {
		if len(q) != len(p) {
			continue
		}
		n := 0
		for n < len(p) && (p[n] == q[n] || isSameItem(live, p[:n], p[n], q[n])) {
			n++
		}
		if n == len(p) {
			return true
		}
	}
	return false
}

// isSameItem reports whether two names can be of one item of a list, of which one has more keys than the other. The one
// with fewer keys isn't of an item that comes to be where there was another one that it fits.
func isSameItem(live map[string]any, list projection.Path, a, b projection.Element) bool {
	if a.Kind() != projection.KeyKind || b.Kind() != projection.KeyKind {
		return false
	}
	if !isPart(a.KeyFields(), b.KeyFields()) {
		a, b = b, a
	}
	return isPart(a.KeyFields(), b.KeyFields()) &&
		(len(valuesAt(live, list.Child(a))) == 0 || len(valuesAt(live, list.Child(b))) > 0)
}

// lostFields says of each field that others own that no manager owns then, and whether the object has it as it was.
func lostFields(was, is *unstructured.Unstructured, before, after fieldowner.Ownership, ours func(fieldowner.Owner) bool) (out []string) {
	anybody := func(fieldowner.Owner) bool { return true }
	others := before.Fields(func(o fieldowner.Owner) bool { return !ours(o) })
	left := after.Fields(anybody)
	for p := range others.Difference(left).All() {
		if !hasRenamed(was.Object, left, p) { // as those are that were adopted, and are applied by other keys now
			out = append(out, p.String()+" "+string(lossOf(was, is, before, p)))
		}
	}
	return out
}

// lossOf says what became of a field that no manager owns any more. A map or an item in which others own something is
// lost only if it goes or becomes something else.
func lossOf(was, is *unstructured.Unstructured, before fieldowner.Ownership, p projection.Path) fieldowner.TransferKind {
	old, existed := projection.Get(was.Object, p)
	now, exists := projection.Get(is.Object, p)
	_, wasMap := old.(map[string]any)
	_, wasList := old.([]any)
	_, isMap := now.(map[string]any)
	_, isList := now.([]any)
	hasParts := before.Fields(nil).Under(p).Len() > 1 && wasMap == isMap && wasList == isList
	if existed && (!exists || !hasParts && !reflect.DeepEqual(old, now)) {
		return fieldowner.TransferDestroyed
	}
	return fieldowner.TransferDisowned
}

// isKept reports whether a field that is called lost is one in which a manager owns something.
func isKept(line string, after fieldowner.Ownership) bool {
	p, err := projection.ParsePath(strings.TrimSuffix(strings.TrimSuffix(line, " Destroyed"), " Disowned"))
	return err == nil && !after.Fields(nil).Under(p).Empty()
}

// without returns how many names are not among others.
func without(names, others map[string]bool) (n int) {
	for name := range names {
		if !others[name] {
			n++
		}
	}
	return n
}

func ownerLines(changes []fieldowner.Transfer) []string {
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s %s", c.Path, c.Kind))
	}
	return out
}

// judgeCauses checks that what changes isn't called edited if the manifest has there what the one before it had.
func (t *trial) judgeCauses() {
	last := t.memory.last
	if last == nil || t.before == nil || t.prior == nil || !last.except.Empty() || !t.except.Empty() {
		return
	}
	stamped, altered := stampedPlaces(t.plan.Changes), alteredOnCreate[t.object.gvk.Kind]
	for _, c := range t.plan.Changes {
		if c.Cause == explain.CauseEdited && c.Op != projection.OpMove && !stamped[c.Path.String()] && c.Path.String() != altered && !t.object.isRedefined(c.Path) {
			was, is := valuesAt(last.manifest.Object, c.Path), valuesAt(t.manifest.Object, c.Path)
			kept, isKept := projection.NewObject(t.prior.Applied.Object, t.prior.Applied.Fields).Get(c.Path)
			if len(was) == 1 && (!reflect.DeepEqual(kept, was[0]) || !isKept) {
				continue // the server made something else of it, or the null wasn't sent, and that is what is remembered
			}
			t.check(causes, len(is) != 1 || !reflect.DeepEqual(was, is), "%v: called edited, and is as it was in the manifest", c)
		}
	}
}

// isCutShort reports whether the plan names a whole list for an ignored item whose name may be secret.
func (t *trial) isCutShort(p projection.Path) bool {
	return slices.ContainsFunc(slices.Concat(t.except.Ignore, t.giveUp), func(ignored projection.Pattern) bool {
		return strings.HasPrefix(ignored.String(), p.String()+"[")
	})
}

// judgeIgnored checks that ignored fields keep their values and their other owners, and that the plan shows no change
// of them.
func (t *trial) judgeIgnored() {
	if t.before == nil {
		return
	}
	owners, err := fieldowner.Read(t.before.Object)
	t.check(ignored, err == nil, "%v", err)
	now, err := fieldowner.Read(t.after.Object)
	t.check(ignored, err == nil, "%v", err)
	for _, f := range t.plan.Ignored {
		if f.Handling == explain.HandlingSent {
			continue
		}
		if t.isCutShort(f.Path) || t.isNamelessItem(f.Path) || t.object.isRedefined(f.Path) || projection.ServerMetadata().Covers(f.Path) {
			continue // also what each write changes
		}
		place := t.placeBefore(f.Path)
		if place == nil {
			continue // in one of several equal items
		}
		was, existed := valueAt(t.before, place)
		is, exists := valueAt(t.after, f.Path)
		isSent := len(valuesAt(t.wire.Object, f.Path)) > 0
		isShown := slices.ContainsFunc(t.plan.Changes, func(c explain.Change) bool {
			isWhole := len(c.Path) < len(f.Path)
			isDefault := isWhole && (!existed && !isSent || isMapWith(is, was)) // in a list or map that is changed as a whole
			isAround := c.Path.HasPrefix(f.Path) || f.Path.HasPrefix(c.Path)
			return isAround && (c.Cause == explain.CauseSideEffect || isDefault) // what admission or the server does there
		})
		t.check(ignored, isShown || existed == exists && reflect.DeepEqual(was, is), "%s: was %v, is %v", f.Path, was, is)
		for _, o := range f.Owners {
			had, has := owners.Fields(o.Is).Under(f.Path), now.Fields(o.Is).Under(f.Path)
			lost := slices.DeleteFunc(slices.Collect(had.Difference(has).All()), t.object.isRedefined)
			t.check(ignored, len(lost) == 0, "%s: %s owned %s, and owns %s", f.Path, o, had, has)
		}
		for _, c := range t.plan.Changes {
			t.check(ignored, c.Cause == explain.CauseSideEffect || !c.Path.HasPrefix(f.Path), "%s is ignored: %v", f.Path, c)
		}
	}
}

// isMapWith reports whether v is a map that has all that another map has.
func isMapWith(v, other any) bool {
	m, isMap := v.(map[string]any)
	had, wasMap := other.(map[string]any)
	for name, value := range had {
		if !reflect.DeepEqual(m[name], value) {
			return false
		}
	}
	return isMap && wasMap
}

// placeBefore returns where the object had what an apply leaves as it is at p. An item of a list with one owner has no
// name, and another position once the manifest has an item in front of it. What is ignored in it moves along, as
// [projection.Patterns.Hold] says: left at its position, it would be in another item. A pattern that has the position
// means that one. It returns nil if the item is one of equal ones, of which others came or went.
func (t *trial) placeBefore(p projection.Path) projection.Path {
	isMatch := func(pattern projection.Pattern) bool { return pattern.Match(p) }
	if !slices.ContainsFunc(t.except.Ignore.WithoutPositions(), isMatch) {
		return p
	}
	was, _ := t.except.Ignore.Remove(t.before.Object)
	is, _ := t.except.Ignore.Remove(t.after.Object)
	out := slices.Clone(p)
	for n, e := range p[:len(p)-1] {
		if e.Kind() != projection.IndexKind {
			continue
		}
		theirs, _ := valueAt(&unstructured.Unstructured{Object: was}, out[:n])
		mine, _ := valueAt(&unstructured.Unstructured{Object: is}, p[:n])
		at := positionsBefore(asList(mine), asList(theirs))[e.Index()]
		if at == anyPosition {
			return nil
		}
		t.check(ignored, at != noPosition, "%s: which item it was is a guess", p)
		out[n] = projection.Index(max(at, 0))
	}
	return out
}

// What positionsBefore says of an item that may have had none, and of one of several equal ones.
const noPosition, anyPosition = -1, -2

// positionsBefore returns at which positions another list has each item of a list, by their own: one that has the same,
// or more, or else the only one left over between the same neighbours.
func positionsBefore(items, others []any) []int {
	found, like := make([]int, len(items)), make([][]int, len(items))
	for i, item := range items {
		for at, other := range others {
			if isPartOf(item, other) {
				like[i] = append(like[i], at)
			}
		}
	}
	for i := range items {
		var beside []int
		for k := range items {
			if slices.Equal(like[k], like[i]) {
				beside = append(beside, k)
			}
		}
		switch {
		case like[i] == nil:
			found[i] = noPosition
		case len(beside) == len(like[i]):
			found[i] = like[i][slices.Index(beside, i)]
		default:
			found[i] = anyPosition
		}
	}
	proven := slices.Clone(found)
	for i := range items {
		if found[i] != noPosition || i > 0 && found[i-1] < 0 || i+1 < len(items) && found[i+1] < 0 {
			continue
		}
		before, after := -1, len(others)
		if i > 0 {
			before = found[i-1]
		}
		if i+1 < len(items) {
			after = found[i+1]
		}
		if after-before == 2 && !slices.Contains(found, before+1) {
			proven[i] = before + 1
		}
	}
	return proven
}

// isPartOf reports whether another value has all of a value, and the same order in lists.
func isPartOf(v, other any) bool {
	switch v := v.(type) {
	case map[string]any:
		fields, isMap := other.(map[string]any)
		for name, field := range v {
			if it, exists := fields[name]; !exists || !isPartOf(field, it) {
				return false
			}
		}
		return isMap
	case []any:
		items, isList := other.([]any)
		return isList && slices.EqualFunc(v, items, isPartOf)
	}
	return reflect.DeepEqual(v, other)
}

// judgeGuess looks at the refusal to leave parts of the items of a list as they are: there must be a choice.
func (t *trial) judgeGuess() {
	at, _, isGuess := strings.Cut(t.planErr.Error(), ": the object has other items there")
	if !isGuess || t.before == nil {
		return
	}
	path, err := projection.ParsePath(at[strings.LastIndex(at, " ")+1:])
	t.check(ignored, err == nil, "%v", err)
	for _, e := range path {
		if e.Kind() == projection.IndexKind {
			return // an item of a list around it may have been elsewhere
		}
	}
	patterns := slices.Concat(t.except.Ignore, t.giveUp)
	if len(patterns.WithoutPositions()) < len(patterns) {
		return // a position in the manifest names no item of the object
	}
	was, _ := t.except.Ignore.Remove(t.before.Object)
	is, _ := t.except.Ignore.Remove(t.manifest.Object)
	theirs, _ := valueAt(&unstructured.Unstructured{Object: was}, path)
	mine, _ := valueAt(&unstructured.Unstructured{Object: is}, path)
	found := positionsBefore(asList(mine), asList(theirs))
	isOpen := func(at int) bool { return at < 0 }
	t.check(ignored, slices.ContainsFunc(found, isOpen), "%s: refused, and all items are known: %v", path, found)
}

// isNamelessItem reports whether p is the position in the manifest of a new item that leaves out its key, which the
// record of the object doesn't name, or of one in a list that the object didn't have. The item at this position in the
// object is another one.
func (t *trial) isNamelessItem(p projection.Path) bool {
	if len(p) == 0 || p[len(p)-1].Kind() != projection.IndexKind {
		return false
	}
	if _, existed := valueAt(t.before, p[:len(p)-1]); !existed {
		return true
	}
	v, _ := projection.Get(t.manifest.Object, p)
	item, isMap := v.(map[string]any)
	return isMap && len(item) == 0
}

// isOfNameless reports whether the paths are those of lists of which the manifest that was applied last has an item
// without its key. A server can't compare such an item, and so it records no edit of the list; see docs/limits.md.
func (t *trial) isOfNameless(paths []projection.Path) bool {
	for _, p := range paths {
		list, _ := valueAt(t.memory.last.manifest, p)
		items, _ := list.([]any)
		if !slices.ContainsFunc(items, isEmptyOrNull) {
			return false
		}
	}
	return true
}

// judgeFates looks for the fields that the manifest no longer declares.
func (t *trial) judgeFates() {
	for _, d := range t.plan.Dropped {
		was, existed := valueAt(t.before, d.Path)
		is, exists := valueAt(t.after, d.Path)
		t.check(fates, exists == (d.Fate != fieldowner.FateDeleted), "%s: is there: %t", d, exists)
		if same := existed && reflect.DeepEqual(was, is); d.Fate == fieldowner.FateKept || d.Fate == fieldowner.FateReset {
			t.check(fates, same == (d.Fate == fieldowner.FateKept), "%s: has its value: %t", d, same)
		}
	}
}

func lines[T fmt.Stringer](items []T) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.String())
	}
	return out
}

// managedFields returns the fields that an object's record has for who applied it.
func managedFields(obj map[string]any, applier fieldowner.Applier) (projection.FieldSet, error) {
	owners, err := fieldowner.Read(obj)
	return owners.Fields(applier.Is), err
}
