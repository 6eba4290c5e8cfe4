package wire

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	api "github.com/ssaplan/primitives/ssaplan/server"
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
		{"the server gets dryRun", []string{unknownDryRun, wiretest.Versioned(wiretest.Identified)}, 2, ""},
		{"the dry run fails", []string{unknownDryRun, broken}, 2, "broken"},
		{"it doesn't, and the object is another one or isn't there", []string{outdated}, 1, "drops dryRun"},
		{"it doesn't, and the manifest is invalid", []string{unknownOption}, 1, "drops dryRun"},
		{"it doesn't, and doesn't look at the uid either", []string{wiretest.Versioned(wiretest.Identified)}, 1, "drops dryRun"},
		{"the caller may not apply", []string{forbidden}, 1, "unknown"},
		{"nobody knows", []string{broken}, 1, "broken"},
	} {
		target := targetOf(t, &answers{bodies: row.answers, asked: true})
		body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
		obj, err := target.TryUnread(t.Context(), body, metav1.PatchOptions{})
		assert.Equal(t, row.sent, target.Requests(), row.why)
		if row.err == "" {
			require.NoError(t, err, row.why)
			require.Equal(t, wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), obj, row.why)
			continue
		}
		require.ErrorContains(t, err, row.err, row.why)
		require.Nil(t, obj, row.why)
	}
}

// An apply is only tried if the server gets the dryRun, which it is asked once.
func TestDryRunsOfApplies(t *testing.T) {
	made := wiretest.Versioned(wiretest.Identified)
	for _, row := range []struct {
		why     string
		answers []string // to two dry runs
		sent    int
		err     string
	}{
		{"the server gets dryRun", []string{unknownDryRun, made, made}, 3, ""},
		{"it doesn't, and the object is another one or isn't there", []string{outdated}, 2, "drops dryRun"},
		{"it doesn't, and the manifest is invalid", []string{unknownOption}, 2, "drops dryRun"},
		{"it doesn't, and doesn't look at the uid either", []string{made}, 2, "drops dryRun"},
		{"who may not apply may not try to", []string{forbidden}, 2, "unknown"},
		{"it has no time", []string{throttled}, 2, "slow down"},
		{"nobody knows", []string{broken}, 2, "broken"},
		{"something doesn't take the question", []string{missing, made, missing, made}, 4, ""},
	} {
		transport := &answers{bodies: row.answers, asked: true}
		target := targetOf(t, transport)
		for range 2 {
			obj, err := target.Try(t.Context(), nil, []byte(object), metav1.PatchOptions{})
			if row.err != "" {
				require.ErrorContains(t, err, row.err, row.why)
				require.Nil(t, obj, row.why)
				require.Zero(t, target.Requests(), "what is asked is for all objects")
				continue
			}
			require.NoError(t, err, row.why)
			require.Equal(t, wiretest.Decoded(t, made), obj, row.why)
		}
		require.Len(t, transport.requests[1:], row.sent, row.why)
		for _, request := range transport.requests[1:] {
			require.Equal(t, "PATCH /api/v1/namespaces/n/configmaps/a", request, row.why)
		}
	}
}

// A JSON patch is only tried if the server gets the dryRun of one, and an answer in another version proves that it was
// carried out.
func TestDryRunsOfJSONPatches(t *testing.T) {
	made := wiretest.Versioned(wiretest.Identified)
	live := wiretest.Decoded(t, made)
	written := strings.Replace(made, live.GetResourceVersion(), "999", 1)
	for _, row := range []struct {
		why     string
		answers []string // to two dry runs
		sent    int
		err     string
	}{
		{"the server gets dryRun", []string{unknownDryRun, made, made}, 3, ""},
		{"it doesn't, and the test fails", []string{unknownOption}, 2, "drops dryRun"},
		{"it doesn't, and doesn't test", []string{made}, 2, "drops dryRun"},
		{"who may not patch may not try to", []string{forbidden}, 2, "unknown"},
		{"something doesn't take the question", []string{missing, made, missing, made}, 4, ""},
		{"the dry run wrote", []string{unknownDryRun, written, written}, 3, "the dry run wrote"},
	} {
		transport := &answers{bodies: row.answers, asked: true}
		target := targetOf(t, transport)
		for range 2 {
			obj, err := target.Patch(t.Context(), live, []byte("[]"), "me", metav1.DryRunAll)
			if row.err != "" {
				require.ErrorContains(t, err, row.err, row.why)
				require.Nil(t, obj, row.why)
				continue
			}
			require.NoError(t, err, row.why)
			require.Equal(t, live, obj, row.why)
		}
		require.Len(t, transport.requests[1:], row.sent, row.why)
		require.Equal(t, row.why == "the dry run wrote", target.Wrote() != nil, row.why)
	}
}

// What is known is of a group and version, for a while.
func TestWhenDryRunsAreAskedAbout(t *testing.T) {
	transport := &answers{bodies: []string{unknownDryRun}, asked: true}
	server := connect(t, transport, Options{})
	asked := func(kind api.Kind) int {
		before := len(transport.requests)
		require.NoError(t, server.Resource(kind, a).checkApply(t.Context(), "a", []byte(object), metav1.PatchOptions{}, nil))
		return len(transport.requests) - before
	}
	require.Equal(t, 1, asked(configMaps))
	require.Equal(t, 0, asked(api.Kind{GroupVersionKind: configMap, Resource: "secrets"}))
	require.Equal(t, 1, asked(api.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1"}, Resource: "deployments"}))
	known, _ := server.dryRuns.kinds.Load("apply v1")
	known.(*gotten).at = time.Now().Add(time.Minute - dryRunAge)
	require.Equal(t, 0, asked(configMaps))
	known.(*gotten).at = time.Now().Add(-dryRunAge)
	require.Equal(t, 1, asked(configMaps))
	require.NoError(t, server.Resource(configMaps, a).CheckDelete(t.Context()))
	require.Contains(t, transport.requests[len(transport.requests)-1], "DELETE ", "another kind of request")
}

// Many who have something to try at the same time ask once, and who doesn't want to wait needn't.
func TestDryRunsAreAskedAboutOnce(t *testing.T) {
	var dryRuns dryRuns
	var asked atomic.Int64
	asking, answered := make(chan struct{}, 8), make(chan struct{})
	ask := func() error {
		asked.Add(1)
		asking <- struct{}{}
		<-answered
		return nil
	}
	var all sync.WaitGroup
	for range cap(asking) {
		all.Add(1)
		go func() {
			defer all.Done()
			assert.NoError(t, dryRuns.check(t.Context(), "", dryRunAge, ask))
		}()
	}
	<-asking
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, dryRuns.check(ctx, "", dryRunAge, ask), context.Canceled)
	close(answered)
	all.Wait()
	require.EqualValues(t, 1, asked.Load())
}

func TestTryUnreadSendsWhatNobodyHas(t *testing.T) {
	target := target(t, unknownDryRun)
	body := []byte(`{"metadata":{"name":"a","uid":"1"}}`)
	absent, err := forNone(body, nil)
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
		`the server was asked for "a" and answers that another object isn't there: check the proxies in front of the server ("b")`)
}
