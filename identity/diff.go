package identity

// Mismatch is one part of an identity that differs.
type Mismatch struct {
	// Field is the path of the field in a manifest: "apiVersion", "kind", "metadata.namespace", "metadata.name" or
	// "metadata.uid".
	Field string
	// Old and New are the values; "" when there is none.
	Old, New string
}

// Diff returns the fields in which two identities differ, in the order apiVersion, kind, namespace, name; nil when they
// are equal. It compares as written: case-sensitive, and an empty namespace differs from every other.
// [Compare] knows about scopes, default namespaces and versions.
func Diff(old, new Identity) []Mismatch {
	var changes []Mismatch
	add := func(field, o, n string) {
		if o != n {
			changes = append(changes, Mismatch{Field: field, Old: o, New: n})
		}
	}
	add("apiVersion", old.APIVersion, new.APIVersion)
	add("kind", old.Kind, new.Kind)
	add("metadata.namespace", old.Namespace, new.Namespace)
	add("metadata.name", old.Name, new.Name)
	return changes
}
