package kinds

import (
	"strings"
	"time"
)

// AdmissionGroup is the API group of the kinds whose objects configure what a server asks before it writes.
const AdmissionGroup = "admissionregistration.k8s.io"

// AdmissionKind is a kind of the [AdmissionGroup].
type AdmissionKind struct {
	Kind, Resource string
	// Versions are those that it has in some release, the newest first. The first one that is served counts.
	Versions []string
}

// AdmissionKinds are the kinds of the [AdmissionGroup].
var AdmissionKinds = []AdmissionKind{
	{"MutatingWebhookConfiguration", "mutatingwebhookconfigurations", []string{"v1"}},
	{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations", []string{"v1"}},
	{"ValidatingAdmissionPolicy", "validatingadmissionpolicies", []string{"v1"}},
	{"ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", []string{"v1"}},
	{"MutatingAdmissionPolicy", "mutatingadmissionpolicies", []string{"v1", "v1beta1", "v1alpha1"}},
	{"MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", []string{"v1", "v1beta1", "v1alpha1"}},
}

// How long it takes until a server enforces what it has stored about admission. No answer confirms it: a server watches
// webhooks, which took up to 40 ms on a busy server, and looks whether policies have changed once in a second
// (policyRefreshInterval in k8s.io/apiserver).
const (
	webhooksUnenforced = 200 * time.Millisecond
	policiesUnenforced = 1500 * time.Millisecond
)

// Unenforced returns for how long an object of a kind may have no effect on the admission of others after it was
// written. The kind is followed by its group, as for [HoldsOthers].
func Unenforced(kind string) time.Duration {
	name, group, _ := strings.Cut(kind, ".")
	switch {
	case group != AdmissionGroup:
		return 0
	case name == "MutatingWebhookConfiguration" || name == "ValidatingWebhookConfiguration":
		return webhooksUnenforced
	}
	return policiesUnenforced
}
