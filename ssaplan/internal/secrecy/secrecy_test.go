package secrecy_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// secret has the value "canary-value" in base64, and a short one.
func secret() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"},
		"data":       map[string]any{"password": "Y2FuYXJ5LXZhbHVl", "pin": "MTIzNA==", "empty": ""},
		"stringData": map[string]any{"token": "canary-token"},
	}}
}

func TestHideInTexts(t *testing.T) {
	secrets := secrecy.Of(nil, secret(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "plain-value"}}})
	for _, row := range []struct{ why, text, want string }{
		{"as it stands in the manifest", "got Y2FuYXJ5LXZhbHVl", "got <redacted>"},
		{"decoded", "got canary-value, twice canary-value", "got <redacted>, twice <redacted>"},
		{"text", `Invalid value: "canary-token"`, `Invalid value: "<redacted>"`},
		{"a short one where it is quoted", `port 1234: "1234"`, `port 1234: "<redacted>"`},
		{"no secret", "plain-value of password", "plain-value of password"},
		{"an empty one is none", `""`, `""`},
	} {
		require.Equal(t, row.want, secrets.Hide(row.text), row.why)
	}
	require.Empty(t, secrecy.Of())
}

// A value that is part of another is hidden with that.
func TestHideLongOnesFirst(t *testing.T) {
	obj := secret()
	obj.Object["data"] = map[string]any{}
	obj.Object["stringData"] = map[string]any{"a": "canary", "b": "canary-and-more", "c": "and-more-canary"}
	require.Equal(t, "<redacted> <redacted> <redacted>", secrecy.Of(obj).Hide("canary-and-more and-more-canary canary"))
}

// A manifest that is wrong has anything in the place of values.
func TestHideWhatIsNoText(t *testing.T) {
	obj := secret()
	obj.Object["data"] = map[string]any{"a": []any{"canary-item", map[string]any{"canary-key": int64(123456789)}}}
	require.Equal(t, "<redacted> <redacted> <redacted>", secrecy.Of(obj).Hide("canary-item canary-key 123456789"))
}

func TestHideInErrors(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "a",
		field.ErrorList{field.Invalid(field.NewPath("data"), "canary-value", "no")})
	bare := &apierrors.StatusError{ErrStatus: metav1.Status{Message: "canary-value is wrong"}}
	plain := errors.New("nothing of it")
	for _, row := range []struct {
		why  string
		err  error
		want string
	}{
		{"the server's words", fmt.Errorf("v1/Secret shop/a: %w", invalid), `v1/Secret shop/a: Secret "a" is invalid: data: Invalid value: "<redacted>": no`},
		{"without details", bare, "<redacted> is wrong"},
		{"what isn't the server's", errors.New("v1/Secret shop/canary-value: found canary-value"), "v1/Secret shop/canary-value: found <redacted>"},
		{"without an object", errors.New("found canary-value"), "found <redacted>"},
		{"a server's word that isn't there", fmt.Errorf("a: found canary-value: %w", (*apierrors.StatusError)(nil)), "a: found <redacted>: <nil>"},
		{"no secret in it", plain, "nothing of it"},
		{"nor in the server's words", apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "a", plain), `Operation cannot be fulfilled on secrets "a": nothing of it`},
	} {
		got := secrecy.Hide(row.err, secret())
		require.EqualError(t, got, row.want, row.why)
		for err := got; err != nil; err = errors.Unwrap(err) {
			var status *apierrors.StatusError
			if errors.As(err, &status) && status != nil {
				require.NotContains(t, fmt.Sprintf("%+v", status.ErrStatus), "canary-value", row.why)
			}
		}
	}
	require.NoError(t, secrecy.Hide(nil, secret()))
	require.Same(t, plain, secrecy.Hide(plain, secret()), "an error without secrets is itself")
	require.True(t, apierrors.IsInvalid(secrecy.Hide(invalid, secret())), "its class can be told")
	require.Contains(t, invalid.Error(), "canary-value", "the server's answer is left alone")
}

func TestHideInVerdicts(t *testing.T) {
	fields := []immutability.Field{{Text: "data.password", Message: "canary-value is no password"}}
	verdict := immutability.Verdict{Fields: fields, Uncertain: "why canary-token?"}
	secrecy.Of(secret()).HideIn(&verdict)
	require.Equal(t, "<redacted> is no password", verdict.Fields[0].Message)
	require.Equal(t, "why <redacted>?", verdict.Uncertain)
	require.Equal(t, "canary-value is no password", fields[0].Message, "the fields belong to somebody else")
}
