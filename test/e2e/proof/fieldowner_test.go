package proof_test

import (
	"context"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// judgePrediction compares the conflicts that are predicted from the object alone with those for which the server
// refuses an apply without force.
func (t *trial) judgePrediction(ctx context.Context) {
	if t.before == nil || t.step.Of == "scale" { // which is answered without a record
		return
	}
	step := t.step
	step.Force = true
	forced, err := t.object.apply(ctx, t.wire, step, metav1.DryRunAll)
	if err != nil || hasOtherVersions(t.before) {
		return // what the manifest declares isn't known, or how others name their fields
	}
	declared, err := managedFields(forced.Object, step.applier())
	if !t.check(prediction, err == nil, "%v", err) {
		return
	}
	predicted, err := fieldowner.PredictConflicts(t.before.Object, t.wire.Object, declared, step.applier())
	if !t.check(prediction, err == nil, "%v", err) {
		return
	}
	step.Force = false
	_, err = t.object.apply(ctx, t.wire, step, metav1.DryRunAll)
	if err != nil && !apierrors.IsConflict(err) {
		return
	}
	isEmptyMap := func(wanted any) bool {
		m, isMap := wanted.(map[string]any)
		return wanted == nil || isMap && len(m) == 0
	}
	if t.hasFilledMap(declared, isEmptyMap) {
		return // whether the empty map, or null, replaces it isn't known
	}
	if (isForgotten(t.before) || len(t.object.redefined) > 0) && t.hasNullForList(declared) {
		return // whether the list has one owner, or its items have theirs, isn't known
	}
	if t.hasUnreadableCopy(ctx) {
		return // whether client-side apply set fields that no schema has isn't known
	}
	t.meetPrediction(declared)
	real := fieldowner.ConflictsOfApply(err, t.before.Object, t.wire.Object)
	t.check(prediction, slices.Equal(lines(predicted), lines(real)), "predicted %v, in reality %v", predicted, err)
}

// undeclared matches a field that a server finds in no schema.
var undeclared = regexp.MustCompile(`(\S+): field not declared in schema`)

// hasUnreadableCopy reports whether the server can't read what client-side apply set, and the record has none of the
// fields that are in no schema. Then the manager kubectl is forgiven no conflict, see docs/limits.md.
func (t *trial) hasUnreadableCopy(ctx context.Context) bool {
	applied := &unstructured.Unstructured{}
	text := t.before.GetAnnotations()[kinds.LastApplied]
	if t.step.By != "kubectl" || utiljson.Unmarshal([]byte(text), &applied.Object) != nil || applied.GetAPIVersion() != t.before.GetAPIVersion() {
		return false
	}
	step := t.step
	step.Force = true
	_, err := t.object.apply(ctx, applied, step, metav1.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "failed to create typed patch object") {
		return false
	}
	owners, readErr := fieldowner.Read(t.before.Object)
	t.check(prediction, readErr == nil, "%v", readErr)
	return !slices.ContainsFunc(undeclared.FindAllStringSubmatch(err.Error(), -1), func(found []string) bool {
		field, err := projection.ParsePath(strings.TrimPrefix(found[1], "."))
		return err == nil && owners.Fields(nil).Touches(field)
	})
}

// hasOtherVersions reports whether managedFields have an entry of another version than the object's.
func hasOtherVersions(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.APIVersion != obj.GetAPIVersion() })
}

// omitsKey matches what a server says of an item that lacks what names it; up to 1.33 it is the second.
var omitsKey = regexp.MustCompile(`omits (all key fields|key field ")`)

// hasMixedKeys reports whether items of one list are recorded by different key fields, as a definition has changed
// them, in one of the states of an object or between them.
func hasMixedKeys(states ...*unstructured.Unstructured) bool {
	keysOf := map[string]string{} // by list
	for _, obj := range states {
		owners, _ := fieldowner.Read(obj.Object)
		for p := range owners.Fields(nil).WithItems().All() {
			if last := p[len(p)-1]; last.Kind() == projection.KeyKind {
				list, keys := p[:len(p)-1].String(), strings.Join(slices.Sorted(maps.Keys(last.KeyFields())), " ")
				if known, found := keysOf[list]; found && known != keys {
					return true
				}
				keysOf[list] = keys
			}
		}
	}
	return false
}

