package immutability_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/immutability"
)

// checkLaws checks what holds for every status.
func checkLaws(t *testing.T, status metav1.Status) {
	t.Helper()
	bare := &apierrors.StatusError{ErrStatus: status}
	verdict := immutability.ClassifyStatus(status)
	assert.Contains(t, verdictFor, kindName(verdict.Refusal), "one of the kinds")

	for _, wrapped := range []error{bare, fmt.Errorf("a: %w", bare), errors.Join(errors.New("a"), bare)} {
		assert.Equal(t, verdict, immutability.Classify(wrapped), "wrapping changes nothing")
	}
	if verdict.Replaceable() {
		assert.Equal(t, immutability.RefusalImmutable, verdict.Refusal)
		assert.NotEmpty(t, verdict.Evidence.Families, "only known texts are proof")
	}
	assert.Equal(t, len(verdict.Fields), len(distinct(verdict.Fields)), "fields are distinct")

	if status.Details != nil && len(status.Details.Causes) > 0 {
		more := *status.DeepCopy()
		more.Details.Causes = append(more.Details.Causes, more.Details.Causes...)
		assert.Equal(t, verdict.Fields, immutability.ClassifyStatus(more).Fields, "repeated causes count once")
		more.Details.Causes = append(more.Details.Causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueRequired, Field: "spec.zzz", Message: "Required value"})
		assert.False(t, immutability.ClassifyStatus(more).Replaceable(), "one more cause that isn't immutable spoils it")
	}

	obj := object(t, `{apiVersion: v1, kind: A, metadata: {name: x}}`)
	refuses := &fake{createErr: bare, updateErr: bare}
	probed := immutability.Probe(context.Background(), refuses, obj, obj, verdict, immutability.ProbeOptions{})
	if !verdict.Replaceable() {
		assert.False(t, probed.Replaceable() && probed.Evidence.Create.Outcome != immutability.OutcomeValid, "only the server's word makes it replaceable")
	}
}

// kindName maps None to a kind that verdictFor has.
func kindName(k immutability.Refusal) string {
	for truth, kind := range verdictFor {
		if kind == k || k == immutability.RefusalNone {
			return truth
		}
	}
	return string(k)
}

func distinct(fields []immutability.Field) []immutability.Field {
	sorted := slices.Clone(fields)
	slices.SortFunc(sorted, func(a, b immutability.Field) int {
		if a.Path+"\x00"+a.Message < b.Path+"\x00"+b.Message {
			return -1
		}
		return 1
	})
	return slices.Compact(sorted)
}

func TestLawsOnRecordedStatuses(t *testing.T) {
	for _, file := range recordedFiles(t) {
		checkLaws(t, readRecord(t, file).Apply)
	}
}

// FuzzClassifyStatus takes the JSON of a status.
func FuzzClassifyStatus(f *testing.F) {
	for i, file := range recordedFiles(f) {
		if i%20 == 0 {
			text, err := json.Marshal(readRecord(f, file).Apply)
			require.NoError(f, err)
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var status metav1.Status
		if json.Unmarshal([]byte(text), &status) != nil {
			return
		}
		checkLaws(t, status)
	})
}

// FuzzClassifyCause takes the parts of one cause of a kind that has immutable fields.
func FuzzClassifyCause(f *testing.F) {
	f.Add("spec.selector", "FieldValueInvalid", `Invalid value: {"a":"b"}: field is immutable`)
	f.Add("spec.template.spec.volumes[0].secret", "FieldValueForbidden", "Forbidden: may not specify more than 1 volume type")
	f.Add("[[]", "", `Invalid value: "`)
	f.Fuzz(func(t *testing.T, field, typ, message string) {
		cause := metav1.StatusCause{Field: field, Type: metav1.CauseType(typ), Message: message}
		checkLaws(t, refused("apps", "Deployment", cause).ErrStatus)
	})
}

func FuzzParseSaved(f *testing.F) {
	_, text := savedStatus(f)
	f.Add(text)
	f.Add(fmt.Sprintf("%q", text))
	f.Add(`Deployment.apps "web" is invalid: [spec.selector: Invalid value: {"a":"b"}: field is immutable, spec.a: Required value]`)
	f.Add(`admission webhook "w" denied the request: no`)
	f.Add("The Job \"x\" is invalid: \n* spec.selector: Invalid value: 1: field is immutable\n* spec.completions: Invalid value: 2: field is immutable")
	f.Add("Apply failed with 2 conflicts: conflicts with \"a\":\n- .p1\nconflicts with \"b\" using v1:\n- .p2")
	file, err := os.ReadFile(recordedFiles(f)[0])
	require.NoError(f, err)
	f.Add(string(file))
	f.Fuzz(func(t *testing.T, text string) {
		saved, err := immutability.ParseSaved([]byte(text))
		if err != nil {
			assert.Zero(t, saved)
			return
		}
		if saved.Prose {
			assert.False(t, saved.Verdict().Replaceable(), "prose proves nothing")
		}
	})
}
