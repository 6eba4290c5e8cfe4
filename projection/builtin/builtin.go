// Package builtin answers without a server: which fields does a manifest of a built-in kind declare? It isn't for
// custom resources; package projection/openapi is.
//
//	prediction, err := projection.PredictDeclared(ctx, manifest, builtin.Schema{}, projection.NoSchema{})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for path, value := range projection.Project(manifest, prediction.Fields).Leaves() {
//		fmt.Println(path, value) // data.mode dark
//	}
//
// The schemas are those of the client-go version in the program. This is a separate package because it adds all API
// types to the program.
package builtin

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/internal/typed"
)

// Schema is the [projection.Source] that knows the built-in kinds. The first use takes some tenths of a second, since
// client-go parses its schemas. It is safe for concurrent use.
type Schema struct{}

var _ projection.Source = Schema{}

// Declared returns the fields that the manifest declares. Every error wraps [projection.ErrNoSchema]: the kind isn't
// built in, or the manifest has a field that this version of the schema lacks and that a server of another version may
// have. Only the names and types of fields are checked, not their values.
func (Schema) Declared(_ context.Context, manifest map[string]any) (projection.FieldSet, error) {
	apiVersion, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	var converter managedfields.TypeConverter = applyconfigurations.NewTypeConverter(scheme.Scheme)
	if !typed.Has(converter, manifest) {
		return projection.FieldSet{}, fmt.Errorf("builtin: %w for %s %s", projection.ErrNoSchema, apiVersion, kind)
	}
	set, err := typed.Declared(converter, manifest)
	if err != nil {
		return projection.FieldSet{},
			fmt.Errorf("builtin: %w that fits this %s %s: %w", projection.ErrNoSchema, apiVersion, kind, err)
	}
	return set.Tracked(projection.ResetFields(apiVersion, kind)), nil
}