// judgeImport applies what a manager applied as that manager, which changes nothing: neither values nor owners.
func (t *trial) judgeImport(ctx context.Context) {
	if t.before == nil || t.before.GetDeletionTimestamp() != nil || t.step.Of != "" {
		return
	}
	selection := fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: t.step.By, Operation: fieldowner.OperationApply}
	m, err := fieldowner.NewManifest(t.before.Object, selection)
	if err != nil || len(m.Missing) > 0 || m.Fields.Empty() || slices.ContainsFunc(slices.Collect(m.Fields.All()), t.object.isRedefined) {
		return // fields of another version or definition, and values that the server doesn't store
	}
	step := t.step
	step.Force = false
	answer, err := t.object.apply(ctx, &unstructured.Unstructured{Object: m.Object}, step, metav1.DryRunAll)
	if field, undeclared := undeclaredField(err); undeclared && (len(valuesAt(m.Object, field)) == 0 || hasOtherVersions(t.before)) {
		return // the server can't read its own record of another version of the definition
	}
	const unserved = "request to convert CR to an invalid group/version"
	if err != nil && hasOtherVersions(t.before) && strings.Contains(err.Error(), unserved) {
		return // a version in which others wrote isn't served any more
	}
	if err != nil && omitsKey.MatchString(err.Error()) {
		return // a key that is an empty text isn't stored, and no apply works any more
	}
	if err != nil && t.object.isRevised() && strings.Contains(err.Error(), "failed to create typed patch object") {
		return // the definition has changed so that what is stored isn't allowed any more
	}
	if err != nil && strings.Contains(err.Error(), "failed to create typed live object") {
		return // what is stored isn't of its type, as another version has another one: no apply works, whatever it applies
	}
	const ofMaps = "associative list without keys has an element that's a map type"
	if err != nil && strings.Contains(err.Error(), ofMaps) {
		return // an update can write a set of maps, and no apply can
	}
	const untyped = "failed to create typed patch object"
	if err != nil && t.hasFilledMap(m.Fields, isEmptyOrNull) && strings.Contains(err.Error(), untyped) {
		return // of what others wrote into a map that we declare as empty, the server can't apply all, such as sets of maps
	}
	if !t.check(imports, err == nil, "applied %v: %v", m.Object, err) {
		return
	}
	before, after := withoutTimes(t.before), withoutTimes(answer)
	if t.isOursElsewhere() || sameOwners(before, after) { // a write of the scale splits records, and the next apply joins them
		before.SetManagedFields(nil)
		after.SetManagedFields(nil)
	}
	if t.isOursElsewhere() { // what only the other version has goes, and the server counts that
		before.SetGeneration(after.GetGeneration())
	}
	if replicas := (place{"spec", "replicas"}); isStamped(before, after, replicas) { // after another client wrote the scale
		put(before.Object, replicas, stampedReplicas)
		before.SetGeneration(after.GetGeneration())
	}
	if t.hasFilledMap(m.Fields, func(any) bool { return true }) || t.onlyPartsCome(before, after) {
		before.SetManagedFields(nil)
		after.SetManagedFields(nil)
	}
	if !isStored(t.before) { // each write fills in the defaults that the stored version lacks, and the server counts that
		before.SetGeneration(after.GetGeneration())
	}
	for _, at := range places(m.Object) {
		if v, _ := lookup(m.Object, at); hasOtherVersions(t.before) && isEmptyOrNull(v) {
			was, _ := lookup(before.Object, at)
			is, _ := lookup(after.Object, at)
			if !reflect.DeepEqual(was, is) { // which a HorizontalPodAutoscaler counts since 1.37
				before.SetGeneration(after.GetGeneration())
			}
			cut(before.Object, at) // what the server had filled such a map with, it loses in a version that hasn't got it
			cut(after.Object, at)
		}
	}
	for _, item := range projection.Project(t.before.Object, m.Fields).Duplicates { // no manifest has an item twice
		for _, obj := range []*unstructured.Unstructured{before, after} {
			projection.NewObject(obj.Object, m.Fields).Remove(item[:len(item)-1])
		}
		before.SetGeneration(after.GetGeneration())
	}
	t.forgetCopy(before, after)
	before.SetResourceVersion(after.GetResourceVersion())
	t.meetImport(m)
	t.check(imports, reflect.DeepEqual(before.Object, after.Object) || t.isOfAdmission(ctx, after), "applied %v: %s", m.Object, strings.Join(differences(before.Object, after.Object, nil), "\n"))
}

