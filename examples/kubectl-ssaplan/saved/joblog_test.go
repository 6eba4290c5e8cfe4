package saved_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
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

// Whatever else a server says, kubectl prints with the reason.
func TestParseReadsAnyErrorOfAServer(t *testing.T) {
	tests := []struct {
		text, message string
		reason        metav1.StatusReason
		code          int32
		details       *metav1.StatusDetails
	}{
		{`Error from server (NotFound): namespaces "none" not found`, `namespaces "none" not found`, metav1.StatusReasonNotFound, http.StatusNotFound,
			&metav1.StatusDetails{Kind: "namespaces", Name: "none"}},
		{`Error from server (AlreadyExists): error when creating "c.yaml": deployments.apps "web" already exists`, `deployments.apps "web" already exists`,
			metav1.StatusReasonAlreadyExists, http.StatusConflict, &metav1.StatusDetails{Kind: "deployments", Group: "apps", Name: "web"}},
		{"Warning: x\nError from server (Conflict): Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again\nmore",
			`Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again`,
			metav1.StatusReasonConflict, http.StatusConflict, &metav1.StatusDetails{Kind: "deployments", Group: "apps", Name: "web"}},
		{`Error from server: failed to create typed patch object (ex/web; apps/v1, Kind=Deployment): .spec.replicaz: field not declared in schema`,
			`failed to create typed patch object (ex/web; apps/v1, Kind=Deployment): .spec.replicaz: field not declared in schema`, "", http.StatusInternalServerError, nil},
	}
	for _, tt := range tests {
		got, err := saved.Parse([]byte(tt.text))
		require.NoError(t, err, tt.text)
		assert.Equal(t, saved.Error{Prose: true, Status: metav1.Status{
			Status: metav1.StatusFailure, Reason: tt.reason, Code: tt.code, Message: tt.message, Details: tt.details,
		}}, got)
	}
	_, err := saved.Parse([]byte("Error from server (Rebirth): x"))
	assert.Error(t, err, "a reason that isn't one")
}
