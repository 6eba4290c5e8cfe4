package answer

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// typeIsNull ends the message about a null where a value of another type is expected. The message names the type of the
// value and not the value, so it isn't about the string "null".
//
//	spec.a in body must be of type string: "null"
//
// Source: k8s.io/kube-openapi, pkg/validation/errors, schema.go.
const typeIsNull = `: "null"`

// IsNull reports whether the cause is a null in the place of a value that the schema of a custom resource requires.
func (c Cause) IsNull() bool {
	return c.Type == metav1.CauseTypeTypeInvalid && strings.HasSuffix(c.message, typeIsNull)
}
