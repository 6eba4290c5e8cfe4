package controller

import (
	"fmt"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/projection"
)

// ignoredOf returns the fields of a kind that the Website leaves to others.
func ignoredOf(website *v1alpha1.Website, kind string) (projection.Patterns, error) {
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
