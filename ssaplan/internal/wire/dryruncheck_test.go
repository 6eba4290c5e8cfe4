package wire

import (
	"context"
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

// What is known is of a group and version, for a while.
func TestWhenDryRunsAreAskedAbout(t *testing.T) {
	transport := &wiretest.Answers{Bodies: []string{wiretest.UnknownDryRun}, Asked: true}
	server := connect(t, transport, Options{})
	asked := func(kind api.Kind) int {
		before := len(transport.Requests)
		require.NoError(t, server.Resource(kind, wiretest.A).checkApply(t.Context(), "a", []byte(wiretest.Object), metav1.PatchOptions{}, nil))
		return len(transport.Requests) - before
	}
	require.Equal(t, 1, asked(wiretest.ConfigMaps))
	require.Equal(t, 0, asked(api.Kind{GroupVersionKind: wiretest.ConfigMap, Resource: "secrets"}))
	require.Equal(t, 1, asked(api.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1"}, Resource: "deployments"}))
	known, _ := server.dryRuns.kinds.Load("apply v1")
	known.(*gotten).at = time.Now().Add(time.Minute - dryRunAge)
	require.Equal(t, 0, asked(wiretest.ConfigMaps))
	known.(*gotten).at = time.Now().Add(-dryRunAge)
	require.Equal(t, 1, asked(wiretest.ConfigMaps))
	require.NoError(t, server.Resource(wiretest.ConfigMaps, wiretest.A).CheckDelete(t.Context()))
	require.Contains(t, transport.Requests[len(transport.Requests)-1], "DELETE ", "another kind of request")
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

func TestCheckDelete(t *testing.T) {
	for _, row := range []struct {
		why    string
		answer string
		again  bool // it is asked again the next time
		err    string
	}{
		{"the server gets dryRun", wiretest.UnknownDryRun, false, ""},
		{"it doesn't, and looks for the object", wiretest.Missing, true, "drops dryRun"},
		{"it doesn't, and says that it deleted it", `{"kind":"Status","apiVersion":"v1","status":"Success"}`, true, "drops dryRun"},
		{"the caller may not, of that name", wiretest.Forbidden, true, ""},
		{"another option is refused", wiretest.UnknownOption, true, ""},
		{"it is unknown", wiretest.Broken, true, "broken"},
		{"it has no time", wiretest.Throttled, true, "slow down"},
	} {
		transport := &wiretest.Answers{Bodies: []string{row.answer}}
		resource := connect(t, transport, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
		for range 2 {
			err := resource.CheckDelete(t.Context())
			if row.err == "" {
				require.NoError(t, err, row.why)
			} else {
				require.ErrorContains(t, err, row.err, row.why)
			}
		}
		require.Zero(t, resource.Requests(), "it is for all objects")
		require.Len(t, transport.Requests, map[bool]int{false: 1, true: 2}[row.again], row.why)
		for _, request := range transport.Requests {
			require.True(t, strings.HasPrefix(request, "DELETE /api/v1/namespaces/n/configmaps/absent-"), request)
		}
	}
}

func TestQuestionsAreAboutNoObject(t *testing.T) {
	body := []byte(`{"metadata":{"name":"a","uid":"1"}}`)
	absent, err := forNone(body, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"`+absentUID+`"}}`, string(absent))
	require.Contains(t, string(body), `"uid":"1"`, "what is sent then is unchanged")
}
