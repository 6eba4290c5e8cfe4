package kinds

import "strings"

// IdentityFields are the paths of the fields that say which object it is. Every manifest has them, and no server
// records who owns them.
var IdentityFields = [][]string{{"apiVersion"}, {"kind"}, {"metadata"}, {"metadata", "name"}, {"metadata", "namespace"}}

// ServerMetadata are the names of the fields of metadata that only a server writes, sorted.
var ServerMetadata = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields",
	"resourceVersion",
	"selfLink", "uid",
}

// Preconditions are those fields of [ServerMetadata] that may be in a manifest. They limit the apply to one object and
// one version. A server refuses to apply the manifest to any other.
var Preconditions = []string{"resourceVersion", "uid"}

// RecordedMetadata are those fields of [ServerMetadata] that a server nevertheless records for the manager that applies
// them. Source: stripmeta.go of k8s.io/apimachinery's managedfields, which strips the others.
var RecordedMetadata = []string{"deletionGracePeriodSeconds", "deletionTimestamp"}

// StrippedMetadata are fields of metadata that no server writes any more, and that none records; the same source.
var StrippedMetadata = []string{"clusterName"}

// MetadataContainers are the names of the maps and lists of metadata that a manifest may have, sorted.
var MetadataContainers = []string{"annotations", "finalizers", "labels", "ownerReferences"}

// IsMetadataMap reports whether one of the MetadataContainers is a map.
func IsMetadataMap(name string) bool { return name == "annotations" || name == "labels" }

// NameHead is about kinds whose names consist of other fields of the object. It returns the path of the field that must
// be equal to the name up to its first dot. It returns nil for other kinds.
func NameHead(apiVersion, kind string) []string {
	group, _, _ := strings.Cut(apiVersion, "/")
	return map[string][]string{
		"apiextensions.k8s.io CustomResourceDefinition": {"spec", "names", "plural"},
		"apiregistration.k8s.io APIService":             {"spec", "version"},
	}[group+" "+kind]
}

// LastApplied is the annotation in which client-side apply keeps the manifest that it applied, a Secret's values
// included.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ResetFields returns the names of the top-level fields that a server resets when an object is applied, for kinds that
// Kubernetes brings. Source: GetResetFields in the packages below k8s.io/kubernetes/pkg/registry.
func ResetFields(apiVersion, kind string) []string {
	if kind == "CertificateSigningRequest" && Group(apiVersion) == "certificates.k8s.io" {
		return []string{"status", "spec"}
	}
	return []string{"status"}
}

// AtCreate returns the name of one of the [ResetFields], or "". A server takes this field from the manifest of a new
// object, but records no owner for it. Source: PrepareForCreate in the packages of [ResetFields]. For a ServiceCIDR,
// only servers before 1.36 take the field.
func AtCreate(apiVersion, kind string) string {
	switch Group(apiVersion) + "/" + kind {
	case "/Node", "networking.k8s.io/ServiceCIDR":
		return "status"
	case "certificates.k8s.io/CertificateSigningRequest":
		return "spec"
	}
	return ""
}

// arbitrary are the names of the fields in which kinds that Kubernetes brings hold any JSON: the data of a
// ControllerRevision, the schema with its defaults and examples in a definition of custom resources, the parameters for
// a driver of devices. Only the first is a field of the object itself; the others are somewhere below.
var arbitrary = map[string]struct {
	name  string
	isTop bool
}{
	"ControllerRevision":       {"data", true},
	"CustomResourceDefinition": {"openAPIV3Schema", false},
	"DeviceClass":              {"parameters", false},
	"ResourceClaim":            {"parameters", false},
	"ResourceClaimTemplate":    {"parameters", false},
	"ResourceSlice":            {"parameters", false},
}

// HoldsAnyJSON reports whether an object of a kind that Kubernetes brings holds any JSON, in which null is a value, in
// a field of the given name. Depth is the number of elements of the field's path.
func HoldsAnyJSON(obj map[string]any, name string, depth int) bool {
	kind, _ := obj["kind"].(string)
	field, known := arbitrary[kind]
	return known && field.name == name && (!field.isTop || depth == 1)
}

// IsNamespace reports whether the object is a Namespace of the core group.
func IsNamespace(obj map[string]any) bool {
	return obj["kind"] == "Namespace" && obj["apiVersion"] == "v1"
}

// IsSecret reports whether the object is a Secret of the core group.
func IsSecret(obj map[string]any) bool { return obj["kind"] == "Secret" && obj["apiVersion"] == "v1" }

// MovedField returns the names of two fields of an object. When a server stores the object, it moves the entries of the
// first field into the second one. It reports false for kinds without such fields.
func MovedField(obj map[string]any) (from, to string, moves bool) {
	if IsSecret(obj) {
		return "stringData", "data", true
	}
	return "", "", false
}

// SensitiveFields are the paths of a Secret's fields whose values must not be shown. Tools copy Secrets into
// annotations, as client-side apply does, in whatever form.
var SensitiveFields = [][]string{{"data"}, {"stringData"}, {"metadata", "annotations"}}
