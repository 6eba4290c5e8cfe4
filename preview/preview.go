// Package preview answers: what will a server make of a custom resource whose CRD it doesn't have yet? It uses the
// server's code from k8s.io/apiextensions-apiserver, and is a separate module because of that. It isn't for kinds that
// the server serves already: use a dry run.
//
//	object, err := preview.Of(crd, gadget) // the error names fields and values that the CRD doesn't allow
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Println(object.Object["spec"]) // map[color:red size:1]: with the defaults
//
// It applies the fields, the defaults and the validation of the CRD's schema. It ignores webhooks, policies, quotas,
// conversion, rules (x-kubernetes-validations) and controllers.
package preview

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Of returns the object that a server with the CRD (definition) will create from the manifest, including defaults. The
// error names the fields that the CRD doesn't have, and the fields whose values it doesn't allow, without the values.
// Neither argument is modified.
func Of(definition, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	props, err := schemaOf(definition, manifest.GroupVersionKind().Version)
	if err != nil || props == nil {
		return manifest.DeepCopy(), err
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("the CRD's schema isn't structural: %w", err)
	}
	obj := manifest.DeepCopy()
	pruned := pruning.PruneWithOptions(obj.Object, structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(pruned) > 0 {
		return nil, fmt.Errorf("the CRD has no field %s", strings.Join(pruned, ", "))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(obj.Object, structural)
	defaulting.Default(obj.Object, structural)
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("the CRD's schema: %w", err)
	}
	return obj, inShort(validation.ValidateCustomResource(nil, obj.Object, validator))
}

// schemaOf returns the schema of a version, nil if it has none.
func schemaOf(definition *unstructured.Unstructured, version string) (*apiextensions.JSONSchemaProps, error) {
	var typed apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(definition.Object, &typed); err != nil {
		return nil, fmt.Errorf("the CRD can't be read: %w", err)
	}
	for _, v := range typed.Spec.Versions {
		if v.Name != version || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		props := &apiextensions.JSONSchemaProps{}
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema,
			props, nil)
		return props, err
	}
	return nil, nil
}

// inShort returns what is wrong, field by field, without the values.
func inShort(list field.ErrorList) error {
	var problems []string
	for _, e := range list {
		problems = append(problems, strings.TrimSpace(fmt.Sprintf("%s: %s %s", e.Field, e.Type, withoutValue(e))))
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}

// withoutValue returns the detail of an error of a kind that quotes no value.
func withoutValue(e *field.Error) string {
	if e.Type == field.ErrorTypeRequired || e.Type == field.ErrorTypeNotSupported {
		return ""
	}
	return e.Detail
}
