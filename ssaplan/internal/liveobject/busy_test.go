package liveobject

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

const (
	recorded = `,"managedFields":[{"manager":"x","operation":"Update"}]`
	patched  = `,"managedFields":[{"manager":"m","operation":"Apply"}]`
)

// busy answers reads and patches in turn, each with the last one when there are no more.
type busy struct {
	mu             sync.Mutex
	reads, patches []string
}

func (b *busy) RoundTrip(request *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := func(bodies *[]string) string {
		body := (*bodies)[0]
		if len(*bodies) > 1 {
			*bodies = (*bodies)[1:]
		}
		return body
	}
	var body string
	switch {
	case request.URL.Path == "/api/v1":
		body = wiretest.Discovery
	case wiretest.IsQuestion(request):
		body = wiretest.UnknownDryRun
	case request.Method == http.MethodGet:
		body = next(&b.reads)
	default:
		body = next(&b.patches)
	}
	return wiretest.Response(request, body), nil
}

func TestTryByRecord(t *testing.T) {
	at := func(version, record string) string {
		return wiretest.Versioned(`,"uid":"1","resourceVersion":"` + version + `"` + record)
	}
	live := wiretest.Decoded(t, at("5", recorded))
	for _, row := range []struct {
		why            string
		reads, patches []string
		err            string
		requests       int
	}{
		{"the object stayed as it was", []string{at("5", recorded)}, []string{at("5", patched)}, "", 2},
		{"read in the same version at last", []string{at("6", recorded), at("8", recorded)}, []string{at("7", patched), at("8", patched)}, "", 4},
		{"the dry run wrote", []string{at("6", patched)}, []string{at("6", patched)}, "the dry run wrote", 2},
		{"the record is another one", []string{at("6", recorded)}, []string{wiretest.TestFailed}, "the object has been modified", 2},
		{"the read failed", []string{wiretest.Throttled}, []string{at("6", patched)}, "slow down", 2},
		{"re-created", []string{wiretest.Versioned(`,"uid":"2","resourceVersion":"6"` + recorded)}, []string{at("6", patched)}, "the object has been modified", 2},
	} {
		target := locate(t, &busy{reads: row.reads, patches: row.patches})
		now, made, err := target.TryByRecord(t.Context(), live, []byte(`[]`), "m")
		assert.Equal(t, row.requests, target.Requests(), row.why)
		if row.err != "" {
			assert.ErrorContains(t, err, row.err, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, made.GetResourceVersion(), now.GetResourceVersion(), row.why)
	}
}

// The answer to a patch of the content comes without what others have written since the object was read.
func TestTryContent(t *testing.T) {
	of := func(version, generation, record, labels, spec string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"` + version +
			`","generation":` + generation + record + `,"labels":` + labels + `},"spec":` + spec + `}`
	}
	live := wiretest.Decoded(t, of("5", "3", recorded, `{"n":"1"}`, `{"size":1,"free":{"n":1}}`))
	const patch = `[{"op":"add","path":"/spec","value":{}}]`
	for _, row := range []struct{ why, now, answer, want string }{
		{"others wrote elsewhere", of("9", "4", recorded, `{"n":"2"}`, `{"size":1,"free":{"n":1}}`), of("9", "5", patched, `{"n":"2"}`, `{"size":2,"free":{"n":1}}`),
			of("5", "4", patched, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`)},
		{"and added and removed", of("9", "3", recorded, `{"m":"1"}`, `{"size":1,"free":{"n":1}}`), of("9", "4", patched, `{"m":"1"}`, `{"size":2,"free":{"n":1}}`),
			of("5", "4", patched, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`)},
		{"the patch has the values of before", of("9", "4", recorded, `{"n":"1"}`, `{"size":1,"free":{"n":2}}`), of("9", "5", patched, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`),
			of("5", "4", patched, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`)},
		{"others wrote what the patch sets", of("9", "4", recorded, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`), of("9", "4", patched, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`), ""},
		{"or something else there", of("9", "4", recorded, `{"n":"1"}`, `{"size":3,"free":{"n":1}}`), of("9", "4", patched, `{"n":"1"}`, `{"size":2,"free":{"n":1}}`), ""},
		{"what others wrote was changed", of("9", "4", recorded, `{"n":"2"}`, `{"size":1,"free":{"n":1}}`), of("9", "5", patched, `{"n":"3"}`, `{"size":2,"free":{"n":1}}`), ""},
	} {
		made, err := locate(t, &busy{reads: []string{row.now}, patches: []string{row.answer}}).TryContent(t.Context(), live, []byte(patch), "m")
		if row.want == "" {
			assert.True(t, precondition.IsOutdated(err), row.why)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, wiretest.Decoded(t, row.want), made, row.why)
	}
}

// A pair is what is known of an object in one version, for the apply that was tried.
func TestPair(t *testing.T) {
	at := func(version string) string {
		return wiretest.Versioned(`,"uid":"1","resourceVersion":"` + version + `"`)
	}
	target := locate(t, &busy{reads: []string{at("6"), at("8")}, patches: []string{at("7"), at("8")}})
	pair, live, options := &Pair{}, wiretest.Decoded(t, at("5")), metav1.PatchOptions{FieldManager: "m"}
	require.False(t, pair.IsExact())
	_, err := pair.Try(t.Context(), target, live, []byte(`{}`), options)
	require.NoError(t, err)
	require.False(t, pair.IsExact())
	made, err := pair.Try(t.Context(), target, pair.Now, []byte(`{}`), options)
	require.NoError(t, err)
	require.True(t, pair.IsExact())
	require.Equal(t, 4, target.Requests())
	again, err := pair.Try(t.Context(), target, pair.Now, []byte(`{}`), options)
	require.NoError(t, err)
	require.Same(t, made, again, "it is known")
	require.Equal(t, 4, target.Requests())
	for _, body := range []string{`{"a":1}`, `{}`} { // of another body it isn't, and then not of the first
		_, err = pair.Try(t.Context(), target, pair.Now, []byte(body), options)
		require.NoError(t, err)
	}
	require.Equal(t, 8, target.Requests())
}
