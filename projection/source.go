package projection

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoSchema is wrapped by the errors with which a [Source] says that it can't tell what a manifest declares, because
// it has no schema for it or could not get it.
var ErrNoSchema = errors.New("no schema")

// Source finds the fields that a manifest declares: those that a server would record as owned after applying it. From
// the best to the last resort the sources are
//
//   - the schemas that a server publishes: package projection/openapi
//   - the schemas of the kinds that Kubernetes brings, without a server: package projection/builtin
//   - what the managedFields of a live object reveal: [LearnedSchema]
//   - nothing: [NoSchema], which takes every list for an atomic one
//
// All but the last give the same fields for the same manifest; NoSchema guesses. Better than any Source is a server's
// answer to a dry run, which needs no schema: [Managed].
type Source interface {
	// PredictDeclared returns the fields that the manifest declares. An error that wraps [ErrNoSchema] says that the source
	// can't tell; any other that the manifest is wrong.
	Declared(ctx context.Context, manifest map[string]any) (FieldSet, error)
}

// Prediction is what a manifest declares, and how that is known.
type Prediction struct {
	Fields FieldSet
	// Source is the one that told.
	Source Source
	// Skipped says why the sources before it could not.
	Skipped []error
}

// Declared asks the sources in turn until one can tell which fields the manifest declares. If none can, the error wraps
// [ErrNoSchema] and tells each one's reason. An error that doesn't wrap ErrNoSchema, or the end of ctx, ends the search.
func PredictDeclared(ctx context.Context, manifest map[string]any, sources ...Source) (Prediction, error) {
	var skipped []error
	for _, source := range sources {
		fields, err := source.Declared(ctx, manifest)
		switch {
		case err == nil:
			return Prediction{fields, source, skipped}, nil
		case !errors.Is(err, ErrNoSchema) || ctx.Err() != nil:
			return Prediction{}, err
		}
		skipped = append(skipped, err)
	}
	if len(skipped) == 0 {
		return Prediction{}, fmt.Errorf("projection: %w: no source to ask", ErrNoSchema)
	}
	return Prediction{}, errors.Join(skipped...)
}
