package answer

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/rows"
)

const (
	rights     = `User "jane" cannot patch resource "deployments" in API group "apps" in the namespace "default"`
	escalation = `user "jane" (groups=["a"]) is attempting to grant RBAC permissions not currently held:`
	policy     = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`
)

func TestAdmission(t *testing.T) {
	for _, tt := range rows.Read[struct {
		Code    int32
		Message string
		Want    string // "" if admission didn't deny it
		Why     string
	}](t, "admission") {
		got, denied := Admission(metav1.Status{Code: tt.Code, Message: tt.Message})
		assert.Equal(t, tt.Want != "", denied, tt.Why)
		if denied {
			assert.Equal(t, tt.Want, got, tt.Why)
		}
	}
}

func TestRefusal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for message, want := range map[string]string{
		apierrors.NewForbidden(pods, "a", errors.New("no")).Error():                  "no",
		apierrors.NewForbidden(pods, "", errors.New("no")).Error():                   "no",
		apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no")).Error(): "no",
		apierrors.NewForbidden(pods, `a" is forbidden: b`, errors.New("no")).Error(): "no",
		`pods "a" is forbidden`: "", "": "", `pods`: "", ` is forbidden: no`: "",
	} {
		got, ok := Refusal(message)
		assert.Equal(t, want != "", ok, message)
		if ok {
			assert.Equal(t, want, got, message)
		}
	}
}

func TestBadRequests(t *testing.T) {
	const text = `admission webhook "w" does not support dry run`
	assert.True(t, NoDryRun(metav1.Status{Code: 400, Message: text}))
	assert.True(t, NoDryRun(metav1.Status{Reason: metav1.StatusReasonBadRequest, Message: text}), "a status without a code")
	assert.False(t, NoDryRun(metav1.Status{Code: 500, Message: text}), "another kind of failure")
	assert.False(t, NoDryRun(metav1.Status{Code: 400, Message: text + ": x"}), "another text")

	problem, ok := StrictDecoding(metav1.Status{Code: 400, Message: `strict decoding error: unknown field "x"`})
	assert.True(t, ok)
	assert.Equal(t, `unknown field "x"`, problem)
	_, ok = StrictDecoding(metav1.Status{Code: 422, Message: `strict decoding error: unknown field "x"`})
	assert.False(t, ok, "the code is another")
}

func TestForeign(t *testing.T) {
	made := apierrors.NewGenericServerResponse(502, "GET", schema.GroupResource{}, "", "<html>", 0, true)
	text, foreign := Foreign(made.ErrStatus)
	assert.True(t, foreign)
	assert.Equal(t, "<html>", text)
	_, foreign = Foreign(metav1.Status{Code: 502})
	assert.False(t, foreign, "a status without details")
	_, foreign = Foreign(apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "x").ErrStatus)
	assert.False(t, foreign, "a server's own")
}

func TestRefusesDryRun(t *testing.T) {
	details := func(group, field string) metav1.Status {
		return metav1.Status{Details: &metav1.StatusDetails{Group: group, Causes: []metav1.StatusCause{{Field: "force"}, {Field: field}}}}
	}
	assert.True(t, RefusesDryRun(details("meta.k8s.io", "dryRun")))
	assert.False(t, RefusesDryRun(details("meta.k8s.io", "fieldManager")))
	assert.False(t, RefusesDryRun(details("example.com", "dryRun")), "a field of an object")
	assert.False(t, RefusesDryRun(metav1.Status{}))
}

func TestAboutOptions(t *testing.T) {
	assert.True(t, AboutOptions(metav1.Status{Details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "PatchOptions"}}))
	assert.False(t, AboutOptions(metav1.Status{Details: &metav1.StatusDetails{Group: "apps", Kind: "Deployment"}}))
	assert.False(t, AboutOptions(metav1.Status{}))
}

func TestExceededQuota(t *testing.T) {
	got, ok := ExceededQuota("exceeded quota: q, requested: pods=1,cpu=2, used: pods=3,cpu=4, limited: pods=5,cpu=6")
	assert.True(t, ok)
	assert.Equal(t, Amounts{"pods=1,cpu=2", "pods=3,cpu=4", "pods=5,cpu=6"}, got)
	for _, text := range []string{
		"", "exceeded quota: q", "x exceeded quota: q, requested: a=1, used: a=1, limited: a=1", "exceeded quota: q, requested: a=1, used: a=1, limited: a=1 x",
	} {
		_, ok := ExceededQuota(text)
		assert.False(t, ok, text)
	}
}