// onlyPartsCome reports whether our record gets nothing but parts in the place of lists that it has: one that was
// declared as null, and that a default fills, is recorded as one whole is.
func (t *trial) onlyPartsCome(before, after *unstructured.Unstructured) bool {
	was, err := managedFields(before.Object, t.step.applier())
	t.check(imports, err == nil, "%v", err)
	is, err := managedFields(after.Object, t.step.applier())
	t.check(imports, err == nil, "%v", err)
	gone := was.Difference(is)
	for p := range gone.All() {
		value, _ := valueAt(before, p)
		if _, isList := value.([]any); !isList || is.Under(p).Empty() {
			return false
		}
	}
	for p := range is.Difference(was).All() {
		if !gone.Covers(p) {
			return false
		}
	}
	return true
}

// isOursElsewhere reports whether our record is of another version than the one at hand, in which applying writes it:
// another name, and maybe a whole map in place of its fields, as the scaleTargetRef of a HorizontalPodAutoscaler is.
func (t *trial) isOursElsewhere() bool {
	return slices.ContainsFunc(t.before.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		isOurs := e.Manager == t.step.By && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == t.step.Of
		return isOurs && e.APIVersion != t.before.GetAPIVersion()
	})
}

// isOfAdmission reports whether the server makes the same of the object when it is written as it is, which isn't what
// it was: admission changes it, or the record of a definition that is another by now.
func (t *trial) isOfAdmission(ctx context.Context, after *unstructured.Unstructured) bool {
	resource, err := t.object.resource(t.before.GroupVersionKind())
	if err != nil {
		return false
	}
	options := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: installer}
	written, err := resource.Update(ctx, t.before.DeepCopy(), options)
	if err != nil {
		return false
	}
	if reflect.DeepEqual(withoutTimes(written).Object, after.Object) {
		return true
	}
	is, was := withoutBookkeeping(written.Object), withoutBookkeeping(t.before.Object)
	return reflect.DeepEqual(is, withoutBookkeeping(after.Object)) && !reflect.DeepEqual(is, was)
}

// sameOwners reports whether two objects have the same owners with the same fields, in however many records.
func sameOwners(a, b *unstructured.Unstructured) bool {
	fieldsOf := func(obj *unstructured.Unstructured) map[fieldowner.Owner]string {
		joined, out := map[fieldowner.Owner]projection.FieldSet{}, map[fieldowner.Owner]string{}
		owners, _ := fieldowner.Read(obj.Object)
		for _, e := range owners.Entries() {
			joined[e.Owner] = joined[e.Owner].Union(e.Fields)
			out[e.Owner] = joined[e.Owner].String()
		}
		return out
	}
	return reflect.DeepEqual(fieldsOf(a), fieldsOf(b))
}

// isStamped reports whether the webhook of the proof overwrote a number that the object had.
func isStamped(before, after *unstructured.Unstructured, at place) bool {
	was, existed := lookup(before.Object, at)
	is, _ := lookup(after.Object, at)
	_, hooked := after.GetLabels()[stampHook]
	return hooked && existed && was != stampedReplicas && is == stampedReplicas
}

// undeclaredField returns the field that a server calls undeclared.
func undeclaredField(err error) (projection.Path, bool) {
	if err == nil {
		return nil, false
	}
	text, found := strings.CutSuffix(err.Error(), ": field not declared in schema")
	path, parseErr := projection.ParsePath(strings.TrimPrefix(text[strings.LastIndex(text, " ")+1:], "."))
	return path, found && parseErr == nil && len(path) > 0
}

// hasNullForList reports whether the manifest declares null where the object has a list.
func (t *trial) hasNullForList(declared projection.FieldSet) bool {
	object, manifest := projection.NewObject(t.before.Object, declared), projection.NewManifest(t.wire.Object, declared)
	for p := range declared.Leaves().All() {
		found, _ := object.Get(p)
		wanted, sent := manifest.Get(p)
		if _, isList := found.([]any); isList && sent && wanted == nil {
			return true
		}
	}
	return false
}

// hasFilledMap reports whether the object is a custom resource with something in a map that is declared as a whole.
// managedFields don't distinguish an atomic map from a map that was declared as empty and filled with defaults. A map
// counts only if counts accepts its value in the manifest.
func (t *trial) hasFilledMap(declared projection.FieldSet, counts func(wanted any) bool) bool {
	if kinds.IsBuiltin(t.before.Object) {
		return false
	}
	object, manifest := projection.NewObject(t.before.Object, declared), projection.NewManifest(t.wire.Object, declared)
	for p := range declared.Leaves().All() {
		v, _ := object.Get(p)
		wanted, _ := manifest.Get(p)
		if m, _ := v.(map[string]any); len(m) > 0 && p[len(p)-1].Kind() == projection.FieldKind && counts(wanted) {
			return true
		}
	}
	return false
}
