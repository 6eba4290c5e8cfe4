package redact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// answers returns errors of a server by name. Each is a function of the text that the error quotes.
func answers() map[string]func(said string) error {
	all := map[string]func(said string) error{
		"a sum of errors": func(said string) error {
			return errors.Join(refusal("an internal error", said), fmt.Errorf("again: %w", refusal("a cause that is only a value", said)))
		},
	}
	for _, r := range leak.Refusals {
		all[r.Name] = func(said string) error { return &apierrors.StatusError{ErrStatus: r.Status(said)} }
	}
	return all
}

func refusal(name, said string) *apierrors.StatusError {
	i := slices.IndexFunc(leak.Refusals, func(r leak.Refusal) bool { return r.Name == name })
	return &apierrors.StatusError{ErrStatus: leak.Refusals[i].Status(said)}
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

// shownOf returns everything that a caller can see after a server quotes the text said about a Secret: the redacted
// error in several formats, the verdict and the warnings.
func shownOf(t *testing.T, redactor redact.Redactor, answer func(string) error, said string) (out string, shown error) {
	t.Helper()
	err := answer(said)
	shown = fmt.Errorf("v1/Secret default/s: dry run: %w", redactor.Unquoted(err))
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
	redactor.Verdict(&verdict)
	out += fmt.Sprint(verdict, verdict.Fields, verdict.Evidence, verdict.Evidence.Create.Err) + fmt.Sprintf("%#v", verdict)
	out += fmt.Sprint(redactor.Warnings([]foreign.Text{foreign.Text(said), "mind " + foreign.Text(said)}))
	return out, shown
}

// No redacted error, verdict or warning contains a Secret's value, in whichever form the server quotes it. The error
// still names the object and keeps a class. Redacting it again changes nothing.
func TestNothingLeaks(t *testing.T) {
	tried := 0
	for _, value := range leak.Values {
		redactor := redact.For(nil, none, secretOf(value))
		for _, echo := range leak.Echoes {
			for kind, answer := range answers() {
				out, shown := shownOf(t, redactor, answer, echo.Of(value))
				require.Empty(t, leak.In(out, value), "%s of %s in %s", echo.Name, kind, out)
				require.Contains(t, shown.Error(), "v1/Secret default/s: ", "the object keeps its name")
				require.NotEqual(t, authresilience.ClassNone, authresilience.Classify(shown), kind)
				require.Equal(t, shown.Error(), redactor.Unquoted(shown).Error(), "what was made safe stays as it is")
				tried++
			}
		}
	}
	require.GreaterOrEqual(t, tried, 12*12*8)
}

// FuzzGuard: whatever the value and however it is quoted, nothing of it is shown that isn't shown of another value.
func FuzzGuard(f *testing.F) {
	for i, value := range leak.Values {
		f.Add(value, uint8(i), uint8(i))
	}
	said := answers()
	kinds := slices.Sorted(maps.Keys(said))
	f.Fuzz(func(t *testing.T, value string, how, kind uint8) {
		if visible := strings.NewReplacer(`\r`, "", `\n`, "", `\t`, "").Replace(strings.Join(strings.Fields(value), "")); len(visible) < 8 {
			return // what is left of it without white space may be anywhere
		}
		answer, echo := said[kinds[int(kind)%len(kinds)]], leak.Echoes[int(how)%len(leak.Echoes)]
		out, _ := shownOf(t, redact.For(nil, none, secretOf(value)), answer, echo.Of(value))
		other, _ := shownOf(t, redact.For(nil, none, secretOf("\U0010fffd")), answer, "\U0010fffd")
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
	require.Equal(t, error(said), redact.For(nil, none, settings, nil).Error(said))
	require.Equal(t, error(said), redact.Redactor{}.Unquoted(said))
	require.NoError(t, redact.For(nil, none, secretOf("x")).Error(nil))
	named, err := projection.ParsePatterns("data.password")
	require.NoError(t, err)
	redactor := redact.For(named, none, settings)
	require.True(t, redactor.Redacts())
	require.NotContains(t, redactor.Unquoted(said).Error(), "hunter2")
	require.Equal(t, []foreign.Text{"1 warning of the server redacted, since the object has sensitive values, which it may quote"}, redactor.Warnings([]foreign.Text{"hunter2"}))
	require.Empty(t, redactor.Warnings(nil))
	require.Equal(t, []foreign.Text{"hunter2"}, redact.Redactor{}.Warnings([]foreign.Text{"hunter2"}))
	own := errors.New("dial tcp 127.0.0.1:1: refused")
	require.Equal(t, own, redactor.Unquoted(own), "what isn't a server's stays")
}

// An object has sensitive values if a field is known to be one, and may have some if the marks of its kind aren't
// known.
func TestNamesWhyWordsAreRedacted(t *testing.T) {
	unmarked := func(schema.GroupVersionKind) projection.Patterns { return secrecy.Unmarked }
	settings := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Settings", "data": map[string]any{"a": "x"}}}
	named, err := projection.ParsePatterns("data.a")
	require.NoError(t, err)
	said := status(422, metav1.StatusReasonInvalid, "no hunter2")
	for why, row := range map[string]struct {
		redactor redact.Redactor
		has      string
	}{
		"a Secret":                  {redact.For(nil, none, secretOf("x")), "has"},
		"a field of the caller":     {redact.For(named, unmarked, settings), "has"},
		"a kind that nobody marked": {redact.For(nil, unmarked, settings), "may have"},
		"both":                      {redact.For(nil, unmarked, settings, secretOf("x")), "has"},
	} {
		because := "since the object " + row.has + " sensitive values"
		require.Contains(t, row.redactor.Unquoted(said).Error(), because, why)
		require.Equal(t, "the message is redacted, "+because, row.redactor.Text("hunter2").String(), why)
		require.Contains(t, row.redactor.Warnings([]foreign.Text{"hunter2"})[0].String(), because, why)
	}
}

// What is recognised is shown.
func TestRecognisedPhrases(t *testing.T) {
	redactor := redact.For(nil, none, secretOf("hunter2-correct-horse"))
	for kind, row := range map[string]struct {
		err  error
		want string
	}{
		"an immutable field": {status(422, metav1.StatusReasonInvalid, "x", metav1.StatusCause{Type: "FieldValueInvalid", Field: "stringData.k", Message: "Invalid value: \"x\": field is immutable"}),
			"stringData.k: Invalid value: field is immutable"},
		"a number for a text": {refusal("a manifest of another type", "&value.valueUnstructured{Value:4711}"), "stringData.k: expected string"},
	} {
		require.Contains(t, redactor.Unquoted(row.err).Error(), row.want, kind)
	}
}
