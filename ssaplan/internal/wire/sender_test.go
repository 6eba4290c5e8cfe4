package wire

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
)

func TestThrottledRequestsAreRepeatedAndCounted(t *testing.T) {
	for _, row := range []struct {
		retries, want int
		fails         bool
		why           string
	}{
		{-1, 1, true, "nothing is repeated if the host says so"},
		{1, 2, false, "the second answer counts"},
	} {
		var seen []string
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		observe := func(_ context.Context, o server.Observation) {
			failed := o.Class != authresilience.ClassNone
			seen = append(seen, fmt.Sprintln(o.Verb, o.DryRun, o.Object.Name, o.Status, failed, o.Sent))
			assert.Positive(t, o.Received)
		}
		server := connect(t, &wiretest.Answers{Bodies: []string{wiretest.Throttled, wiretest.Object}}, Options{Observe: observe, Logger: logger, ThrottleRetries: row.retries})
		resource := server.Resource(wiretest.ConfigMaps, identity.Identity{Namespace: "n"})
		dryRun := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
		ctx := clock.Quickly(t.Context())
		_, err := resource.Apply(ctx, "a", []byte(`{}`), dryRun)
		require.Equal(t, row.fails, err != nil, row.why)
		require.Equal(t, row.want, resource.Requests(), row.why)
		require.Contains(t, seen[0], "patch true a 422 true", "whether it gets dryRun")
		require.Equal(t, []string{"patch true a 429 true 2\n", "patch true a 200 false 2\n"}[:row.want], seen[1:], row.why)
		require.Equal(t, row.want+1, strings.Count(log.String(), "verb=patch"), row.why)
	}
}
