// Package outcome_test breaks writes in many ways, with a real server behind a proxy. It compares the outcomes that the
// Planner reports with the objects on the server.
package outcome_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/write"
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
	releases      bool // the manager lets go of the object
	// others is what another manager merges into what is there, in an older version if that isn't empty.
	others, older string
	// hands asks for fields to change owners by a write of its own, and handed reports whether they have.
	hands  func(*ssaplan.Request)
	handed func(*unstructured.Unstructured) bool
	// of is how many writes there are, if more than the one that is broken.
	of int
	// field is where it shows that it was done.
	field []string
}

const (
	settings  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: A, b: B}}"
	changed   = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: X, b: B}}"
	addC      = `{"data": {"c": "C"}}`
	enlarged  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: A, b: B, c: C}}" // with what another manager wrote
	immutable = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: A, b: B}, immutable: true}"
	replaced  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: X, b: B}, immutable: true}"
	service   = "{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: LoadBalancer, ports: [{port: 80}]}}"
	ingress   = "{apiVersion: v1, kind: Service, metadata: {name: %s}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4, ipMode: VIP}]}}}"
	workload  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`
	gear   = `{apiVersion: outcome.example.com/v1, kind: Gear, metadata: {name: %s}, spec: {size: 1}}`
	geared = `{apiVersion: outcome.example.com/v1, kind: Gear, metadata: {name: %s}, spec: {size: 2}}`
	older  = "outcome.example.com/v1beta1"
	scaled = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 2}}"
)

var operations = []operation{
	{name: "create", write: 1, after: settings, field: []string{"data"}},
	{name: "update", write: 1, before: settings, after: changed, field: []string{"data"}},
	{name: "replace, its delete", write: 1, of: 2, before: immutable, after: replaced, field: []string{"data"}},
	{name: "replace, its create", write: 2, before: immutable, after: replaced, field: []string{"data"}},
	{name: "rename, its create", write: 2, before: settings, after: changed, renames: true, field: []string{"data"}},
	{name: "delete", write: 1, before: settings},
	{name: "status", write: 1, before: service, after: ingress, subresource: "status", field: []string{"status", "loadBalancer", "ingress"}},
	{name: "scale", write: 1, before: workload, after: scaled, subresource: "scale", field: []string{"spec", "replicas"}},
}

// handovers write who owns which field.
var handovers = []operation{
	{name: "handover", write: 1, before: settings, others: addC, after: enlarged, hands: adopts, handed: isOurs},
	{name: "handover, its apply", write: 2, before: settings, others: addC, after: changed, hands: adopts, handed: isOurs,
		field: []string{"data"}},
	{name: "giving up", write: 1, before: settings, after: settings, hands: givesUp, handed: isGivenUp},
	{name: "giving up, its apply", write: 2, before: settings, after: changed, hands: givesUp, handed: isGivenUp,
		field: []string{"data"}},
	{name: "clear", write: 1, of: 2, before: settings, others: addC, after: settings, hands: clears, handed: isTaken},
	{name: "clear, its apply", write: 2, before: settings, others: addC, after: settings, hands: clears, handed: isTaken,
		field: []string{"data"}},
	{name: "moving entries", write: 1, of: 2, before: gear, others: `{"spec": {"color": "red"}}`, older: older,
		after: geared, hands: moves, handed: isMoved},
	{name: "release", write: 1, before: settings, releases: true},
}

// givenUpLate gives up fields of an object that it has created: the create is done, whatever becomes of that.
var givenUpLate = operation{name: "create, giving up", write: 2, after: settings, hands: givesUp, handed: isGivenUp}

func adopts(r *ssaplan.Request)  { r.Adopt = []string{legacy} }
func givesUp(r *ssaplan.Request) { r.GiveUp, _ = projection.ParsePatterns("data.b") }
func clears(r *ssaplan.Request)  { r.Clear, _ = projection.ParsePatterns("data.c") }
func moves(r *ssaplan.Request)   { r.LostVersions = []string{older} }

func isOurs(obj *unstructured.Unstructured) bool { return owned(obj, legacy).Empty() }

func isGivenUp(obj *unstructured.Unstructured) bool { return !owned(obj, manager).Has(inData("b")) }

func isTaken(obj *unstructured.Unstructured) bool { return !owned(obj, legacy).Has(inData("c")) }

func isMoved(obj *unstructured.Unstructured) bool {
	return !slices.ContainsFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.APIVersion == older
	})
}

func inData(name string) projection.Path {
	return projection.Path{projection.Field("data"), projection.Field(name)}
}

// owned returns the fields that a manager owns of the object.
func owned(obj *unstructured.Unstructured, manager string) projection.FieldSet {
	owners, _ := fieldowner.Read(obj.Object) // a server's own record
	return owners.Fields(fieldowner.By(manager))
}

// writes are all operations.
var writes = slices.Concat(operations, handovers)

// cluster is the real server, and the objects of a test.
type cluster struct {
	*lab.Cluster
	proxy   *faultproxy.Proxy
	healthy *ssaplan.Planner // which reaches the server without the proxy
}

func newCluster(t testing.TB) *cluster {
	c := lab.On(t, controlplane.Shared(t))
	const version = `{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {
		spec: {type: object, properties: {size: {type: integer}, color: {type: string}}}}}}}`
	c.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: gears.outcome.example.com}, spec: {group: outcome.example.com, scope: Namespaced,
		names: {plural: gears, singular: gear, kind: Gear, listKind: GearList},
		versions: [`+version+`, `+version+`]}}`, "v1", true, "v1beta1", false))
	return &cluster{c, faultproxy.StartAs(t, c.Server.Config()), c.Planner(t, ssaplan.Options{FieldManager: manager})}
}

