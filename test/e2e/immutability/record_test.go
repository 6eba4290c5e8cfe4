package immutability_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/replay"
)

var update = flag.Bool("update", false, "record the statuses that the server sends")

// record is what the unit tests of the package need to judge a pair without a server.
type record struct {
	Truth    truth                      `json:"truth"`
	Manifest *unstructured.Unstructured `json:"manifest"`
	Live     *unstructured.Unstructured `json:"live"`
	// Apply is the answer to the dry-run apply, Replies are those to the requests of the probe.
	Apply   metav1.Status `json:"apply"`
	Replies []reply       `json:"replies,omitempty"`
}

// reply is the server's answer to one request of the probe: an error, or the object.
type reply struct {
	Verb   string                     `json:"verb"`
	Status *metav1.Status             `json:"status,omitempty"`
	Object *unstructured.Unstructured `json:"object,omitempty"`
}

func newReply(verb string, obj *unstructured.Unstructured, err error) reply {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return reply{Verb: verb, Status: &status.ErrStatus}
	}
	return reply{Verb: verb, Object: obj}
}

func statusOf(t *testing.T, err error) metav1.Status {
	t.Helper()
	var status *apierrors.StatusError
	require.ErrorAs(t, err, &status)
	return status.ErrStatus
}

// compareRecord writes the record with -update. Otherwise it checks that the server still says what was recorded, as
// far as verdicts go.
func compareRecord(t *testing.T, version, name string, r record) {
	t.Helper()
	file := filepath.Join("..", "..", "..", "immutability", "testdata", version, name+".json")
	r = r.anonymous(t)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(r.format(t)), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err, "record it with -update")
	var recorded record
	require.NoError(t, json.Unmarshal(text, &recorded))
	now, then := immutability.ClassifyStatus(r.Apply), immutability.ClassifyStatus(recorded.Apply)
	assert.Equal(t, then.Refusal, now.Refusal, "the recorded status is out of date: run with -update")
	assert.ElementsMatch(t, then.Fields, now.Fields, "the recorded status is out of date: run with -update")
}

// format returns the content of a file.
func (r record) format(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var content map[string]any
	require.NoError(t, decoder.Decode(&content))
	fields := []replay.Field{}
	for _, name := range []string{"truth", "manifest", "live", "apply", "replies"} {
		if value, exists := content[name]; exists {
			fields = append(fields, replay.Field{Name: name, Value: value})
		}
	}
	return replay.Format(fields)
}

// anonymous returns the record without what differs from run to run, and without what no verdict depends on.
func (r record) anonymous(t *testing.T) record {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	if uid := string(r.Live.GetUID()); uid != "" {
		text = []byte(strings.ReplaceAll(string(text), uid, "11111111-1111-4111-8111-111111111111"))
	}
	var clean record
	require.NoError(t, json.Unmarshal(text, &clean))
	objects := []*unstructured.Unstructured{clean.Live}
	for _, reply := range clean.Replies {
		if reply.Object != nil {
			objects = append(objects, reply.Object)
		}
	}
	if clean.Truth != updateWorks && clean.Live.GetKind() != "Service" {
		clean.Live.Object = map[string]any{
			"apiVersion": clean.Live.GetAPIVersion(), "kind": clean.Live.GetKind(), "metadata": clean.Live.Object["metadata"],
		}
	}
	for _, obj := range objects {
		obj.SetResourceVersion("1")
		obj.SetManagedFields(nil)
		for _, field := range []string{"creationTimestamp", "deletionTimestamp"} {
			if _, set, _ := unstructured.NestedString(obj.Object, "metadata", field); set {
				_ = unstructured.SetNestedField(obj.Object, "2024-05-01T10:00:00Z", "metadata", field)
			}
		}
	}
	return clean
}
