package projection

// lastApplied holds a copy of the whole manifest of client-side apply.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

var secretFields = NewFieldSet(
	Path{Field("data")},
	Path{Field("stringData")},
	Path{Field("metadata"), Field("annotations"), Field(lastApplied)},
)

// Sensitive returns the paths of obj whose values must not be shown: data and stringData of a Secret, and the
// annotation in which client-side apply keeps a copy of them. It is empty for every other kind.
func Sensitive(obj map[string]any) FieldSet {
	if obj["kind"] == "Secret" && obj["apiVersion"] == "v1" {
		return secretFields
	}
	return FieldSet{}
}

// touches reports whether p lies at, below or above a path of s.
func (s FieldSet) touches(p Path) bool {
	return s.Covers(p) || !s.Under(p).Empty()
}
