package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	unknownDryRun = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":` +
		`{"group":"meta.k8s.io","kind":"PatchOptions","causes":[{"field":"dryRun"}]}}`
	unknownOption = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":` +
		`{"group":"meta.k8s.io","kind":"PatchOptions","causes":[{"field":"fieldManager"}]}}`
	outdated = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"uid mismatch"}`
	broken   = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,"message":"broken"}`
	missed   = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"b isn't there",` +
		`"details":{"name":"b","kind":"configmaps"}}`
)

func init() {
	failures[unknownDryRun], failures[unknownOption] = http.StatusUnprocessableEntity, http.StatusUnprocessableEntity
	failures[outdated], failures[broken] = http.StatusConflict, http.StatusInternalServerError
	failures[missed] = http.StatusNotFound
}

func TestTryUnread(t *testing.T) {
	for _, row := range []struct {
		why     string
		answers []string
		sent    int // beside the discovery
		err     string
	}{
		{"the server gets dryRun", []string{unknownDryRun, versioned(identified)}, 2, ""},
		{"the dry run fails", []string{unknownDryRun, broken}, 2, "broken"},
		{"it doesn't, and the object is another one or isn't there", []string{outdated}, 1, "drops dryRun"},
		{"it doesn't, and the manifest is invalid", []string{unknownOption}, 1, "drops dryRun"},
		{"it doesn't, and doesn't look at the uid either", []string{versioned(identified)}, 1, "drops dryRun"},
		{"the caller may not apply", []string{forbidden}, 1, "unknown"},
		{"nobody knows", []string{broken}, 1, "broken"},
	} {
		target := target(t, row.answers...)
		body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
		obj, err := target.TryUnread(t.Context(), body, metav1.PatchOptions{})
		assert.Equal(t, row.sent, target.Requests(), row.why)
		if row.err == "" {
			require.NoError(t, err, row.why)
			require.Equal(t, decoded(t, versioned(identified)), obj, row.why)
			continue
		}
		require.ErrorContains(t, err, row.err, row.why)
		require.Nil(t, obj, row.why)
	}
}

func TestTryUnreadSendsWhatNobodyHas(t *testing.T) {
	target := target(t, unknownDryRun)
	body := []byte(`{"metadata":{"name":"a","uid":"1"}}`)
	absent, err := target.forNone(body)
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"`+absentUID+`"}}`, string(absent))
	require.Contains(t, string(body), `"uid":"1"`, "what is sent then is unchanged")
	for _, body := range []string{`[`, `{"metadata":"a"}`} {
		_, err := target.TryUnread(t.Context(), []byte(body), metav1.PatchOptions{})
		require.Error(t, err)
	}
	target.subresource = "scale"
	_, err = target.TryUnread(t.Context(), []byte(`{"metadata":{},"spec":{}}`), metav1.PatchOptions{})
	require.ErrorContains(t, err, "spec.replicas")
	require.Zero(t, target.Requests())
}

func TestCheckDelete(t *testing.T) {
	for _, row := range []struct {
		why    string
		answer string
		again  bool // it is asked again the next time
		err    string
	}{
		{"the server gets dryRun", unknownDryRun, false, ""},
		{"it doesn't, and looks for the object", missing, true, "drops dryRun"},
		{"it doesn't, and says that it deleted it", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, true, "drops dryRun"},
		{"the caller may not, of that name", forbidden, true, ""},
		{"another option is refused", unknownOption, true, ""},
		{"nobody knows", broken, true, "broken"},
		{"it has no time", throttled, true, "slow down"},
	} {
		transport := &answers{bodies: []string{row.answer}}
		resource := connect(t, transport, Options{}).Resource(configMaps, a)
		for range 2 {
			err := resource.CheckDelete(t.Context())
			if row.err == "" {
				require.NoError(t, err, row.why)
			} else {
				require.ErrorContains(t, err, row.err, row.why)
			}
		}
		require.Zero(t, resource.Requests(), "it is for all objects")
		require.Len(t, transport.requests, map[bool]int{false: 1, true: 2}[row.again], row.why)
		for _, request := range transport.requests {
			require.True(t, strings.HasPrefix(request, "DELETE /api/v1/namespaces/n/configmaps/absent-"), request)
		}
	}
}

// A 404 counts only if it is about the object that was asked for.
func TestMissingIsWhatWasAskedFor(t *testing.T) {
	live, err := target(t, missing).Live(t.Context())
	require.NoError(t, err)
	require.Nil(t, live)
	_, err = target(t, missed).Live(t.Context())
	require.EqualError(t, err,
		`the server was asked for "a" and answers that another object isn't there: check what stands in front of the server ("b")`)
}
