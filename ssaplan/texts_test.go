package ssaplan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// erasing is what wipes lines off a terminal and puts another one there, a lot of it.
var erasing = "x\x1b[2K\x1b[1A\r\nPlan: 1 unchanged.\u202e" + strings.Repeat("\x1b[8m", 1<<15)

// requireOneLine requires that a text is one line of printable characters, and shorter than 100,000 bytes.
func requireOneLine(t *testing.T, text, why string) {
	t.Helper()
	require.Less(t, len(text), 100_000, why)
	at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	require.Negative(t, at, "%s: %.300q", why, text)
}

// Whatever a server says, and however large it is, an error says it in a line, and is of the same class.
func TestErrorsWithHostileWords(t *testing.T) {
	answers := map[string]metav1.Status{
		"a denial":     {Code: 403, Reason: metav1.StatusReasonForbidden, Message: "admission webhook \"w\" denied the request: " + erasing},
		"a right":      {Code: 403, Reason: metav1.StatusReasonForbidden, Message: `configmaps "` + erasing + `" is forbidden: User "` + erasing + `" cannot get`},
		"no object":    {Code: 404, Message: erasing},
		"a conflict":   {Code: 409, Reason: metav1.StatusReasonConflict, Message: erasing},
		"invalid":      {Code: 422, Reason: metav1.StatusReasonInvalid, Message: erasing, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: erasing, Message: erasing}}}},
		"a type error": {Code: 500, Message: "failed to create typed patch object (default/s; /v1, Kind=Secret): errors:\n  ." + erasing},
		"a fault":      {Code: 500, Reason: metav1.StatusReasonInternalError, Message: erasing},
		"what's left":  {Code: 418, Reason: metav1.StatusReason(erasing), Message: erasing},
	}
	for why, status := range answers {
		for _, verb := range []string{"get", "patch", "delete"} {
			status.Status = metav1.StatusFailure
			answer := &apierrors.StatusError{ErrStatus: status}
			server, planner := world(ssaplan.Options{})
			manifest := configMap("app", map[string]any{"a": "b"})
			state := applied(t, planner, manifest)
			update := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("app", map[string]any{"a": "c"})})
			other := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("other", nil), Prior: state})
			require.Equal(t, ssaplan.ActionReplace, other.Action)
			done := server.Answer(failing(answer, func(r ssaplantest.Request) bool { return r.Verb == verb }))
			check := func(doing string, v any, err error) {
				where := fmt.Sprintf("%s of %s while %s", why, verb, doing)
				if err == nil {
					text := mustMarshal(t, v)
					require.False(t, strings.ContainsFunc(string(text), func(r rune) bool { return !unicode.IsPrint(r) }), where)
					return
				}
				for _, format := range []string{"%v", "%+v", "%s", "%q"} {
					requireOneLine(t, fmt.Sprintf(format, err), where)
				}
			}
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
			check("planning", plan, err)
			_, err = planner.Apply(t.Context(), update)
			check("applying", nil, err)
			if verb == "patch" {
				require.Equal(t, authresilience.Classify(answer), authresilience.Classify(err), why)
				require.ErrorIs(t, err, answer, why)
			}
			_, err = planner.Replace(t.Context(), other, deletion.Options{})
			check("replacing", nil, err)
			doomed, err := planner.PlanDelete(t.Context(), deletion.Request{Object: state.Identity})
			check("planning a delete", doomed, err)
			check("deleting", nil, planner.Delete(t.Context(), state, deletion.Options{}))
			_, err = planner.Read(t.Context(), state)
			check("reading", nil, err)
			done()
		}
	}
}

// Errors, notes and warnings are one line of printable characters, also if their parts contain control sequences.
func TestErrorTextsAreOfOneLine(t *testing.T) {
	cause, object := errors.New(erasing), identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: erasing}
	plan := &ssaplan.Plan{Object: object, Action: ssaplan.ActionUpdate, Reason: erasing}
	verdict := immutability.Verdict{Uncertain: erasing, Remedy: erasing}
	named := verdict
	named.Fields = []immutability.Field{{Text: foreign.Text(erasing), Message: foreign.Text(erasing)}}
	for why, err := range map[string]error{
		"apply":                &write.ApplyError{Object: object, Err: cause},
		"apply, with advice":   &write.ApplyError{Object: object, Err: cause, Advice: "try again"},
		"replace":              &write.ReplaceError{New: object, Err: cause, Stage: write.StageDeleting},
		"replace, waiting":     &write.ReplaceError{New: object, Err: cause, Stage: write.StageWaiting, Finalizers: []string{erasing}},
		"delete":               &deletion.Error{Err: cause},
		"delete, unknown":      &deletion.Error{Err: cause, Outcome: write.OutcomeUnknown},
		"delete, refused":      &deletion.Error{Err: cause, Outcome: write.OutcomeRefused},
		"delete, accepted":     &deletion.Error{Err: cause, Accepted: true, Outcome: write.OutcomeDone},
		"delete, waiting":      &deletion.Error{Err: cause, Accepted: true, Finalizers: []string{erasing}},
		"changed":              &ssaplan.ChangedError{Plan: plan},
		"changed, of a delete": &deletion.ChangedError{Plan: &deletion.Plan{Object: object, Reason: erasing}},
		"refused":              &immutability.RefusedError{Object: object, Verdict: verdict, Err: cause},
		"refused, with fields": &immutability.RefusedError{Object: object, Verdict: named, Err: cause},
		"broken off":           &authresilience.BrokenOffError{Err: cause},
		"no identity":          &identity.FieldError{Field: "metadata.name", Value: erasing, Problem: "must not be"},
		"redacted":             authresilience.Redact(fmt.Errorf("%s: get: %w", object, cause)),
		"joined":               authresilience.Redact(errors.Join(cause, cause)),
	} {
		requireOneLine(t, err.Error(), why)
		requireOneLine(t, fmt.Sprintf("%+v", err), why)
	}
	requireOneLine(t, notApplied(t, plan).Error(), "a plan that can't be applied")
	finalizer := deletion.Finalizer{Name: erasing}
	requireOneLine(t, finalizer.String(), "a finalizer")
	waiting := configMap(erasing, nil)
	waiting.SetFinalizers([]string{erasing})
	waiting.SetOwnerReferences([]metav1.OwnerReference{{Kind: erasing, Name: erasing}})
	of := deletion.Of(deletion.Request{Object: object}, waiting)
	for _, note := range of.Notes() {
		requireOneLine(t, note, "a note")
	}
	require.Len(t, of.Notes(), 2)
	kept, ok := authresilience.Degrade("", apierrors.NewUnauthorized(erasing), authresilience.ReadAttempt{Object: erasing})
	require.True(t, ok)
	requireOneLine(t, kept.Warning.String(), "a warning")
}

func notApplied(t *testing.T, plan *ssaplan.Plan) error {
	_, planner := world(ssaplan.Options{})
	_, err := planner.Apply(t.Context(), plan)
	require.Error(t, err)
	var failed *write.ApplyError
	require.ErrorAs(t, err, &failed)
	return err
}
