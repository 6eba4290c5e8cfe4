package authresilience_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// TestLeaderChange has the server answer each request of each operation by saying that etcd has another leader, after it
// did what was asked. The host that tries again gets what it wants, and the history of the objects is the same as without
// a fault: nothing is lost, and nothing is written twice.
func TestLeaderChange(t *testing.T) {
	f := newFlow(t, "leader-change")
	f.grant(t, f.namespace, "deleter", "{kind: ServiceAccount, name: deployer, namespace: leader-change}", "delete")
	for _, op := range []struct {
		name string
		run  func(*survivor, *testing.T)
		want []string
	}{
		{"plan", (*survivor).planUpdate, []string{"MODIFIED it"}},
		{"plan-all", (*survivor).planAll, []string{"MODIFIED it", "ADDED it-too"}},
		{"create", (*survivor).create, []string{"ADDED it"}},
		{"update", (*survivor).update, []string{"MODIFIED it"}},
		{"replace", (*survivor).replace, []string{"DELETED it", "ADDED it"}},
		{"rename", (*survivor).rename, []string{"DELETED it", "ADDED it-renamed"}},
		{"delete", (*survivor).delete, []string{"DELETED it"}},
	} {
		t.Run(op.name, func(t *testing.T) {
			for n := 1; ; n++ {
				s := f.survivor(t, fmt.Sprintf("%s-%d", op.name, n), n)
				op.run(s, t)
				request, spoiled := s.proxy.Spoiled()
				assert.Equal(t, op.want, s.history(t), "%s", request)
				assert.Equal(t, spoiled && !request.Write, s.failed, "%s: an error for each answer that is one, but for writes, which are looked up", request)
				if !spoiled {
					require.Greater(t, n, 2, "nothing was spoiled")
					return
				}
				t.Log(request)
			}
		})
	}
}

// survivor is a host with objects of its own, one of whose requests is answered by a leader change.
type survivor struct {
	*flow
	name     string
	proxy    *faultproxy.Proxy
	spoiled  int
	healthy  *ssaplan.Planner
	manifest *unstructured.Unstructured
	start    string // the resourceVersion from which on the history counts
	failed   bool
}

func (f *flow) survivor(t *testing.T, name string, n int) *survivor {
	s := &survivor{
		flow: f, name: name, proxy: faultproxy.Start(t, f.Config), spoiled: n, healthy: f.planner(t, f.Config), manifest: f.manifest.DeepCopy(),
	}
	s.manifest.SetName(name)
	return s
}

// attempt carries out an operation with the fault, and demands that what fails does so because of it.
func (s *survivor) attempt(t *testing.T, run func(*ssaplan.Planner) error) {
	t.Helper()
	list, err := s.Client.Resource(configMaps).Namespace(s.namespace).List(context.Background(), metav1.ListOptions{})
	require.NoError(t, err)
	s.start = list.GetResourceVersion()
	planner := s.planner(t, s.proxy.Client(s.fresh), func(o *ssaplan.Options) { o.Concurrency = 1 })
	s.proxy.Inject(s.spoiled, faultproxy.LeaderChange())
	if err := run(planner); err != nil {
		s.failed = true
		s.assertClear(t, err)
	}
}

// assertClear demands that an error says which object it is about and what happened.
func (s *survivor) assertClear(t *testing.T, err error) {
	t.Helper()
	assert.Equal(t, authresilience.ClassUnavailable, authresilience.Classify(err), "%v", err)
	assert.ErrorContains(t, err, "v1/ConfigMap leader-change/"+s.manifest.GetName())
	assert.ErrorContains(t, err, "etcdserver: leader changed")
}

// settle plans and applies until there is nothing to do any more, as a host does that tries again.
func (s *survivor) settle(t *testing.T, manifests ...*unstructured.Unstructured) {
	t.Helper()
	for _, manifest := range manifests {
		_, err := s.healthy.Apply(context.Background(), s.planFor(t, manifest))
		require.NoError(t, err)
		assert.Equal(t, ssaplan.ActionNoOp, s.planFor(t, manifest).Action)
	}
}

func (s *survivor) planFor(t *testing.T, manifest *unstructured.Unstructured) *ssaplan.Plan {
	t.Helper()
	plan, err := s.healthy.Plan(context.Background(), ssaplan.Request{Manifest: manifest})
	require.NoError(t, err)
	return plan
}

// drifted makes an object that is no longer as the manifest says.
func (s *survivor) drifted(t *testing.T) {
	t.Helper()
	s.settle(t, s.manifest)
	s.driftOf(t, s.manifest.GetName())
}

func (s *survivor) planUpdate(t *testing.T) {
	s.drifted(t)
	s.attempt(t, func(planner *ssaplan.Planner) error {
		_, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: s.manifest})
		return err
	})
	s.settle(t, s.manifest)
}

