package ssaplantest

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// optionKinds are the kinds of the options of a request, by its verb.
var optionKinds = map[string]string{"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions",
	"delete": "DeleteOptions"}

// checkOptions checks the options of a write.
func (m message) checkOptions() error {
	if len(m.wrong) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: optionKinds[m.Verb]}, "", m.wrong)
}
