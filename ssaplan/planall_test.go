package ssaplan_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
)

// busy is a transport that notes how many requests are under way at a time.
type busy struct {
	recorded
	mu        sync.Mutex
	now, most int
}

func (b *busy) RoundTrip(request *http.Request) (*http.Response, error) {
	b.count(1)
	defer b.count(-1)
	time.Sleep(time.Millisecond) // so that others get to run
	return b.recorded.RoundTrip(request)
}

func (b *busy) count(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now += n
	b.most = max(b.most, b.now)
}

func TestPlanAllPlansSomeAtATime(t *testing.T) {
	for _, concurrency := range []int{1, 3, 0} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			live := read(t, "deployment", "live.json")
			server := &busy{recorded: recorded{live, live}}
			planner, err := ssaplan.New(&rest.Config{Host: "http://recorded", Transport: server}, ssaplan.Options{FieldManager: "bench", Concurrency: concurrency})
			require.NoError(t, err)
			requests := make([]ssaplan.Request, 200)
			for i := range requests {
				requests[i].Manifest = object(t, "manifest.json")
			}
			n := 0
			for plan, err := range planner.PlanAll(t.Context(), requests) {
				if n == 0 {
					require.NoError(t, err)
					require.Equal(t, ssaplan.ActionNoOp, plan.Action)
				} else {
					require.ErrorContains(t, err, "twice")
				}
				n++
			}
			require.Equal(t, len(requests), n)
			want := concurrency
			if concurrency == 0 {
				want = 8
			}
			require.LessOrEqual(t, server.most, want)
			require.Positive(t, server.most)
		})
	}
}
