package immutability_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
)

// record is an update that a real server refused, what it answered to the probe, and what could really be done. The end
// to end tests write them.
type record struct {
	Truth    string                     `json:"truth"`
	Manifest *unstructured.Unstructured `json:"manifest"`
	Live     *unstructured.Unstructured `json:"live"`
	Apply    metav1.Status              `json:"apply"`
	Replies  []reply                    `json:"replies"`
}

type reply struct {
	Verb   string                     `json:"verb"`
	Status *metav1.Status             `json:"status"`
	Object *unstructured.Unstructured `json:"object"`
}

func readRecord(t testing.TB, file string) record {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var r record
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

// replay answers requests with the replies of a record, in their order.
type replay struct {
	t       *testing.T
	replies []reply
}

func (r *replay) next(verb string) (*unstructured.Unstructured, error) {
	require.NotEmpty(r.t, r.replies, "an unexpected %s", verb)
	reply := r.replies[0]
	r.replies = r.replies[1:]
	require.Equal(r.t, reply.Verb, verb)
	if reply.Status != nil {
		return nil, &apierrors.StatusError{ErrStatus: *reply.Status}
	}
	return reply.Object, nil
}

func (r *replay) Create(_ context.Context, obj *unstructured.Unstructured, o metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	assert.Empty(r.t, obj.GetUID())
	assert.Empty(r.t, obj.GetResourceVersion())
	assert.Nil(r.t, obj.GetManagedFields())
	assert.Equal(r.t, []string{metav1.DryRunAll}, o.DryRun, "the probe never writes")
	return r.next("create")
}

// Get looks up cluster IPs.
func (r *replay) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	assert.NotEmpty(r.t, name)
	return r.next("get")
}

func (r *replay) Update(_ context.Context, obj *unstructured.Unstructured, o metav1.UpdateOptions, _ ...string) (*unstructured.Unstructured, error) {
	assert.Equal(r.t, "1", obj.GetResourceVersion(), "of the live object")
	assert.Equal(r.t, []string{metav1.DryRunAll}, o.DryRun, "the probe never writes")
	return r.next("update")
}

// verdictFor is the verdict that each truth asks for.
var verdictFor = map[string]immutability.Refusal{
	"replace":  immutability.RefusalImmutable,
	"update":   immutability.RefusalMergeLeftover,
	"invalid":  immutability.RefusalInvalid,
	"one way":  immutability.RefusalDirectional,
	"metadata": immutability.RefusalMetadataPrecondition,
	"policy":   immutability.RefusalAdmissionDenied,
}

func recordedFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/v*/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 400)
	return files
}

// TestRecorded replays every refused update that was tried on real servers.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	widgets := &reader{obj: object(t, string(text))}
	for _, file := range recordedFiles(t) {
		t.Run(file, func(t *testing.T) {
			r := readRecord(t, file)
			texts := immutability.Classify(fmt.Errorf("apply: %w", &apierrors.StatusError{ErrStatus: r.Apply}))
			if texts.Replaceable() {
				assert.Equal(t, "replace", r.Truth, "wrong replacement without the probe")
			}
			server := &replay{t, r.Replies}
			probed := immutability.Probe(context.Background(), server, r.Manifest, r.Live, texts, immutability.ProbeOptions{IPAddresses: server, Definitions: widgets})
			assert.Equal(t, verdictFor[r.Truth], probed.Refusal)
			assert.Equal(t, r.Truth == "replace", probed.Replaceable(), "wrong or missed replacement")
			assert.Equal(t, r.Truth == "update", len(probed.Leftovers) > 0, "leftovers are named")
			assert.Empty(t, probed.Uncertain)
			assert.Empty(t, server.replies, "no fewer requests than recorded")
			assert.NotEmpty(t, probed.Fields)
			assert.Equal(t, probed.Replaceable(), len(probed.Hazards) > 0)
		})
	}
}

// TestRecordedFieldsHoldNoValues checks that users are shown none of the values and diffs that servers print.
func TestRecordedFieldsHoldNoValues(t *testing.T) {
	for _, file := range recordedFiles(t) {
		r := readRecord(t, file)
		if r.Truth == "policy" || r.Truth == "metadata" {
			continue // the words of a policy are passed on, and so are names of finalizers
		}
		for _, f := range immutability.ClassifyStatus(r.Apply).Fields {
			for _, sign := range []string{`{"`, "\n", "nginx", "matchLabels", "core.", "0xc0"} {
				assert.NotContains(t, f.Message, sign, file)
			}
		}
	}
}
