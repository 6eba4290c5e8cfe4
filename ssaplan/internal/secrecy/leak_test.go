package secrecy_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// values are secrets as people have them.
var values = []string{
	"hunter2-correct-horse", "pa\"ss\\word-12345", "line one of it\nline two of it\n", "<b>&amp;secret</b>", "4711815162342", "ünïcödé-geheim",
	"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n", `{"auths":{"r.example.com":{"auth":"dXNlcjpodW50ZXIy"}}}`,
	strings.Repeat("long-secret-", 40), "tab\tseparated\tsecret", "%41%42%43percent", "a.b.c/d:e@f-secret",
}

// echoes are the ways in which somebody may quote a value.
var echoes = map[string]func(string) string{
	"raw":    func(v string) string { return v },
	"base64": func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"wrapped base64": func(v string) string {
		text := base64.StdEncoding.EncodeToString([]byte(v))
		return text[:len(text)/2] + "\n" + text[len(text)/2:]
	},
	"URL base64": func(v string) string { return base64.URLEncoding.EncodeToString([]byte(v)) },
	"JSON":       func(v string) string { text, _ := json.Marshal(v); return string(text) },
	"Go":         func(v string) string { return fmt.Sprintf("%q", v) },
	"bytes":      func(v string) string { return fmt.Sprint([]byte(v)) },
	"URL":        url.QueryEscape,
	"hex":        func(v string) string { return hex.EncodeToString([]byte(v)) },
	"prefix":     func(v string) string { return v[:8] + "…" },
	"suffix":     func(v string) string { return "…" + v[len(v)-8:] },
	"object":     func(v string) string { return fmt.Sprintf("%v", map[string]any{"data": map[string]any{"k": v}}) },
}

// answers are what a server, or somebody behind it, says.
var answers = map[string]func(said string) error{
	"denied by a webhook": func(said string) error {
		return status(403, metav1.StatusReasonForbidden, `admission webhook "w.example.com" denied the request: `+said)
	},
	"denied by a policy": func(said string) error {
		return status(422, metav1.StatusReasonInvalid, `secrets "s" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `+said)
	},
	"an invalid value": func(said string) error {
		return status(422, metav1.StatusReasonInvalid, `Secret "s" is invalid: data[k]: Invalid value: `+said,
			metav1.StatusCause{Type: "FieldValueInvalid", Field: "data[k]", Message: "Invalid value: " + said + ": must be better"})
	},
	"a cause that is only a value": func(said string) error {
		return status(422, metav1.StatusReasonInvalid, said, metav1.StatusCause{Type: "FieldValueInvalid", Field: said, Message: said})
	},
	"a known phrase with more behind it": func(said string) error {
		return status(422, metav1.StatusReasonInvalid, said,
			metav1.StatusCause{Type: "FieldValueForbidden", Field: "data", Message: "Forbidden: field is immutable " + said})
	},
	"a manifest of another type": func(said string) error {
		return status(500, metav1.StatusReasonUnknown, "failed to create typed patch object (default/s; /v1, Kind=Secret): .stringData.k: expected string, got "+said)
	},
	"a type error with a forged field": func(said string) error {
		return status(500, metav1.StatusReasonUnknown, "failed to create typed patch object (default/s; /v1, Kind=Secret): ."+said+": expected string")
	},
	"an internal error": func(said string) error {
		return status(500, metav1.StatusReasonInternalError, "Internal error occurred: "+said)
	},
	"details of a forger": func(said string) error {
		err := status(409, metav1.StatusReasonConflict, said)
		err.ErrStatus.Details = &metav1.StatusDetails{Name: said, UID: "x", Causes: []metav1.StatusCause{{Field: said, Message: said}}}
		return err
	},
	"a sum of errors": func(said string) error {
		return errors.Join(status(500, metav1.StatusReasonInternalError, said), fmt.Errorf("again: %w", status(400, metav1.StatusReasonBadRequest, said)))
	},
}

func status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Kind: "secrets", Name: "s", Causes: causes},
	}}
}

func secretOf(value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"k": value},
	}}
}

// shownOf returns all that is shown of what somebody says of a Secret with a value.
func shownOf(t *testing.T, guard secrecy.Guard, answer func(string) error, said string) (out string, shown error) {
	t.Helper()
	err := fmt.Errorf("v1/Secret default/s: dry run: %w", answer(said))
	shown = guard.Error(err)
	var inside *apierrors.StatusError
	require.ErrorAs(t, shown, &inside)
	whole, jsonErr := json.Marshal(inside.ErrStatus)
	require.NoError(t, jsonErr)
	out = fmt.Sprintf("%v %+v %#v %q %s", shown, shown, shown, shown, whole)
	for unwrapped := shown; unwrapped != nil; unwrapped = errors.Unwrap(unwrapped) {
		out += fmt.Sprintf("%v %#v", unwrapped, unwrapped)
	}
	verdict := immutability.Classify(err)
	verdict.Evidence.Create = immutability.Answer{Outcome: immutability.OutcomeUnanswered, Message: foreign.Text(said), Err: err}
	guard.Verdict(&verdict)
	out += fmt.Sprint(verdict, verdict.Fields, verdict.Evidence, verdict.Evidence.Create.Err)
	out += fmt.Sprint(guard.Warnings([]foreign.Text{foreign.Text(said), "mind " + foreign.Text(said)}))
	return out, shown
}

