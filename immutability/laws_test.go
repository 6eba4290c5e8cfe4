package immutability_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/ssaplan/primitives/immutability"
)

// statusless has a method Status that isn't an API status.
type statusless struct{}

func (statusless) Error() string  { return "statusless" }
func (statusless) Status() string { return "Invalid" }

// checkLaws checks what holds for every status.
func checkLaws(t *testing.T, status metav1.Status) {
	t.Helper()
	bare := &apierrors.StatusError{ErrStatus: status}
	verdict := immutability.ClassifyStatus(status)
	kinds := slices.Collect(maps.Values(verdictFor))
	assert.Contains(t, append(kinds, immutability.RefusalNone), verdict.Refusal, "one of the kinds")

	apply := errors.New("apply")
	for how, wrapped := range map[string]error{
		"not": bare, "%w": fmt.Errorf("a: %w", bare), "%w twice": fmt.Errorf("a: %w", fmt.Errorf("b: %w", bare)),
		"two %w": fmt.Errorf("%w: %w", apply, bare), "join": errors.Join(apply, bare),
		"aggregate":         utilerrors.NewAggregate([]error{apply, bare}),
		"aggregate in join": errors.Join(statusless{}, utilerrors.NewAggregate([]error{bare})),
	} {
		assert.Equal(t, verdict, immutability.Classify(wrapped), "wrapping changes nothing: %s", how)
	}
	if verdict.Replaceable() {
		assert.Equal(t, immutability.RefusalImmutable, verdict.Refusal)
		assert.NotEmpty(t, verdict.Evidence.Texts, "only known texts are proof")
	}
	assert.Equal(t, len(verdict.Fields), len(distinct(verdict.Fields)), "fields are distinct")
	checkCertainty(t, verdict)

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
	checkCertainty(t, probed)
	if !verdict.Replaceable() {
		assert.False(t, probed.Replaceable() && probed.Evidence.Create.Outcome != immutability.OutcomeValid, "only the server's word makes it replaceable")
	}
}

// checkCertainty checks that a verdict says why it isn't proven, exactly if it isn't.
func checkCertainty(t *testing.T, v immutability.Verdict) {
	t.Helper()
	assert.Equal(t, v.Certainty == immutability.CertaintyProven, v.Uncertain == "", "a doubt has a reason: %+v", v)
	if v.Certainty == immutability.CertaintyUnknown {
		assert.Equal(t, immutability.RefusalInvalid, v.Refusal, "of everything else something is known")
	}
}

func distinct(fields []immutability.Field) map[string]bool {
	found := map[string]bool{}
	for _, f := range fields {
		found[string(f.Text+"\x00"+f.Message)] = true
	}
	return found
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
