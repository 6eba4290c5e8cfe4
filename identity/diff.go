package identity

import "github.com/ssaplan/primitives/projection"

// Mismatch is one part of an identity that differs.
type Mismatch struct {
	// Field is the path of the field in a manifest: apiVersion, kind, metadata.namespace, metadata.name or
	// metadata.uid.
	Field projection.Path
	// Old and New are the values; "" when there is none.
	Old, New string
}

// diff returns the fields in which two identities differ, in the order apiVersion, kind, namespace, name; nil when they
// are equal. It compares as written: case-sensitive, and an empty namespace differs from every other.
func diff(old, new Identity) []Mismatch {
	var found []Mismatch
	add := func(o, n string, field ...string) {
		if o != n {
			found = append(found, mismatch(o, n, field...))
		}
	}
	add(old.APIVersion, new.APIVersion, "apiVersion")
	add(old.Kind, new.Kind, "kind")
	add(old.Namespace, new.Namespace, "metadata", "namespace")
	add(old.Name, new.Name, "metadata", "name")
	return found
}

func mismatch(old, new string, field ...string) Mismatch {
	m := Mismatch{Old: old, New: new}
	for _, name := range field {
		m.Field = append(m.Field, projection.Field(name))
	}
	return m
}
