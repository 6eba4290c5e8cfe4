package wire

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// IsLossy reports whether an object is as a typed client reads it, which leaves out apiVersion and kind. Such a client
// leaves out as well what its Go type doesn't know, and adds what the type doesn't omit.
func IsLossy(live *unstructured.Unstructured) bool {
	return live != nil && live.Object != nil && live.GetAPIVersion() == "" && live.GetKind() == ""
}

// completed returns a lossy object with apiVersion and kind of the target, and without nulls, which stand for what
// isn't there.
func (t *Target) completed(live *unstructured.Unstructured) *unstructured.Unstructured {
	content := withoutNulls(live.Object).(map[string]any)
	content["apiVersion"], content["kind"] = t.Identity.APIVersion, t.Identity.Kind
	return &unstructured.Unstructured{Object: content}
}

// withoutNulls returns a copy of a value without the fields that are null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, field := range v {
			if field != nil {
				copied[name] = withoutNulls(field)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, item := range v {
			copied[i] = withoutNulls(item)
		}
		return copied
	}
	return v
}
