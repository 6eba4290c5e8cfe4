package projection

import "context"

// NoSchema is the [Source] that knows no types: it takes every list for an atomic one, every map for one with fields of
// their own, and the status for a subresource. Its answer is a guess, for the case that nothing better can be had.
type NoSchema struct{}

// PredictDeclared returns the fields that the manifest seems to declare. It gives no error.
func (NoSchema) Declared(_ context.Context, manifest map[string]any) (FieldSet, error) {
	apiVersion, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	all, err := (&declarer{guess: true}).object(manifest, nil)
	return all.Tracked(ResetFields(apiVersion, kind)), err
}
