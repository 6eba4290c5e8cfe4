package ssaplantest

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// checkBody drops the fields that the kind doesn't have from an object that is created or updated. The fieldValidation
// says what follows from such a field.
func (c *call) checkBody(obj *unstructured.Unstructured) error {
	return c.report(c.dropUnknown(obj), func(err error) error {
		return apierrors.NewBadRequest(
			fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", c.kind.Kind, c.kind.Version, c.kind.Kind,
				err))
	})
}

// checkPatched does the same for an object that was patched otherwise than by applying.
func (c *call) checkPatched(obj *unstructured.Unstructured) error {
	var problems []error // errors of the decoder itself were found before
	for _, problem := range duplicates(c.body) {
		if c.PatchType == types.JSONPatchType {
			problem = "json patch " + problem
		}
		problems = append(problems, errors.New(problem))
	}
	return c.report(append(problems, c.dropUnknown(obj)...), func(err error) error {
		return apierrors.NewInvalid(schema.GroupKind{}, "",
			field.ErrorList{field.Invalid(field.NewPath("patch"), string(c.body), err.Error())})
	})
}

var strictDecoder = json.NewSerializerWithOptions(json.DefaultMetaFactory, runtime.NewScheme(), runtime.NewScheme(),
	json.SerializerOptions{Strict: true})

// duplicates returns what strict decoding says of JSON in which a map has the same name twice. The decoder of
// apimachinery takes objects only, so the JSON becomes a field of one.
func duplicates(content []byte) (problems []string) {
	object := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Body","body":%s}`, content)
	_, _, err := strictDecoder.Decode(object, nil, &unstructured.Unstructured{})
	found, isStrict := runtime.AsStrictDecodingError(err)
	if !isStrict {
		return nil
	}
	for _, err := range found.Errors() {
		if name, isDuplicate := strings.CutPrefix(err.Error(), `duplicate field "body`); isDuplicate {
			problems = append(problems, `duplicate field "`+strings.TrimPrefix(name, "."))
		}
	}
	return problems
}

// checkApplied does the same for the manifest of an apply. The field manager rejects unknown fields.
func (c *call) checkApplied() error {
	err := yaml.UnmarshalStrict(c.body, &map[string]any{})
	if err == nil {
		return nil
	}
	return c.report([]error{err}, func(error) error {
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
	})
}

func (c *call) dropUnknown(obj *unstructured.Unstructured) (problems []error) {
	for _, path := range drop(obj.Object, allowedIn(c.kind), "") {
		problems = append(problems, fmt.Errorf("unknown field %q", path))
	}
	return problems
}

// report makes an error or warnings of what the fieldValidation is about, or nothing.
func (c *call) report(problems []error, refuse func(error) error) error {
	switch {
	case len(problems) == 0 || c.validation == metav1.FieldValidationIgnore:
	case c.validation == metav1.FieldValidationStrict:
		return refuse(runtime.NewStrictDecodingError(problems))
	default:
		for _, problem := range problems {
			c.warnings = append(c.warnings, lines(problem.Error())...)
		}
	}
	return nil
}

// lines returns the lines of an error about YAML, without the heading; of another error, the text.
func lines(text string) []string {
	for _, heading := range []string{"yaml: unmarshal errors:\n",
		"error converting YAML to JSON: yaml: unmarshal errors:\n"} {
		if rest, ok := strings.CutPrefix(text, heading); ok {
			var out []string
			for _, line := range strings.Split(rest, "\n") {
				out = append(out, strings.TrimSpace(line))
			}
			return out
		}
	}
	return []string{text}
}
