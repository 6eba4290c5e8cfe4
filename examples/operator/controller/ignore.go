package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// ignorable returns the fields of a kind that the Website leaves to others.
func ignorable(website *v1alpha1.Website, kind string) (projection.Patterns, error) {
	var texts []string
	for _, ignored := range website.Spec.Ignore {
		if ignored.Kind == kind {
			texts = append(texts, ignored.Fields...)
		}
	}
	patterns, err := projection.ParsePatterns(texts...)
	if err != nil {
		return nil, fmt.Errorf("spec.ignore: %w", err)
	}
	return patterns, nil
}

// ownedByOthers returns those of the fields that others than the operator own. As long as nobody else owns a field it stays
// declared: a field that is given up with no owner left is deleted or reset by the server.
func ownedByOthers(live *unstructured.Unstructured, fields projection.Patterns) (projection.Patterns, error) {
	if len(fields) == 0 || live == nil {
		return nil, nil
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, err
	}
	own := fieldowner.Applier{Manager: FieldManager}.Is
	others := owners.Fields(func(o fieldowner.Owner) bool { return !own(o) })
	_, ignored := fields.Split(others.Leaves())
	var texts []string
	for path := range ignored.All() {
		texts = append(texts, path.String())
	}
	return projection.ParsePatterns(texts...)
}

// contested reports whether the plan takes one of the fields from somebody.
func contested(plan *ssaplan.Plan, fields projection.Patterns) bool {
	for _, change := range plan.Ownership {
		if change.Kind == fieldowner.TransferTaken && fields.Match(change.Path) {
			return true
		}
	}
	for _, conflict := range plan.Conflicts {
		if fields.Match(conflict.Path) {
			return true
		}
	}
	return false
}
