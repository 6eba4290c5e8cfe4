package planner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/lab"
)

// traffic counts requests by verb, and the bytes of their answers.
type traffic struct {
	mu     sync.Mutex
	sent   map[string]int
	bytes  map[string]int64
	before func(o server.Observation) // is called with each
}

func newTraffic() *traffic { return &traffic{sent: map[string]int{}, bytes: map[string]int64{}} }

func (c *traffic) observe(_ context.Context, o server.Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[o.Verb]++
	c.bytes[o.Verb] += o.Received
	if c.before != nil {
		c.before(o)
	}
}

func (c *traffic) all() (n int) {
	for _, sent := range c.sent {
		n += sent
	}
	return n
}

// listedKinds are the kinds of which sets are read by lists, each with a verb for the name, the value and what differs.
var listedKinds = map[string]string{
	"ConfigMap": "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {value: '%s', text: 'ünï <&>'}}",
	"Widget":    "{apiVersion: example.com/v1, kind: Widget, metadata: {name: %s}, spec: {size: 3, color: '%s'}}",
}

func setOf(t *testing.T, kind string, n int, value string) (requests []ssaplan.Request) {
	for i := range n {
		manifest := lab.Objectf(t, listedKinds[kind], fmt.Sprintf("listed-%03d", i*7%n), value)
		requests = append(requests, ssaplan.Request{Manifest: manifest})
	}
	return requests
}

// planText returns the JSON of a plan without the number of requests.
func planText(t *testing.T, plan *ssaplan.Plan) string {
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, json.Unmarshal(text, &content))
	delete(content, "requests")
	text, err = json.Marshal(content)
	require.NoError(t, err)
	return string(text)
}

// TestASetIsReadByLists has a set of a kind planned that isn't there, that is, and that changes: with a few lists in
// the place of the reads, and the plans are those that are made of each object by itself.
func TestASetIsReadByLists(t *testing.T) {
	t.Parallel()
	const objects, compared = 100, 10 // of which each tenth is planned by itself, too
	for kind := range listedKinds {
		t.Run(kind, func(t *testing.T) {
			c := newCluster(t)
			for _, step := range []struct {
				name, value string
				want        ssaplan.Action
				apply       bool
			}{
				{"new", "a", ssaplan.ActionCreate, true}, {"unchanged", "a", ssaplan.ActionNoOp, false}, {"changed", "b", ssaplan.ActionUpdate, false},
			} {
				requests, sent := setOf(t, kind, objects, step.value), newTraffic()
				planner := c.Planner(t, ssaplan.Options{FieldManager: manager, Observe: sent.observe})
				single := newTraffic()
				alone := c.Planner(t, ssaplan.Options{FieldManager: manager, Observe: single.observe})
				var plans []*ssaplan.Plan
				for plan, err := range planner.PlanAll(t.Context(), requests) {
					require.NoError(t, err)
					require.Equal(t, step.want, plan.Action, "%s: %s", step.name, plan.Reason)
					plans = append(plans, plan)
				}
				for i := 0; i < objects; i += objects / compared {
					plan := plans[i]
					one, err := alone.Plan(t.Context(), requests[i])
					require.NoError(t, err)
					if step.want != ssaplan.ActionCreate { // whose times and uids are made up each time
						require.Equal(t, planText(t, one), planText(t, plan))
						require.Equal(t, one.Live().GetResourceVersion(), plan.Live().GetResourceVersion())
					}
				}
				require.LessOrEqual(t, sent.all(), objects*11/10, "%s: %v", step.name, sent.sent)
				definitions := map[bool]int{true: 1}[kind == "Widget"] // which say what is secret
				require.Equal(t, definitions, sent.sent["get"])
				reads := single.bytes["get"] * objects / compared
				require.LessOrEqual(t, sent.bytes["list"], 2*reads, step.name)
				fmt.Printf("figure: %s %s: %.2f requests for each of %d objects, %.2f of the bytes of reads\n", kind, step.name,
					float64(sent.all())/objects, objects, float64(sent.bytes["list"])/float64(reads))
				for _, plan := range plans {
					if step.apply {
						_, err := planner.Apply(lab.Context(t), plan)
						require.NoError(t, err)
					}
				}
			}
		})
	}
}

