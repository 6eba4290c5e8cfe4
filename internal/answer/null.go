package answer

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// typeIsNull is how the message ends that says that a value of another type stood there. It prints the type of what it
// found, not the value, so a text "null" isn't meant.
//
//	spec.a in body must be of type string: "null"
//
// Source: k8s.io/kube-openapi, pkg/validation/errors, schema.go.
const typeIsNull = `: "null"`

// IsNull reports whether the cause is that a null stands where the schema of a custom resource wants something.
func (c Cause) IsNull() bool {
	return c.Type == metav1.CauseTypeTypeInvalid && strings.HasSuffix(c.message, typeIsNull)
}
