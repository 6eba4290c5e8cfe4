// Package outcome_test breaks writes in many ways, with a real server behind a proxy, and compares what the Planner tells of
// them with what the server has.
package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const (
	manager = "my-tool"
	legacy  = "kubectl" // from whom is adopted
)

// operation is a write that a host has planned.
type operation struct {
	name string
	// write is which of its writes is broken, counted from 1.
	write int
	// before is what is there, after what is applied, both with %s for the name; after is empty for a delete.
	before, after string
	subresource   string
	renames       bool // the one that is applied has another name
	adopts        bool // fields change hands before the apply, which is the second write
	releases      bool // the manager lets go of the object
	// field is where it shows that it was done.
	field []string
}

const (
	settings  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: A, b: B}}"
	changed   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: X, b: B}}"
	enlarged  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: A, b: B, c: C}}" // with what another manager wrote
	immutable = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: A, b: B}, immutable: true}"
	replaced  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: X, b: B}, immutable: true}"
	service   = "{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: LoadBalancer, ports: [{port: 80}]}}"
	ingress   = "{apiVersion: v1, kind: Service, metadata: {name: %s}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4, ipMode: VIP}]}}}"
	workload  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`
	scaled = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 2}}"
)

var operations = []operation{
	{name: "create", write: 1, after: settings, field: []string{"data"}},
	{name: "update", write: 1, before: settings, after: changed, field: []string{"data"}},
	{name: "replace, its delete", write: 1, before: immutable, after: replaced, field: []string{"data"}},
	{name: "replace, its create", write: 2, before: immutable, after: replaced, field: []string{"data"}},
	{name: "rename, its create", write: 2, before: settings, after: changed, renames: true, field: []string{"data"}},
	{name: "delete", write: 1, before: settings},
	{name: "status", write: 1, before: service, after: ingress, subresource: "status", field: []string{"status", "loadBalancer", "ingress"}},
	{name: "scale", write: 1, before: workload, after: scaled, subresource: "scale", field: []string{"spec", "replicas"}},
}

// handovers write who owns which field.
var handovers = []operation{
	{name: "handover", write: 1, before: settings, after: enlarged, adopts: true},
	{name: "handover, its apply", write: 2, before: settings, after: changed, adopts: true, field: []string{"data"}},
	{name: "release", write: 1, before: settings, releases: true},
}

// writes are all operations.
var writes = slices.Concat(operations, handovers)

// cluster is the real server, and the objects of a test.
type cluster struct {
	*lab.Cluster
	proxy *faultproxy.Proxy
}

func newCluster(t testing.TB) *cluster {
	c := lab.On(t, controlplane.Shared(t))
	return &cluster{c, faultproxy.StartAs(t, c.Server.Config())}
}

// impatient returns a context in which no planner sleeps for long, and its clock.
func impatient(t testing.TB) (context.Context, *clock.Fake) {
	fake := &clock.Fake{LongestSleep: 5 * time.Millisecond}
	return clock.With(t.Context(), fake), fake
}

// planner returns one that reaches the server through the proxy.
func (c *cluster) planner(t testing.TB, proxy *faultproxy.Proxy, timeout time.Duration) *ssaplan.Planner {
	config := proxy.Client("")
	config.Timeout = timeout
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace, ThrottleRetries: -1})
	require.NoError(t, err)
	return planner
}

// attempt is an operation that was planned, and what was there.
type attempt struct {
	operation
	c             *cluster
	manifest, old *unstructured.Unstructured // the manifest's object, and the one that is there before
	plan          *ssaplan.Plan
	state         *explain.State
	before        *unstructured.Unstructured // nil if nothing is there
}

// plans prepares an operation on an object of that name, without faults.
func (op operation) plans(t testing.TB, c *cluster, name string) *attempt {
	a := &attempt{operation: op, c: c}
	healthy := c.Planner(t, ssaplan.Options{FieldManager: manager})
	var prior *explain.State
	if op.before != "" {
		a.old = lab.Objectf(t, op.before, name)
		plan, err := healthy.Plan(context.Background(), ssaplan.Request{Manifest: a.old})
		require.NoError(t, err)
		obj, err := healthy.Apply(context.Background(), plan)
		require.NoError(t, err)
		a.state, err = explain.NewState(nil, obj.Object, fieldowner.Applier{Manager: manager}, nil)
		require.NoError(t, err)
		if op.adopts {
			c.Patch(t, legacy, a.old, `{"data": {"c": "C"}}`)
		}
		a.before = c.Get(t, a.old)
	}
	if op.after == "" {
		return a
	}
	if op.renames {
		prior, name = a.state, name+"-renamed"
	}
	a.manifest = lab.Objectf(t, op.after, name)
	var err error
	request := ssaplan.Request{Manifest: a.manifest, Prior: prior, Subresource: op.subresource}
	if op.adopts {
		request.Adopt = []string{legacy}
	}
	a.plan, err = healthy.Plan(context.Background(), request)
	require.NoError(t, err)
	return a
}

// run carries the operation out.
func (a *attempt) run(ctx context.Context, planner *ssaplan.Planner) (*unstructured.Unstructured, error) {
	options := ssaplan.DeleteOptions{PollInterval: time.Millisecond}
	switch {
	case a.releases:
		plan, err := planner.PlanRelease(context.WithoutCancel(ctx), a.state)
		switch {
		case err != nil:
			return nil, err
		case plan.Action == release.ActionGone: // as it is if another object has the name, which the plan says and a host doesn't apply
			return nil, &ssaplan.ApplyError{Object: plan.Object, Outcome: ssaplan.OutcomeNotSent, Err: errors.New("gone")}
		}
		return nil, plan.Apply(ctx)
	case a.plan == nil:
		return nil, planner.Delete(ctx, a.state, options)
	case a.plan.Action == ssaplan.ActionReplace:
		return planner.Replace(ctx, a.plan, options)
	}
	return planner.Apply(ctx, a.plan)
}

// truth tells what the server has: whether the broken write was done, and whether nothing was.
func (a *attempt) truth(t testing.TB) (done, untouched bool) {
	if a.old != nil {
		old := a.c.Lookup(t, a.old)
		isAsItWas := old != nil && old.GetResourceVersion() == a.before.GetResourceVersion()
		switch {
		case a.deletes():
			return a.gone(t), isAsItWas
		case a.adopts && a.write == 2: // the fields have changed hands
			return a.isMade(old), old != nil && fmt.Sprint(old.Object["data"]) == fmt.Sprint(a.before.Object["data"])
		case a.plan == nil || a.plan.Action != ssaplan.ActionReplace:
			return a.isMade(old), isAsItWas
		}
	}
	now := a.c.Lookup(t, a.manifest)
	return a.isMade(now), now == nil
}

// deletes reports whether the write is a delete.
func (a *attempt) deletes() bool {
	return a.plan == nil && !a.releases || a.plan != nil && a.plan.Action == ssaplan.ActionReplace && a.write == 1
}

// isMade reports whether the object is what the operation makes of it.
func (a *attempt) isMade(obj *unstructured.Unstructured) bool {
	if obj == nil {
		return false
	}
	owns := func(name string) bool {
		return slices.ContainsFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == name })
	}
	if a.releases || a.adopts && owns(legacy) {
		return a.releases && !owns(manager)
	}
	want, _, _ := unstructured.NestedFieldNoCopy(a.manifest.Object, a.field...)
	got, _, _ := unstructured.NestedFieldNoCopy(obj.Object, a.field...)
	return a.field == nil || fmt.Sprint(got) == fmt.Sprint(want)
}

// remove deletes what the operation left behind.
func (a *attempt) remove(t testing.TB) {
	for _, m := range []*unstructured.Unstructured{a.old, a.manifest} {
		if m != nil && a.c.Lookup(t, m) != nil {
			require.NoError(t, a.c.Resource(t, m).Delete(context.Background(), m.GetName(), metav1.DeleteOptions{}))
		}
	}
}

// gone reports whether the object is gone that was there before.
func (a *attempt) gone(t testing.TB) bool {
	old := a.c.Lookup(t, a.old)
	return old == nil || old.GetUID() != a.before.GetUID()
}

// isCreating reports whether a replacement stopped while it created the new object.
func isCreating(err error) bool {
	var stopped *ssaplan.ReplaceError
	return errors.As(err, &stopped) && stopped.Stage == ssaplan.StageCreating
}
