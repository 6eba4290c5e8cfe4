package readiness

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// Field is a field that an object must have to be ready.
type Field struct {
	Path projection.Path
	// Value is the required value: a string as it is, or another value as JSON. [AnyValue] means every value that isn't
	// empty.
	Value string
}

// AnyValue is the Value of a [Field] that may have any value except null, "", [] and {}.
const AnyValue = "*"

// ParseFields reads fields by their paths, such as status.phase or status.loadBalancer.ingress[0].ip. The result is
// sorted by path.
func ParseFields(values map[string]string) (fields []Field, err error) {
	for _, text := range slices.Sorted(maps.Keys(values)) {
		path, err := projection.ParsePath(text)
		if err != nil {
			return nil, err
		}
		fields = append(fields, Field{path, values[text]})
	}
	return fields, nil
}

// WithFields returns a ReadyFunc for which an object is ready if ready says so and it has the fields. If the object has
// status.observedGeneration, that must be the current generation. ready may be nil.
func WithFields(fields []Field, ready set.ReadyFunc) set.ReadyFunc {
	return func(live *unstructured.Unstructured) set.Readiness {
		if ready != nil {
			if found := ready(live); !found.Ready {
				return found
			}
		}
		if observed, isKnown, _ := unstructured.NestedInt64(live.Object, "status", "observedGeneration"); isKnown &&
			observed != live.GetGeneration() {
			return set.Readiness{Why: foreign.Textf("the status is of generation %d, and the object of %d", observed,
				live.GetGeneration())}
		}
		for _, field := range fields {
			if found := field.of(live); !found.Ready {
				return found
			}
		}
		return set.Readiness{Ready: true}
	}
}

// of tells whether an object has the field.
func (f Field) of(live *unstructured.Unstructured) set.Readiness {
	v, exists := projection.Get(live.Object, f.Path)
	switch text := ValueText(v); {
	case !exists || v == nil:
		return set.Readiness{Why: foreign.Textf("it has no %s yet", f.Path)}
	case f.Value == AnyValue && slices.Contains([]string{"", "[]", "{}"}, text):
		return set.Readiness{Why: foreign.Textf("%s is empty", f.Path)}
	case f.Value != AnyValue && f.Value != text:
		return set.Readiness{Why: foreign.Textf("%s has another value than the one to wait for", f.Path),
			Said: foreign.Textf("it is %s", text)}
	}
	return set.Readiness{Ready: true}
}

// ValueText returns a value in the form of the Value of a [Field].
func ValueText(v any) string {
	if text, isText := v.(string); isText {
		return text
	}
	return review.Text(v)
}