// impatient returns a context in which no planner sleeps for long and no timeout of the library ends, and its clock.
func impatient(t testing.TB) (context.Context, *clock.Fake) {
	fake := &clock.Fake{LongestSleep: 5 * time.Millisecond, NoTimeouts: true}
	return clock.With(t.Context(), fake), fake
}

// planner returns one that reaches the server through the proxy.
func (c *cluster) planner(t testing.TB, proxy *faultproxy.Proxy, timeout time.Duration) *ssaplan.Planner {
	config := proxy.Client("")
	config.Timeout = timeout
	planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace, ThrottleRetries: -1})
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
	var prior *explain.State
	var err error
	if op.before != "" {
		a.old = lab.Objectf(t, op.before, name)
		a.state, err = explain.NewState(nil, c.Apply(t, manager, a.old).Object, fieldowner.Applier{Manager: manager}, nil)
		require.NoError(t, err)
		if op.others != "" {
			other := a.old.DeepCopy()
			other.SetAPIVersion(cmp.Or(op.older, other.GetAPIVersion()))
			c.Patch(t, legacy, other, op.others)
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
	request := ssaplan.Request{Manifest: a.manifest, Prior: prior, Subresource: op.subresource}
	if op.hands != nil {
		op.hands(&request)
	}
	a.plan, err = c.healthy.Plan(context.Background(), request)
	require.NoError(t, err)
	return a
}

// run carries the operation out.
func (a *attempt) run(ctx context.Context, planner *ssaplan.Planner) (*unstructured.Unstructured, error) {
	options := deletion.Options{PollInterval: time.Millisecond}
	switch {
	case a.releases:
		plan, err := planner.PlanRelease(context.WithoutCancel(ctx), a.state)
		switch {
		case err != nil:
			return nil, err
		case plan.Action == release.ActionGone: // as it is if another object has the name, which the plan says and a host doesn't apply
			return nil, &write.ApplyError{Object: plan.Object, Outcome: write.OutcomeNotSent, Err: errors.New("gone")}
		}
		return nil, plan.Apply(ctx)
	case a.plan == nil:
		return nil, planner.Delete(ctx, a.state, options)
	case a.plan.Action == ssaplan.ActionReplace:
		return planner.Replace(ctx, a.plan, options)
	}
	return planner.Apply(ctx, a.plan)
}

// truth finds out from the server whether the broken write was done, and whether nothing was written.
func (a *attempt) truth(t testing.TB) (done, untouched bool) {
	if a.isLate() {
		handed := a.handed(a.c.Get(t, a.manifest))
		return handed, !handed
	}
	if a.old != nil {
		old := a.c.Lookup(t, a.old)
		isAsItWas := old != nil && old.GetResourceVersion() == a.before.GetResourceVersion()
		switch {
		case a.deletes():
			return a.gone(t), isAsItWas
		case a.hands != nil && a.write == 2: // the fields have changed owners
			return a.isMade(old), a.isUnchanged(old)
		case a.plan == nil || a.plan.Action != ssaplan.ActionReplace:
			return a.isMade(old), isAsItWas
		}
	}
	now := a.c.Lookup(t, a.manifest)
	return a.isMade(now), now == nil
}

// isUnchanged reports whether an object has the values of before, no matter who owns them.
func (a *attempt) isUnchanged(obj *unstructured.Unstructured) bool {
	if obj == nil {
		return false
	}
	now, before := maps.Clone(obj.Object), maps.Clone(a.before.Object)
	delete(now, "metadata")
	delete(before, "metadata")
	return reflect.DeepEqual(now, before)
}

// deletes reports whether the write is a delete.
func (a *attempt) deletes() bool {
	return a.plan == nil && !a.releases || a.plan != nil && a.plan.Action == ssaplan.ActionReplace && a.write == 1
}

// isLate reports whether fields change owners after the object was created.
func (a *attempt) isLate() bool { return a.hands != nil && a.old == nil }

// goesOn reports whether an apply follows the write by which fields change owners.
func (a *attempt) goesOn() bool { return a.hands != nil && a.of > a.write }

// writes is how many writes the operation takes.
func (a *attempt) writes() int { return max(a.of, a.write) }

// isMade reports whether the object is what the operation makes of it.
func (a *attempt) isMade(obj *unstructured.Unstructured) bool {
	if obj == nil {
		return false
	}
	if a.releases {
		return owned(obj, manager).Empty()
	}
	if a.hands != nil && !a.handed(obj) {
		return false
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
	var stopped *write.ReplaceError
	return errors.As(err, &stopped) && stopped.Stage == write.StageCreating
}
