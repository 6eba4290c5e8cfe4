package outcome_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// member is an object of a set, and what the server had of it before.
type member struct {
	manifest, before *unstructured.Unstructured // before is nil if it wasn't there
}

// patience is how long a planner waits for an answer that a fault may keep back.
func patience(fault faultproxy.Fault) time.Duration {
	if strings.Contains(fault.String(), "stall") {
		return 10 * time.Second
	}
	return 30 * time.Second
}

// eachFault runs a test with each fault in each of the writes, side by side.
func eachFault(t *testing.T, writes int, run func(t *testing.T, c *cluster, proxy *faultproxy.Proxy, fault faultproxy.Fault, name string, write int)) {
	c := newCluster(t)
	t.Run("group", func(t *testing.T) { // ends when the parallel tests have
		for i, fault := range faults {
			t.Run(fault.String(), func(t *testing.T) {
				t.Parallel()
				proxy := faultproxy.StartAs(t, c.Server.Config())
				for write := 1; write <= writes; write++ {
					if !isPlayed(i, write) {
						continue
					}
					run(t, c, proxy, fault, fmt.Sprintf("set%d-%d", i, write), write)
				}
			})
		}
	})
}

// checkWrites fails if something was written twice that isn't said to have been refused because the object changed.
func checkWrites(t *testing.T, proxy *faultproxy.Proxy, fault faultproxy.Fault, writes int) {
	t.Helper()
	_, spoiled := proxy.Spoiled()
	require.True(t, spoiled, fault)
	if arrived, _ := proxy.Writes(); fault.String() != "409 Status" {
		assert.LessOrEqual(t, arrived, writes, "%s", fault)
	}
}

// Each result of a set agrees with the object on the server, whichever write is broken and in whichever way. The other
// objects are applied.
func TestOutcomesOfSets(t *testing.T) {
	t.Parallel()
	eachFault(t, 3, func(t *testing.T, c *cluster, proxy *faultproxy.Proxy, fault faultproxy.Fault, name string, nth int) {
		planner := c.planner(t, proxy, patience(fault))
		members := map[string]*member{}
		var requests []ssaplan.Request
		for _, suffix := range []string{"-a", "-b", "-c"} {
			m := &member{manifest: lab.Objectf(t, changed, name+suffix)}
			if suffix == "-b" {
				m.before = c.Apply(t, manager, lab.Objectf(t, settings, name+suffix))
			}
			members[name+suffix] = m
			requests = append(requests, ssaplan.Request{Manifest: m.manifest})
		}
		s := set.New(planner, requests, set.Options{KeepGoing: true})
		for item := range s.Plan(t.Context()) {
			require.NoError(t, item.Err)
		}
		proxy.InjectWrite(nth, fault)
		broken := 0
		ctx, _ := impatient(t)
		for result := range s.Apply(ctx) {
			m := members[result.Item.Object.Name]
			now := c.Lookup(t, m.manifest)
			why := fmt.Sprintf("%s, %s, write %d: %s: %v", result.Item.Object, fault, nth, result.Outcome, result.Err)
			isMade := now != nil && fmt.Sprint(now.Object["data"]) == fmt.Sprint(m.manifest.Object["data"])
			isAsBefore := now == nil && m.before == nil || now != nil && m.before != nil && now.GetResourceVersion() == m.before.GetResourceVersion()
			switch result.Outcome {
			case write.OutcomeDone:
				assert.NoError(t, result.Err, why)
				assert.True(t, isMade, why)
				continue
			case write.OutcomeUnknown:
				assert.Contains(t, open, fault.String(), why)
			default:
				assert.True(t, isAsBefore, why)
			}
			broken++
			assert.Error(t, result.Err, why)
		}
		assert.LessOrEqual(t, broken, 1, "%s, write %d: the others are applied", fault, nth)
		checkWrites(t, proxy, fault, len(requests))
	})
}

// Each result of a removal agrees with the object on the server, whichever delete is broken and in whichever way.
func TestOutcomesOfRemovals(t *testing.T) {
	t.Parallel()
	eachFault(t, 2, func(t *testing.T, c *cluster, proxy *faultproxy.Proxy, fault faultproxy.Fault, name string, nth int) {
		planner := c.planner(t, proxy, patience(fault))
		before := map[string]*unstructured.Unstructured{}
		var members []set.Member
		for _, suffix := range []string{"-a", "-b"} {
			obj := c.Apply(t, manager, lab.Objectf(t, settings, name+suffix))
			id, err := identity.Of(obj.Object)
			require.NoError(t, err)
			before[id.Name] = obj
			members = append(members, set.Member{Object: id, UID: string(obj.GetUID())})
		}
		staying := slices.Concat(open, believed) // after these faults a removal waits for what isn't going
		ctx, fake := impatient(t)
		options := set.RemovalOptions{}
		options.Delete.Progress = func(identity.Identity, []string) {
			if slices.Contains(staying, fault.String()) {
				fake.Advance(5 * time.Second) // of a minute
			}
		}
		r := set.NewRemoval(planner, members, options)
		for item := range r.Plan(t.Context()) {
			require.NoError(t, item.Err)
			require.True(t, item.Deletes())
		}
		proxy.InjectWrite(nth, fault)
		for result := range r.Apply(ctx) {
			old := before[result.Item.Member.Object.Name]
			now := c.Lookup(t, old)
			isGone := now == nil || now.GetDeletionTimestamp() != nil
			why := fmt.Sprintf("%s, %s, delete %d: %s: %v", result.Item.Member.Object, fault, nth, result.Outcome, result.Err)
			switch result.Outcome {
			case write.OutcomeDone:
				assert.True(t, isGone, why)
			case write.OutcomeUnknown:
				assert.Contains(t, staying, fault.String(), why)
			default:
				assert.Error(t, result.Err, why)
				assert.False(t, isGone, why)
			}
			assert.False(t, result.Gone && !isGone, why)
		}
		checkWrites(t, proxy, fault, len(members))
	})
}

// Whatever becomes of the lists by which many objects are read, no plan is made of it that isn't true.
func TestBrokenLists(t *testing.T) {
	t.Parallel()
	const objects = 50 // the fewest that are listed
	c := newCluster(t)
	var requests []ssaplan.Request
	for i := range objects {
		m := lab.Objectf(t, settings, fmt.Sprintf("listed-%02d", i))
		c.Apply(t, manager, m)
		requests = append(requests, ssaplan.Request{Manifest: m})
	}
	for i, fault := range fuzzed {
		if !isPlayed(i, 0) || strings.HasPrefix(fault.String(), "done, then ") || strings.HasPrefix(fault.String(), "sent ") {
			continue // which of a read is the same as the fault alone
		}
		proxy := faultproxy.StartAs(t, c.Server.Config())
		planner := c.planner(t, proxy, patience(fault))
		proxy.InjectLists("configmaps", fault)
		planned, failures, failed := 0, 0, error(nil)
		for plan, err := range planner.PlanAll(t.Context(), requests) {
			switch {
			case err != nil:
				failures, failed = failures+1, err
			case plan.Action == ssaplan.ActionNoOp:
				planned++
			default:
				t.Errorf("%s: %s %s: %s", fault, plan.Object, plan.Action, plan.Reason)
			}
		}
		_, spoiled := proxy.Spoiled()
		require.True(t, spoiled, fault)
		require.Equal(t, objects, planned+failures, "%s: each object has an answer", fault)
		t.Logf("%-32s %d of %d planned; %v", fault, planned, objects, failed)
	}
}
