package projection

import "github.com/ssaplan/primitives/internal/kinds"

// untracked are the fields that a server doesn't record for the manager that applies them: what identifies the object,
// and what only the server writes. Source: stripmeta.go of k8s.io/apimachinery's managedfields.
var untracked = NewFieldSet(
	Path{Field("apiVersion")},
	Path{Field("kind")},
	metadataField(),
	metadataField("name"),
	metadataField("namespace"),
	metadataField("creationTimestamp"),
	metadataField("selfLink"),
	metadataField("uid"),
	metadataField("clusterName"),
	metadataField("generation"),
	metadataField("managedFields"),
	metadataField("resourceVersion"),
)

func metadataField(names ...string) Path {
	p := Path{Field("metadata")}
	for _, name := range names {
		p = append(p, Field(name))
	}
	return p
}

// ResetFields returns the fields that a server resets, and does not record, when an object of a kind that Kubernetes
// brings is applied: the status, and of a CertificateSigningRequest the spec too. For a custom resource they are its
// status if its definition has the status subresource, which only the server can tell.
// Source: GetResetFields in the packages below k8s.io/kubernetes/pkg/registry.
func ResetFields(apiVersion, kind string) FieldSet {
	status := Path{Field("status")}
	if kind == "CertificateSigningRequest" && kinds.Group(apiVersion) == "certificates.k8s.io" {
		return NewFieldSet(status, Path{Field("spec")})
	}
	return NewFieldSet(status)
}

// Tracked returns the part of s that a server records for the manager that applies it. The fields of reset are those
// that it resets, with all below them; see [ResetFields].
func (s FieldSet) Tracked(reset FieldSet) FieldSet {
	return s.Difference(untracked).Without(reset)
}
