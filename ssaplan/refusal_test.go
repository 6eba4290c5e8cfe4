package ssaplan_test

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func refuseDryRuns(server *ssaplantest.Server, err error) (stop func()) {
	return server.Answer(failing(err, func(r ssaplantest.Request) bool { return r.DryRun }))
}

// A webhook whose configuration says that it has side effects isn't called for a dry run; the server refuses instead.
// No such configuration can be made any more, but clusters have old ones, and aggregated servers their own.
func TestAdmissionThatCantDryRun(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	defer refuseDryRuns(server, apierrors.NewBadRequest(`admission webhook "old.example.com" does not support dry run`))()
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"k": "v"})})
	require.Equal(t, ssaplan.DeferralNoDryRun, plan.Deferral)
	require.Contains(t, plan.Reason, "old.example.com")
	require.Equal(t, map[string]any{"data": map[string]any{"k": "v"}}, plan.After.Object, "what is declared is shown")
	_, err := planner.Apply(t.Context(), plan)
	require.ErrorContains(t, err, "Deferred")
}

// What a server says of a Secret is shown without its values, and the rest stays readable, however short the values
// are.
func TestErrorsStayReadableWithoutSecrets(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	manifest := configMap("postgres", map[string]any{"user": "postgres", "digit": "1"})
	manifest.SetKind("Secret")
	manifest.Object["stringData"], manifest.Object["data"] = manifest.Object["data"], nil
	status := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: "Failure", Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: `Secret "postgres" is invalid: [data[user]: Invalid value: "postgres": 1 of 21, data[digit]: Invalid value: "1": no]`,
		Details: &metav1.StatusDetails{Name: "postgres", Kind: "Secret", Causes: []metav1.StatusCause{
			{Type: "FieldValueInvalid", Field: "data[user]", Message: `Invalid value: "postgres": 1 of 21`},
			{Type: "FieldValueInvalid", Field: "data[digit]", Message: `Invalid value: "1": no`},
		}},
	}}
	stop := refuseDryRuns(server, status)
	_, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
	require.EqualError(t, err, `v1/Secret default/postgres: invalid: data.user: Invalid value; data.digit: Invalid value`)
	var refused *immutability.RefusedError
	require.ErrorAs(t, err, &refused)
	var inside *apierrors.StatusError
	require.ErrorAs(t, err, &inside)
	require.Equal(t, "validation refused the object: a value isn't allowed, or may not change; data[user]: Invalid value; data[digit]: Invalid value "+
		"(HTTP 422; the server's message is redacted, since the object has sensitive values)", inside.Error())
	require.True(t, apierrors.IsInvalid(err))
	require.Contains(t, status.Error(), `"1"`, "the error of the caller's client is not changed")

	stop()
	stop = refuseDryRuns(server, &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: syscall.ECONNREFUSED})
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
	require.ErrorContains(t, err, "v1/Secret default/postgres: ", "the object keeps its name")
	require.ErrorContains(t, err, "127.0.0.1:1")
	stop()
	refuseDryRuns(server, errors.New("malformed HTTP response \"postgres\""))
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
	require.ErrorContains(t, err, "redacted", "nobody knows whose words these are")
	require.NotContains(t, fmt.Sprintf("%#v", errors.Unwrap(err)), "malformed")
}
