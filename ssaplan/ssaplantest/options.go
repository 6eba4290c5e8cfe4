package ssaplantest

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// optionKinds are the kinds of the options of a request, by its verb.
var optionKinds = map[string]string{"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions", "delete": "DeleteOptions"}

// checkOptions checks the options of a write.
func (m message) checkOptions() error {
	var errs field.ErrorList
	switch isPatch := m.Verb == "patch"; {
	case isPatch && m.isApply() && m.FieldManager == "":
		errs = append(errs, field.Required(field.NewPath("fieldManager"), "is required for apply patch"))
	case isPatch && !m.isApply() && m.force != nil:
		errs = append(errs, field.Forbidden(field.NewPath("force"), "may not be specified for non-apply patch"))
	}
	for _, text := range m.dryRun {
		if text != metav1.DryRunAll {
			errs = append(errs, field.NotSupported(field.NewPath("dryRun"), m.dryRun, []string{metav1.DryRunAll}))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: optionKinds[m.Verb]}, "", errs)
}