// TestASetOfManyNamespacesIsReadByLists plans two objects of a kind in each of fifty namespaces, beside a few others in
// front of them.
func TestASetOfManyNamespacesIsReadByLists(t *testing.T) {
	const namespaces, objects, others = 50, 100, 20
	c := newCluster(t)
	apply := func(namespace string, i int) *unstructured.Unstructured {
		return lab.Objectf(t, "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: listed-%d, namespace: %s}, spec: {podSelector: {}}}", i, namespace)
	}
	for i := range others {
		c.Apply(t, installer, apply(c.Namespace, i))
	}
	var requests []ssaplan.Request
	for i := range namespaces {
		namespace := lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s-%d}}", c.Namespace, i)
		c.Apply(t, installer, namespace)
		for j := range objects / namespaces {
			requests = append(requests, ssaplan.Request{Manifest: apply(namespace.GetName(), j)})
		}
	}
	for _, want := range []ssaplan.Action{ssaplan.ActionCreate, ssaplan.ActionNoOp} {
		sent := newTraffic()
		planner := c.Planner(t, ssaplan.Options{FieldManager: manager, Observe: sent.observe})
		for plan, err := range planner.PlanAll(t.Context(), requests) {
			require.NoError(t, err)
			require.Equal(t, want, plan.Action, plan.Reason)
			if want == ssaplan.ActionCreate {
				_, err := planner.Apply(lab.Context(t), plan)
				require.NoError(t, err)
			}
		}
		require.Zero(t, sent.sent["get"])
		planned := sent.all() - map[ssaplan.Action]int{ssaplan.ActionCreate: objects}[want] // without the writes
		require.LessOrEqual(t, planned, objects*11/10, "%v", sent.sent)
		fmt.Printf("figure: of %d namespaces, %s: %.2f requests for each of %d objects\n", namespaces, want, float64(planned)/objects, objects)
	}
}

// TestListsOfWhatChanges has objects changed, deleted and made while a set is planned, behind the back of the list.
func TestListsOfWhatChanges(t *testing.T) {
	const objects = 100
	c := newCluster(t)
	requests := setOf(t, "ConfigMap", objects, "a")
	there := requests[:90] // in any order
	for _, request := range there {
		c.Apply(t, manager, request.Manifest)
	}
	changed, deleted, made := there[10].Manifest, there[20].Manifest, requests[95].Manifest
	var once sync.Once
	sent := newTraffic()
	sent.before = func(o server.Observation) {
		if o.Verb == "patch" && o.DryRun && o.Status == 200 { // the list is read, as far as it is needed for the first
			once.Do(func() {
				other := changed.DeepCopy()
				require.NoError(t, unstructured.SetNestedField(other.Object, "x", "data", "value"))
				c.Apply(t, installer, other)
				c.Delete(t, deleted)
				c.Apply(t, manager, made)
			})
		}
	}
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager, Observe: sent.observe, Concurrency: 1})
	actions := map[ssaplan.Action]int{}
	for plan, err := range planner.PlanAll(t.Context(), requests) {
		require.NoError(t, err)
		actions[plan.Action]++
		switch plan.Object.Name {
		case changed.GetName():
			require.Equal(t, ssaplan.ActionUpdate, plan.Action, "it has another value by now")
			require.Equal(t, c.Get(t, changed).GetResourceVersion(), plan.Live().GetResourceVersion())
		case deleted.GetName():
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
		case made.GetName():
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		}
	}
	require.Equal(t, map[ssaplan.Action]int{ssaplan.ActionNoOp: 89, ssaplan.ActionUpdate: 1, ssaplan.ActionCreate: 10}, actions)
}
