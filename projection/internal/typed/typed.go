// Package typed finds the fields that a manifest declares with a schema. It is shared by the sources that have one.
package typed

import (
	"errors"
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/ssaplan/primitives/projection"
)

// Has reports whether the converter has a schema for the kind of the manifest.
func Has(converter managedfields.TypeConverter, manifest map[string]any) bool {
	// An object with nothing in it fits every schema that there is.
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": manifest["apiVersion"],
		"kind": manifest["kind"]}}
	_, err := converter.ObjectToTyped(empty)
	return err == nil
}

// Declared returns all fields that the manifest has, named as its schema says. The error says what of the manifest
// doesn't fit the schema, and no value if the manifest has sensitive ones.
func Declared(converter managedfields.TypeConverter, manifest map[string]any) (projection.FieldSet, error) {
	// A projection of everything is a copy that has none of the types that a conversion can't take.
	everything := projection.NewFieldSet(projection.Path{})
	obj := projection.Project(manifest, everything).Object
	// The types of the following values are those of structured-merge-diff, whose version depends on client-go's: no
	// variable may name one.
	value, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: obj})
	if err != nil {
		return projection.FieldSet{}, withoutValues(err, manifest)
	}
	set, err := value.ToFieldSet()
	if err != nil {
		return projection.FieldSet{}, withoutValues(err, manifest)
	}
	text, err := set.ToJSON()
	if err != nil {
		return projection.FieldSet{}, fmt.Errorf("write the fields: %w", err)
	}
	return projection.ParseFieldsV1(text)
}

// got is where a message begins to quote values.
var got = regexp.MustCompile(`(?s), got .*`)

// withoutValues cuts the values from the messages if the manifest has sensitive ones.
func withoutValues(err error, manifest map[string]any) error {
	if projection.Sensitive(manifest).Empty() {
		return err
	}
	return errors.New(got.ReplaceAllString(err.Error(), ""))
}