// Nothing that somebody says of a Secret's value comes out, in whatever form, and all that is needed to go on does.
func TestNothingLeaks(t *testing.T) {
	tried := 0
	for _, value := range values {
		guard := secrecy.For(nil, none, secretOf(value))
		for how, echo := range echoes {
			for kind, answer := range answers {
				out, shown := shownOf(t, guard, answer, echo(value))
				require.Empty(t, leak.In(out, value), "%s of %s in %s", how, kind, out)
				require.Contains(t, shown.Error(), "v1/Secret default/s: ", "the object keeps its name")
				require.NotEqual(t, authresilience.ClassNone, authresilience.Classify(shown), kind)
				require.Equal(t, shown.Error(), guard.Error(shown).Error(), "what was made safe stays as it is")
				tried++
			}
		}
	}
	require.Equal(t, len(values)*len(echoes)*len(answers), tried)
	require.GreaterOrEqual(t, tried, 12*12*8)
}

// FuzzGuard: whatever the value and however it is quoted, nothing of it is shown that isn't shown of another value.
func FuzzGuard(f *testing.F) {
	for i, value := range values {
		f.Add(value, uint8(i), uint8(i))
	}
	hows, kinds := slices.Sorted(maps.Keys(echoes)), slices.Sorted(maps.Keys(answers))
	f.Fuzz(func(t *testing.T, value string, how, kind uint8) {
		if visible := strings.NewReplacer(`\r`, "", `\n`, "", `\t`, "").Replace(strings.Join(strings.Fields(value), "")); len(visible) < 8 {
			return // what is left of it without white space may be anywhere
		}
		answer, echo := answers[kinds[int(kind)%len(kinds)]], echoes[hows[int(how)%len(hows)]]
		out, _ := shownOf(t, secrecy.For(nil, none, secretOf(value)), answer, echo(value))
		other, _ := shownOf(t, secrecy.For(nil, none, secretOf("\U0010fffd")), answer, "\U0010fffd")
		if found := leak.In(out, value); len(found) > 0 && len(leak.In(other, value)) == 0 {
			t.Errorf("%v of %q in %s", found, value, out)
		}
	})
}

// What a host names is as secret as what is so by its kind, and everything else is shown as it is said.
func TestGuardsWhatIsNamed(t *testing.T) {
	settings := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "s"}, "data": map[string]any{"password": "x"},
	}}
	said := status(422, metav1.StatusReasonInvalid, "no hunter2")
	require.Equal(t, error(said), secrecy.For(nil, none, settings, nil).Error(said))
	require.Equal(t, error(said), secrecy.Guard{}.Error(said))
	require.NoError(t, secrecy.For(nil, none, secretOf("x")).Error(nil))
	named, err := projection.ParsePatterns("data.password")
	require.NoError(t, err)
	guard := secrecy.For(named, none, settings)
	require.True(t, guard.Withholds())
	require.NotContains(t, guard.Error(said).Error(), "hunter2")
	require.Equal(t, []foreign.Text{"1 warning of the server withheld, since the object has sensitive values, which it may quote"}, guard.Warnings([]foreign.Text{"hunter2"}))
	require.Empty(t, guard.Warnings(nil))
	require.Equal(t, []foreign.Text{"hunter2"}, secrecy.Guard{}.Warnings([]foreign.Text{"hunter2"}))
	own := errors.New("dial tcp 127.0.0.1:1: refused")
	require.Equal(t, own, guard.Error(own), "what isn't a server's stays")
}

// What is recognised is shown.
func TestRecognisedPhrases(t *testing.T) {
	guard := secrecy.For(nil, none, secretOf("hunter2-correct-horse"))
	for kind, row := range map[string]struct {
		err  error
		want string
	}{
		"an immutable field": {status(422, metav1.StatusReasonInvalid, "x", metav1.StatusCause{Type: "FieldValueInvalid", Field: "stringData.k", Message: "Invalid value: \"x\": field is immutable"}),
			"stringData.k: Invalid value: field is immutable"},
		"a number for a text": {answers["a manifest of another type"]("&value.valueUnstructured{Value:4711}"), "stringData.k: expected string"},
	} {
		require.Contains(t, guard.Error(row.err).Error(), row.want, kind)
	}
}