func (s *survivor) planAll(t *testing.T) {
	s.drifted(t)
	second := s.manifest.DeepCopy()
	second.SetName(s.manifest.GetName() + "-too")
	s.attempt(t, func(planner *ssaplan.Planner) (failure error) {
		for _, err := range planner.PlanAll(context.Background(), []ssaplan.Request{{Manifest: s.manifest}, {Manifest: second}}) {
			if err != nil {
				s.assertClear(t, err)
				failure = err
			}
		}
		return failure
	})
	s.settle(t, s.manifest, second)
}

func (s *survivor) create(t *testing.T) {
	s.applyTwice(t, ssaplan.ActionCreate)
}

func (s *survivor) update(t *testing.T) {
	s.drifted(t)
	s.applyTwice(t, ssaplan.ActionUpdate)
}

// applyTwice applies a plan, and if that fails the very same once more.
func (s *survivor) applyTwice(t *testing.T, action ssaplan.Action) {
	plan := s.planFor(t, s.manifest)
	require.Equal(t, action, plan.Action)
	s.attempt(t, func(planner *ssaplan.Planner) error {
		_, err := planner.Apply(context.Background(), plan)
		return err
	})
	if !s.failed {
		return
	}
	written := s.planFor(t, s.manifest).Action == ssaplan.ActionNoOp
	_, err := s.healthy.Apply(context.Background(), plan)
	assert.Equal(t, written, err != nil, "what was written is not written again: %v", err)
	s.settle(t, s.manifest)
}

// replace plans a value for an object that is immutable.
func (s *survivor) replace(t *testing.T) {
	require.NoError(t, unstructured.SetNestedField(s.manifest.Object, true, "immutable"))
	s.settle(t, s.manifest)
	require.NoError(t, unstructured.SetNestedField(s.manifest.Object, "2", "data", "a"))
	s.replaceBy(t, s.planFor(t, s.manifest))
}

func (s *survivor) rename(t *testing.T) {
	state := s.remembered(t)
	s.manifest.SetName(s.manifest.GetName() + "-renamed")
	plan, err := s.healthy.Plan(context.Background(), ssaplan.Request{Manifest: s.manifest, Prior: state})
	require.NoError(t, err)
	s.replaceBy(t, plan)
}

// replaceBy carries out a plan, and if that fails goes on with the very same.
func (s *survivor) replaceBy(t *testing.T, plan *ssaplan.Plan) {
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	options := ssaplan.DeleteOptions{PollInterval: time.Millisecond}
	s.attempt(t, func(planner *ssaplan.Planner) error {
		_, err := planner.Replace(context.Background(), plan, options)
		return err
	})
	if s.failed {
		_, err := s.healthy.Replace(context.Background(), plan, options)
		require.NoError(t, err, "also if the new object is there")
	}
	assert.Equal(t, ssaplan.ActionNoOp, s.planFor(t, s.manifest).Action)
}

func (s *survivor) delete(t *testing.T) {
	state := s.remembered(t)
	options := ssaplan.DeleteOptions{PollInterval: time.Millisecond}
	s.attempt(t, func(planner *ssaplan.Planner) error { return planner.Delete(context.Background(), state, options) })
	require.NoError(t, s.healthy.Delete(context.Background(), state, options), "gone already, or now")
}

// remembered applies the manifest, and returns what a host remembers of that.
func (s *survivor) remembered(t *testing.T) *explain.State {
	t.Helper()
	s.settle(t, s.manifest)
	state, err := explain.NewState(nil, s.liveOf(t, s.name).Object, fieldowner.Applier{Manager: manager}, nil)
	require.NoError(t, err)
	return state
}

// history returns what was written since the start, in order: each write is an event of a watch.
func (s *survivor) history(t *testing.T) (events []string) {
	t.Helper()
	resource := s.Client.Resource(configMaps).Namespace(s.namespace)
	end := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	end.SetName("end-" + s.name)
	_, err := resource.Create(context.Background(), end, metav1.CreateOptions{})
	require.NoError(t, err)
	watch, err := resource.Watch(context.Background(), metav1.ListOptions{ResourceVersion: s.start})
	require.NoError(t, err)
	defer watch.Stop()
	for event := range watch.ResultChan() {
		obj, ok := event.Object.(*unstructured.Unstructured)
		require.True(t, ok, "%v", event.Object)
		if obj.GetName() == end.GetName() {
			return events
		}
		events = append(events, fmt.Sprintf("%s it%s", event.Type, strings.TrimPrefix(obj.GetName(), s.name)))
	}
	require.Fail(t, "the watch ended too soon")
	return nil
}
