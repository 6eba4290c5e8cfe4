package saved_test

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
	"github.com/ssaplan/primitives/immutability"
)

// What kubectl prints is read the same from a terminal and from the log of a job.
func TestParseReadsLogsOfJobs(t *testing.T) {
	status, object := savedStatus(t)
	for name, text := range map[string]string{
		"invalid":   "The Deployment \"web\" is invalid: \n* spec.replicas: Invalid value: -1: must be greater than or equal to 0\n* spec.selector: Invalid value: {\"a\":\"b\"}: field is immutable",
		"conflicts": "error: Apply failed with 2 conflicts: conflicts with \"kubectl-create\" using apps/v1:\n- .spec.replicas\n- .spec.paused" + advice,
		"JSON":      "the answer:\n" + strings.Replace(object, ",", ",\n", 2) + "\nmore",
		"not found": "Error from server (NotFound): namespaces \"none\" not found",
	} {
		want, err := saved.Parse([]byte(text))
		require.NoError(t, err)
		if name == "JSON" {
			assert.Equal(t, status.Details, want.Status.Details)
		}
		for log, prefix := range map[string]string{
			"GitHub":         "2026-11-24T10:00:00.1234567Z ",
			"GitHub's error": "2026-11-24T10:00:00.1234567Z ##[error]",
			"gh run view":    "deploy\tApply the manifests\t2026-11-24T10:00:00.1234567Z ",
			"GitLab":         "2026-11-24T10:00:00.123456Z 01O ",
			"GitLab, stderr": "2026-11-24T10:00:00.123456Z 00E ",
			"Jenkins":        "[2026-11-24T10:00:00.123Z] ",
			"in red":         "\x1b[31m",
			"with offset":    "2026-11-24 10:00:00,123+01:00 ",
		} {
			lines := "first " + prefix + "\n" + regexp.MustCompile(`(?m)^`).ReplaceAllString(text, prefix)
			if log == "in red" {
				lines = strings.ReplaceAll(lines, "\n", "\x1b[0m\r\n")
			}
			got, err := saved.Parse([]byte(lines))
			require.NoError(t, err, log)
			assert.Equal(t, want, got, "%s in %s", name, log)
		}
	}
}

// Rights, and whatever else a server says: kubectl prints it with the reason, client-go without.
func TestParseReadsAnyErrorOfAServer(t *testing.T) {
	const list = `pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "shop"`
	const generic = "the server has asked for the client to provide credentials"
	tests := []struct {
		why, text, message string // the message is all of the text if it is empty
		reason             metav1.StatusReason
		code               int32
		details            *metav1.StatusDetails
	}{
		{"all that client-go prints", "Unauthorized\n", "Unauthorized", metav1.StatusReasonUnauthorized, http.StatusUnauthorized, nil},
		{"as a command prints it", "error: Unauthorized", "Unauthorized", metav1.StatusReasonUnauthorized, http.StatusUnauthorized, nil},
		{"kubectl's sentence", "error: You must be logged in to the server (Unauthorized)", "Unauthorized", metav1.StatusReasonUnauthorized, http.StatusUnauthorized, nil},
		{"discovery doesn't read the server's answer", "E1 memcache.go:265] " + generic + "\nerror: You must be logged in to the server (" + generic + ")", generic,
			metav1.StatusReasonUnauthorized, http.StatusUnauthorized, nil},
		{"a list has no name", list, "", metav1.StatusReasonForbidden, http.StatusForbidden, &metav1.StatusDetails{Kind: "pods"}},
		{"kubectl's prefix", "Error from server (Forbidden): " + list, list, metav1.StatusReasonForbidden, http.StatusForbidden, &metav1.StatusDetails{Kind: "pods"}},
		{"nor has a create", `deployments.apps is forbidden: User "x" cannot create resource "deployments" in API group "apps" in the namespace "shop"`, "",
			metav1.StatusReasonForbidden, http.StatusForbidden, &metav1.StatusDetails{Kind: "deployments", Group: "apps"}},
		{"a get has a name", `pods "a" is forbidden: User "x" cannot get resource "pods" in API group "" in the namespace "shop"`, "",
			metav1.StatusReasonForbidden, http.StatusForbidden, &metav1.StatusDetails{Kind: "pods", Name: "a"}},
		{"a reason before the text", `Error from server (NotFound): namespaces "none" not found`, `namespaces "none" not found`, metav1.StatusReasonNotFound, http.StatusNotFound,
			&metav1.StatusDetails{Kind: "namespaces", Name: "none"}},
		{"the file is kubectl's", `Error from server (AlreadyExists): error when creating "c.yaml": deployments.apps "web" already exists`, `deployments.apps "web" already exists`,
			metav1.StatusReasonAlreadyExists, http.StatusConflict, &metav1.StatusDetails{Kind: "deployments", Group: "apps", Name: "web"}},
		{"other lines around it", "Warning: x\nError from server (Conflict): Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again\nmore",
			`Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again`,
			metav1.StatusReasonConflict, http.StatusConflict, &metav1.StatusDetails{Kind: "deployments", Group: "apps", Name: "web"}},
		{"no reason", `Error from server: failed to create typed patch object (ex/web; apps/v1, Kind=Deployment): .spec.replicaz: field not declared in schema`,
			`failed to create typed patch object (ex/web; apps/v1, Kind=Deployment): .spec.replicaz: field not declared in schema`, "", http.StatusInternalServerError, nil},
	}
	for _, tt := range tests {
		got, err := saved.Parse([]byte(tt.text))
		require.NoError(t, err, tt.why)
		assert.Equal(t, saved.Error{Prose: true, Status: metav1.Status{
			Status: metav1.StatusFailure, Reason: tt.reason, Code: tt.code, Message: cmp.Or(tt.message, tt.text), Details: tt.details,
		}}, got, tt.why)
		if apierrors.IsUnauthorized(got.Err()) || apierrors.IsForbidden(got.Err()) {
			assert.Equal(t, immutability.RefusalNone, got.Verdict().Refusal, "%s: rights say nothing about the content", tt.why)
		}
	}
}
