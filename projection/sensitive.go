package projection

import "strings"

var secretFields = NewFieldSet(
	Path{Field("data")},
	Path{Field("stringData")},
	// A copy of the whole manifest, kept by client-side apply.
	Path{Field("metadata"), Field("annotations"), Field("kubectl.kubernetes.io/last-applied-configuration")},
)

// Sensitive returns the paths of obj whose values must not be shown: data and stringData of a Secret, and annotations
// of it that may hold a copy of them, which are the one of client-side apply and all that contain a JSON document, a
// compressed one or the text "data:", as the YAML of a Secret does. It is empty for every other kind.
func Sensitive(obj map[string]any) FieldSet {
	if obj["kind"] != "Secret" || obj["apiVersion"] != "v1" {
		return FieldSet{}
	}
	metadata, _ := plain(obj["metadata"]).(map[string]any)
	annotations, _ := plain(metadata["annotations"]).(map[string]any)
	var documents []Path
	for name, v := range annotations {
		if text, ok := v.(string); ok && isDocument(text) {
			documents = append(documents, Path{Field("metadata"), Field("annotations"), Field(name)})
		}
	}
	return secretFields.Union(NewFieldSet(documents...))
}

// isDocument reports whether an annotation looks like JSON, like the base64 of something compressed with gzip, or like
// the YAML of a Secret.
func isDocument(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "h4si") ||
		strings.Contains(text, "data:")
}

// touches reports whether p lies at, below or above a path of s.
func (s FieldSet) touches(p Path) bool {
	return s.Covers(p) || !s.Under(p).Empty()
}