func TestParseConflict(t *testing.T) {
	for message, want := range map[string]Manager{
		`conflict with "m"`:                                        {Name: "m"},
		`conflict with "m" using apps/v1`:                          {Name: "m", Update: true, APIVersion: "apps/v1"},
		`conflict with "m" with subresource "scale" using apps/v1`: {Name: "m", Subresource: "scale", Update: true, APIVersion: "apps/v1"},
		`conflict with "m" using v1 at 2020-01-02T03:04:05Z`:       {Name: "m", Update: true, APIVersion: "v1", Time: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)},
		`conflict with "m" using v1 at noon`:                       {Name: "m", Update: true, APIVersion: "v1"},
		`conflict with "m" using v1 at 0000-01-01T00:00:00+01:00`:  {Name: "m", Update: true, APIVersion: "v1"},
		`conflict with "a\" using v1"`:                             {Name: `a" using v1`},
		`conflict with m`:                                          {Name: "m"},
		`another text`:                                             {Name: "another text"},
		`conflict with "m" with subresource scale`:                 {Name: "m"},
	} {
		assert.Equal(t, want, ParseConflict(message), message)
	}
}

func TestParseDenial(t *testing.T) {
	got, ok := ParseDenial(rights + ": no role")
	assert.True(t, ok)
	assert.Equal(t, Denial{rights, "jane", "patch"}, got)
	assert.Equal(t, `patch resource "deployments" in API group "apps" in the namespace "default"`, got.Action())
	assert.True(t, got.OfWrite())
	assert.False(t, got.Anonymous())

	got, ok = FlattenedDenial(`get: forbidden: User "system:anonymous" cannot get path "/apis"`)
	assert.True(t, ok)
	assert.True(t, got.Anonymous())
	assert.False(t, got.OfWrite())
	_, ok = ParseDenial(rights + " now")
	assert.False(t, ok, "a sentence that goes on")
	_, ok = FlattenedDenial("nothing of the kind")
	assert.False(t, ok)
}

func TestRealPath(t *testing.T) {
	for _, row := range [][3]string{
		{"apps/Deployment", "spec.replicas", "spec.replicas"},
		{"apps/Deployment", "<nil>", ""},
		{"ConfigMap", "[]", ""},
		{"PersistentVolumeClaim", "spec.resources[storage]", "spec.resources.requests.storage"},
		{"Widget", "spec.resources[storage]", "spec.resources[storage]"},
		{"Pod", "spec.volumes[3].downwarAPI.items", "spec.volumes[3].downwardAPI.items"},
		{"Pod", "spec.volumes[3].cephFS", "spec.volumes[3].cephfs"},
		{"Pod", "spec.volumes[3].cephFSx", "spec.volumes[3].cephFSx"},
	} {
		assert.Equal(t, row[2], RealPath(row[0], row[1]))
	}
}

func TestAlertsClientCertificate(t *testing.T) {
	assert.True(t, AlertsClientCertificate("tls: certificate required"))
	assert.False(t, AlertsClientCertificate("tls: handshake failure"))
}

func TestIsRefusal(t *testing.T) {
	for code, want := range map[int32]bool{0: false, 200: false, 399: false, 400: true, 403: true, 409: true, 422: true, 429: false, 499: true, 500: false, 503: false} {
		require.Equal(t, want, IsRefusal(metav1.Status{Code: code}), "%d", code)
	}
}

func TestCannotConvertScale(t *testing.T) {
	const cannot = "failed to convert new object (n/web; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1"
	for message, want := range map[string]bool{cannot: true, cannot + "beta1": false, `"` + cannot + `" is invalid`: false, "": false} {
		assert.Equal(t, want, CannotConvertScale(metav1.Status{Code: 500, Message: message}), message)
	}
}

func TestWrongType(t *testing.T) {
	lines := []string{
		`.spec.disks: element 0: associative list with keys has an element that omits all key fields ["name"]`,
		".spec.size: expected numeric (int or float), got map[string]interface {}",
		".spec.modes: field not declared in schema",
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		message := "failed to create typed patch object (ns/a; ex.io/v1, Kind=A): errors:"
		for _, i := range order {
			message += "\n  " + lines[i]
		}
		field, problem := WrongType(metav1.Status{Code: 500, Message: message})
		assert.Equal(t, []string{"spec.modes", "field not declared in schema"}, []string{field, problem}, "in the order %d", order)
	}
	field, _ := WrongType(metav1.Status{Message: "no typed patch:\n  " + lines[1]})
	require.Empty(t, field)
}
