package set

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// explainMissing makes an item wait for the object of the set that brings the missing kind or namespace. If the set
// doesn't bring it either, that is an error, unless [Options.AllowMissing] permits it.
func (s *Set) explainMissing(ctx context.Context, item *Item) {
	id := item.Object
	if item.Plan.Deferral == ssaplan.DeferralTypeNotServed {
		if number, ok := s.contents.Serves(id); ok {
			item.follow(s, number)
			item.Plan.Reason += s.contents.Defines(id)
			s.preview(item, number)
			s.compareOldVersion(ctx, item, number)
			return
		}
	} else if number, ok := s.contents.Namespace(id.Namespace); ok {
		item.follow(s, number)
		item.Plan.Reason += s.contents.Creates(id)
		return
	}
	if !s.options.AllowMissing {
		item.Err = s.missingError(ctx, id, item.Plan.Deferral)
		item.Plan = nil
	}
}

// preview predicts the object that the server will create once it has the CRD of the set. A value that the CRD doesn't
// allow is an error now.
func (s *Set) preview(item *Item, definition int) {
	if s.options.Preview == nil {
		return
	}
	predicted, err := s.options.Preview(s.requests[definition].Manifest, s.requests[item.Number].Manifest)
	if err != nil {
		item.Plan, item.Err = nil,
			fmt.Errorf("%s: predicted from %s of the same set: %w", item.Object, s.objectOf(definition), err)
		item.After, item.after = nil, nil
		return
	}
	item.Predicted = predicted
	if added := defaults(s.requests[item.Number].Manifest, predicted); len(added) > 0 {
		item.Plan.Changes = added
		item.Plan.Reason += "; its defaults are predicted"
	}
}

// defaults returns what a CRD adds to a manifest. A difference in an atomic list is a change of the whole list.
func defaults(manifest, predicted *unstructured.Unstructured) (changes []explain.Change) {
	fields, err := projection.Differing(manifest.Object, predicted.Object, projection.FieldSet{})
	if err != nil {
		return nil // can't happen: a manifest has no managedFields that could be invalid
	}
	for _, d := range projection.Diff(projection.Project(manifest.Object, fields),
		projection.Project(predicted.Object, fields)) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseSideEffect})
	}
	return changes
}

// compareOldVersion shows the changes of an object whose manifest has a version that its CRD doesn't serve yet. It
// tries the manifest in a served version, if the CRD has no conversion. The fields are then the same in both versions.
// With a conversion, it only adds a warning, since the converted values aren't known before the version is served.
func (s *Set) compareOldVersion(ctx context.Context, item *Item, definition int) {
	crd := s.items[definition]
	if s.ran || item.Plan == nil || !crd.changes() || crd.Plan == nil || crd.Plan.Live() == nil {
		return
	}
	version := kinds.DefinitionOf(crd.Plan.Live().Object).ServedVersion()
	switch {
	case version == "":
	case converts(crd.Plan.Live()) || converts(crd.Plan.Result()):
		item.isConverted = true
		item.Plan.Warnings = append(item.Plan.Warnings, foreign.Textf(
			"values of other fields are unknown until the server serves the version and converts objects of %s",
			crd.Object))
	default:
		version = item.Object.Group() + "/" + version
		if !s.tryOldVersion(ctx, item, version) {
			s.compareLive(ctx, item, version)
		}
	}
}

// converts reports whether a CRD has a conversion between its versions, or isn't known.
func converts(definition *unstructured.Unstructured) bool {
	return definition == nil || kinds.DefinitionOf(definition.Object).Converts
}

// tryOldVersion shows what an apply of the manifest in a served version would do. It reports false if that isn't known,
// because the served version lacks fields of the new one or doesn't allow their values.
func (s *Set) tryOldVersion(ctx context.Context, item *Item, apiVersion string) bool {
	request := s.request(item.Number)
	request.Manifest = request.Manifest.DeepCopy()
	request.Manifest.SetAPIVersion(apiVersion)
	plan, err := s.planner.Plan(ctx, request)
	if err != nil || plan.Action != ssaplan.ActionUpdate && plan.Action != ssaplan.ActionNoOp {
		return false
	}
	hidden := s.planner.Redactor(s.requests[item.Number].Manifest).Fields(s.requests[item.Number].Manifest)
	item.Plan.Changes = append(plan.Changes, missingIn(plan.Live(), item.Plan.Changes)...)
	for i, change := range item.Plan.Changes {
		item.Plan.Changes[i].Sensitive = change.Sensitive || hidden.Touches(change.Path)
	}
	for i, dropped := range plan.Dropped {
		plan.Dropped[i].Sensitive = dropped.Sensitive || hidden.Touches(dropped.Path)
	}
	item.Plan.Ownership, item.Plan.Dropped = plan.Ownership, plan.Dropped
	item.Plan.Reason += predictedFrom(apiVersion)
	return true
}

// predictedFrom returns the part of a reason that names the version from which the changes are predicted.
func predictedFrom(apiVersion string) string {
	return fmt.Sprintf(", and the changes are predicted from %s", foreign.Text(apiVersion))
}

// compareLive shows the changes of an item without a dry run. It compares the declared values with the live object in a
// served version. It keeps the predicted defaults that the live object lacks.
func (s *Set) compareLive(ctx context.Context, item *Item, apiVersion string) {
	old := item.Object
	old.APIVersion = apiVersion
	reading, err := s.planner.Read(ctx, &explain.State{Identity: old})
	if err != nil || reading.Live == nil {
		return // it isn't there, or nothing more is known
	}
	hidden := s.planner.Redactor(s.requests[item.Number].Manifest, reading.Live).Fields(reading.Live)
	before := projection.Project(reading.Live.Object, item.Plan.After.Fields).WithSensitive(hidden)
	changes := []explain.Change{}
	for _, d := range projection.Diff(before, item.Plan.After) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseUnknown})
	}
	item.Plan.Changes = append(changes, missingIn(reading.Live, item.Plan.Changes)...)
	item.Plan.Reason += predictedFrom(old.APIVersion)
}

// missingIn returns the defaults that an object lacks.
func missingIn(live *unstructured.Unstructured, defaults []explain.Change) []explain.Change {
	return slices.DeleteFunc(slices.Clone(defaults), func(added explain.Change) bool {
		_, exists := projection.NewObject(live.Object, projection.NewFieldSet(added.Path)).Get(added.Path)
		return exists
	})
}
