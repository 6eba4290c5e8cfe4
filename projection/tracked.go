package projection

import "github.com/ssaplan/primitives/internal/kinds"

// Tracked returns the part of s that a server records in managedFields for the manager that applies it. It leaves out
// fields that no server records, such as apiVersion and metadata.name, and the fields of reset with all below them; see
// [ResetFields].
func (s FieldSet) Tracked(reset FieldSet) FieldSet {
	return s.Difference(untracked).Without(reset)
}

// ResetFields returns the fields of a built-in kind that a server resets at an apply and doesn't record in
// managedFields: the status, and the spec of a CertificateSigningRequest. It also returns the status for a custom
// resource. That is right only if the CRD has the status subresource, which only the server knows.
func ResetFields(apiVersion, kind string) FieldSet {
	var paths []Path
	for _, name := range kinds.ResetFields(apiVersion, kind) {
		paths = append(paths, Path{Field(name)})
	}
	return NewFieldSet(paths...)
}

// ServerMetadata returns the fields of an object's metadata that only the server writes, such as its uid.
func ServerMetadata() FieldSet { return serverMetadata }

var (
	identity       = fieldSet(kinds.IdentityFields)
	serverMetadata = metadataFields(kinds.ServerMetadata)
	// untracked are the fields that a server doesn't record for the manager that applies them: what identifies the
	// object, and what only the server writes.
	untracked = identity.Union(serverMetadata).Difference(metadataFields(kinds.RecordedMetadata)).
			Union(metadataFields(kinds.StrippedMetadata))
)

// fieldSet returns the set of paths that are given by the names of fields.
func fieldSet(paths [][]string) FieldSet {
	out := make([]Path, len(paths))
	for i, names := range paths {
		for _, name := range names {
			out[i] = append(out[i], Field(name))
		}
	}
	return NewFieldSet(out...)
}

func metadataFields(names []string) FieldSet {
	var paths []Path
	for _, name := range names {
		paths = append(paths, metadataField(name))
	}
	return NewFieldSet(paths...)
}

func metadataField(names ...string) Path {
	p := Path{Field("metadata")}
	for _, name := range names {
		p = append(p, Field(name))
	}
	return p
}
