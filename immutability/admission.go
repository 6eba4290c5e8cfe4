package immutability

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// denial returns the text of a refusal by admission. Webhooks and policies choose the code, the reason and the causes of
// their answer, a 422 with causes included; only the beginning of the message is the server's.
func denial(status metav1.Status) (message string, denied bool) {
	if rest, found := strings.CutPrefix(status.Message, `admission webhook "`); found {
		_, rest, found = strings.Cut(rest, `" `)
		return status.Message, found && strings.HasPrefix(rest, "denied the request")
	}
	rest, found := strings.CutPrefix(status.Message, forbiddenPrefix(status.Details))
	if !found {
		return "", false
	}
	if strings.HasPrefix(rest, "ValidatingAdmissionPolicy '") {
		return rest, true
	}
	return rest, status.Code == http.StatusForbidden && !aboutRights(rest)
}

// forbiddenPrefix is how the server begins the message of a refusal by admission or authorization. It is composed from
// the details, so that nothing in the object's name can look like it.
func forbiddenPrefix(details *metav1.StatusDetails) string {
	if details == nil {
		details = &metav1.StatusDetails{}
	}
	resource := details.Kind
	if details.Group != "" {
		resource += "." + details.Group
	}
	return fmt.Sprintf("%s %q is forbidden: ", resource, details.Name)
}

// aboutRights reports whether the rest of a 403's message is authorization's: `User "a" cannot …` by the authorizer,
// `user "a" (groups=…) is attempting to grant …` and "must have cluster-admin privileges …" by the RBAC storage.
func aboutRights(rest string) bool {
	for _, prefix := range []string{`User "`, `user "`, "must have cluster-admin privileges"} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return false
}
