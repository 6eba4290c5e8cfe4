// Package v1alpha1 is the API of the operator: the custom resource Website.
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of everything here.
var GroupVersion = schema.GroupVersion{Group: "web.example.com", Version: "v1alpha1"}

// AddToScheme makes a scheme know the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Website{}, &WebsiteList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Website is a web server with its configuration and the way to it. It becomes a Deployment, a Service and, where they
// are asked for, a ConfigMap and an Ingress, all of the Website's name.
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebsiteSpec   `json:"spec"`
	Status WebsiteStatus `json:"status,omitempty"`
}

// WebsiteList is a list of Websites.
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Website `json:"items"`
}

// WebsiteSpec is what somebody wants of a Website, and how far the operator may go for it.
type WebsiteSpec struct {
	// Image is the image of the web server.
	Image string `json:"image"`
	// Port is where the web server listens. Default: 8080.
	Port int32 `json:"port,omitempty"`
	// Replicas is the number of pods. Default: what the cluster makes of a Deployment that doesn't say, which is 1.
	Replicas *int32 `json:"replicas,omitempty"`
	// Config is the content of a ConfigMap, which the web server gets as environment variables. Default: no ConfigMap.
	Config map[string]string `json:"config,omitempty"`
	// Host is the name under which an Ingress leads to the Website. Default: no Ingress.
	Host string `json:"host,omitempty"`
	// PodLabels are added to the labels by which the Deployment and the Service select the pods. A Deployment can't
	// change them: see ReplacePolicy. Default: none.
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// DriftPolicy is about what others change in the children. Default: Repair.
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
	// ConflictPolicy is about fields of the children that another field manager holds with another value. Default:
	// Force.
	ConflictPolicy ConflictPolicy `json:"conflictPolicy,omitempty"`
	// ReplacePolicy is about changes that an existing child can't make. Default: Forbidden.
	ReplacePolicy ReplacePolicy `json:"replacePolicy,omitempty"`
	// Ignore are fields that are left to others. Default: none.
	Ignore []IgnoredFields `json:"ignore,omitempty"`
}

// DriftPolicy says what to do when somebody else changed a child.
type DriftPolicy string

// The drift policies.
const (
	// RepairDrift puts back what was changed, and says who had changed it.
	RepairDrift DriftPolicy = "Repair"
	// ReportDrift says who changed what and leaves it. A later change of the Website that concerns the child is applied
	// as a whole, and so ends the drift.
	ReportDrift DriftPolicy = "Report"
)

// ConflictPolicy says what to do when another field manager holds a field with another value.
type ConflictPolicy string

// The conflict policies.
const (
	// ForceConflicts takes such fields over.
	ForceConflicts ConflictPolicy = "Force"
	// RefuseConflicts says who holds which field, and writes nothing to the child until that is settled.
	RefuseConflicts ConflictPolicy = "Refuse"
)

// ReplacePolicy says whether a child may be deleted and created anew.
type ReplacePolicy string

// The replace policies.
const (
	// ForbidReplace says which child would have to be replaced, and leaves it.
	ForbidReplace ReplacePolicy = "Forbidden"
	// AllowReplace replaces it.
	AllowReplace ReplacePolicy = "Allowed"
)

// IgnoredFields are fields of the children of a kind.
type IgnoredFields struct {
	// Kind is ConfigMap, Deployment, Service or Ingress.
	Kind string `json:"kind"`
	// Fields are patterns of paths, such as spec.replicas or metadata.annotations[~"example.io/*"].
	Fields []string `json:"fields"`
}

// WebsiteStatus is what became of a Website.
type WebsiteStatus struct {
	// ObservedGeneration is the generation of the Website that the conditions are about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are those named below.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The types of the conditions.
const (
	// Ready: all children are as the Website declares them, and do what they are for.
	Ready = "Ready"
	// Synced: all children are as the Website declares them.
	Synced = "Synced"
	// Drifted: others changed children, and that was left. If it was repaired the condition is False, with the reason
	// Repaired and a message that says who had changed what the last time.
	Drifted = "Drifted"
	// Conflict: other field managers hold fields that the Website declares with other values.
	Conflict = "Conflict"
	// Refused: a child can't be what the Website declares, or isn't the Website's.
	Refused = "Refused"
	// ReplacementNeeded: a child would have to be deleted and created anew, and that isn't allowed.
	ReplacementNeeded = "ReplacementNeeded"
)
