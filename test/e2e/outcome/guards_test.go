package outcome_test

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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// A proxy in front of a server can remove or forge the fields that guard a write. The Planner makes no plan from such
// an answer.
func TestPlansNeedWhatGuardsThem(t *testing.T) {
	c := newCluster(t)
	for _, row := range []struct {
		fault faultproxy.Fault
		read  string // what the error says if it is in the read, and try if it is in the dry run
		try   string
	}{
		{faultproxy.WithoutVersion(), "no metadata.resourceVersion", "no metadata.resourceVersion"},
		{faultproxy.NumericVersion(), "no metadata.resourceVersion", "no metadata.resourceVersion"},
		{faultproxy.WithoutUID(), "no metadata.uid", "no metadata.uid"},
		{faultproxy.OtherName(), "the answer is another object", "the answer is another object"},
		{faultproxy.OtherNamespace(), "the answer is another object", "the answer is another object"},
		{faultproxy.OtherUID(), "another object of the same version", "another object of the same version"},
		{faultproxy.OldVersion(), "", "the older one"},
	} {
		for i, op := range operations {
			if op.before == "" || op.after == "" || op.renames {
				continue
			}
			t.Run(row.fault.String()+"/"+op.name, func(t *testing.T) {
				a := op.plans(t, c, "guarded-"+string(rune('a'+i)))
				defer a.remove(t)
				request := ssaplan.Request{Manifest: a.manifest, Subresource: op.subresource}
				for n, want := range []string{row.read, row.try} {
					if want == "" || a.plan.Action == ssaplan.ActionReplace && (n == 1 || row.fault.String() == "another uid") {
						continue // the dry run is refused, and the delete guarded by a uid that no object has
					}
					c.proxy.Heal()
					planner := c.planner(t, c.proxy, 10*time.Second)
					_, err := planner.Plan(t.Context(), request) // and so the kind is known, and that the server gets dryRun
					require.NoError(t, err)
					c.proxy.Inject(n+1, row.fault)
					_, err = planner.Plan(t.Context(), request)
					require.ErrorContains(t, err, want)
				}
				require.Equal(t, a.before, c.Get(t, a.old), "nothing was written")
			})
		}
	}
}

// A proxy that drops dryRun would make plans write. That is noticed before anything is written. If it begins to drop
// them later, what was written is noticed. Nothing is planned through it.
func TestDryRunsThatWrite(t *testing.T) {
	c := newCluster(t)
	for _, later := range []bool{false, true} { // than the planner's first plan
		for i, op := range operations {
			if op.after == "" || op.name == "replace, its create" {
				continue
			}
			t.Run(fmt.Sprint(op.name, later), func(t *testing.T) {
				a := op.plans(t, c, fmt.Sprintf("dropped-%d-%t", i, later))
				defer a.remove(t)
				c.proxy.Heal()
				planner := c.planner(t, c.proxy, 10*time.Second)
				request := ssaplan.Request{Manifest: a.manifest, Subresource: op.subresource}
				if op.renames {
					request.Prior = a.state
				}
				if later {
					plan, err := planner.Plan(t.Context(), request)
					require.NoError(t, err)
					require.Equal(t, a.plan.Action, plan.Action)
				}
				c.proxy.InjectFrom(1, faultproxy.WithoutDryRun())
				plan, err := planner.Plan(t.Context(), request)
				require.ErrorContains(t, err, "drops dryRun", "%v", plan)
				if op.renames {
					require.Equal(t, later, c.Lookup(t, a.manifest) != nil)
				} else if _, untouched := a.truth(t); untouched == later && a.plan.Action != ssaplan.ActionReplace {
					t.Errorf("untouched: %t", untouched)
				}
			})
		}
	}
}

// The question whether a server gets dryRun doesn't write the scale of a custom resource either. Servers apply one only
// for a number that stays; then the apply would add a record.
func TestQuestionsAboutACustomScale(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crews.outcome.example.com},
		spec: {group: outcome.example.com, scope: Namespaced, names: {plural: crews, singular: crew, kind: Crew}, versions: [{name: v1, served: true,
		storage: true, subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}, schema: {openAPIV3Schema: {
		type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]}}`))
	crew := c.Apply(t, manager, lab.Object(t, "{apiVersion: outcome.example.com/v1, kind: Crew, metadata: {name: a}, spec: {size: 2}}"))
	scale := lab.Object(t, "{apiVersion: outcome.example.com/v1, kind: Crew, metadata: {name: a}, spec: {replicas: 2}}")
	request := ssaplan.Request{Manifest: scale, Subresource: "scale"}
	plan, err := c.planner(t, c.proxy, 10*time.Second).Plan(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionUpdate, plan.Action)
	c.proxy.InjectFrom(1, faultproxy.WithoutDryRun())
	_, err = c.planner(t, c.proxy, 10*time.Second).Plan(t.Context(), request)
	require.ErrorContains(t, err, "a server can't apply the scale", "of an object with another uid")
	require.Equal(t, crew, c.Get(t, crew))
}

// A proxy that drops dryRun would make plans to delete delete. That is noticed before anything is deleted. If it begins
// to drop them later, what was deleted is noticed. One that drops the body of a delete, with dryRun and preconditions,
// deletes nothing.
func TestDryRunsThatDelete(t *testing.T) {
	c := newCluster(t)
	for _, row := range []struct {
		fault    faultproxy.Fault
		later    bool // the planner has planned a deletion before
		finalize bool // the object has a finalizer, so that it stays for a while
		want     string
		deleted  bool
	}{
		{faultproxy.WithoutDryRun(), false, false, "drops dryRun", false},
		{faultproxy.WithoutDryRun(), true, false, "the dry run deleted the object", true},
		{faultproxy.WithoutDryRun(), true, true, "the dry run deleted the object", true},
		{faultproxy.WithoutBody(), false, false, "the body of the request is missing", false},
		{faultproxy.WithoutBody(), true, false, "the body of the request is missing", false},
	} {
		for _, kind := range []string{settings, workload, service} {
			t.Run(fmt.Sprint(row.fault, row.later, row.finalize), func(t *testing.T) {
				obj := c.Apply(t, manager, lab.Objectf(t, kind, "tried"))
				if row.finalize {
					c.Patch(t, "keeper", obj, `{"metadata": {"finalizers": ["example.com/hold"]}}`)
				}
				id, err := identity.Of(obj.Object)
				require.NoError(t, err)
				c.proxy.Heal()
				planner := c.planner(t, c.proxy, 10*time.Second)
				request := deletion.Request{Object: id, UID: string(obj.GetUID())}
				if row.later {
					_, err := planner.PlanDelete(t.Context(), request)
					require.NoError(t, err)
				}
				c.proxy.InjectFrom(1, row.fault)
				plan, err := planner.PlanDelete(t.Context(), request)
				if err != nil {
					require.ErrorContains(t, err, row.want, "%v", plan)
				} else {
					require.ErrorContains(t, plan.Refusal, row.want)
				}
				now := c.Lookup(t, obj)
				assert.Equal(t, row.deleted, now == nil || now.GetDeletionTimestamp() != nil)
				state := &explain.State{Identity: id, UID: string(obj.GetUID())}
				if !row.deleted {
					err := planner.Delete(lab.Context(t), state, deletion.Options{})
					require.ErrorContains(t, err, row.want)
					if plan != nil {
						assert.Equal(t, write.OutcomeRefused, write.OutcomeOf(err))
					} else {
						assert.Equal(t, write.OutcomeNotSent, write.OutcomeOf(err))
					}
					assert.NotNil(t, c.Lookup(t, obj))
				}
				if now != nil && row.finalize {
					c.Patch(t, "keeper", obj, `{"metadata": {"finalizers": null}}`)
				}
				if !row.deleted {
					c.Delete(t, obj)
				}
				require.Eventually(t, func() bool { return c.Lookup(t, obj) == nil }, time.Minute, 10*time.Millisecond)
			})
		}
	}
}

// A dry run for a live object that the host supplied is for the version that was supplied. So a proxy that drops dryRun
// makes it write, which the version of the answer shows, or the server refuses it, if the object has changed.
func TestDryRunsForASuppliedObject(t *testing.T) {
	c := newCluster(t)
	for _, isOld := range []bool{false, true} {
		for i, op := range operations {
			if op.before == "" || op.after == "" || op.renames || strings.HasPrefix(op.name, "replace") {
				continue
			}
			t.Run(fmt.Sprint(op.name, isOld), func(t *testing.T) {
				a := op.plans(t, c, fmt.Sprintf("supplied-%d", i))
				defer a.remove(t)
				supplied := a.before
				if isOld {
					c.Patch(t, "keeper", a.before, `{"metadata": {"annotations": {"new": "1"}}}`)
				}
				request := ssaplan.Request{Manifest: a.manifest, Live: supplied, Subresource: op.subresource}
				c.proxy.Heal()
				planner := c.planner(t, c.proxy, 10*time.Second)
				plan, err := planner.Plan(t.Context(), request)
				require.NoError(t, err)
				require.Equal(t, ssaplan.ActionUpdate, plan.Action)
				c.proxy.InjectFrom(1, faultproxy.WithoutDryRun())
				plan, err = planner.Plan(t.Context(), request)
				require.ErrorContains(t, err, "drops dryRun", "%v", plan)
			})
		}
	}
}

// A plan finds out with dry runs of updates whether a rejected apply is possible in another way. The Planner also
// notices if such a dry run writes.
func TestProbesThatWrite(t *testing.T) {
	c := newCluster(t)
	const recreate = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
		strategy: {type: Recreate}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`
	before := c.Apply(t, manager, lab.Objectf(t, workload, "probed"))
	request := ssaplan.Request{Manifest: lab.Objectf(t, recreate, "probed")}
	planner := c.planner(t, c.proxy, 10*time.Second)
	_, err := planner.Plan(t.Context(), request)
	var refused *immutability.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, before.GetResourceVersion(), c.Get(t, before).GetResourceVersion())
	c.proxy.InjectFrom(1, faultproxy.WithoutDryRun())
	_, err = planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, "drops dryRun")
	require.NotEqual(t, before.GetResourceVersion(), c.Get(t, before).GetResourceVersion(), "the test sees what it is about")
}

// A proxy that drops dryRun would make plans to release release. That is noticed before anything is written. If it
// begins to drop them later, what was written is noticed.
func TestDryRunsThatRelease(t *testing.T) {
	c := newCluster(t)
	for _, later := range []bool{false, true} { // than the planner's first plan
		for _, kind := range []string{settings, workload, service} {
			t.Run(fmt.Sprint(kind, later), func(t *testing.T) {
				obj := c.Apply(t, manager, lab.Objectf(t, kind, "released"))
				defer c.Delete(t, obj)
				id, err := identity.Of(obj.Object)
				require.NoError(t, err)
				state := &explain.State{Identity: id, UID: string(obj.GetUID()), Manager: manager}
				c.proxy.Heal()
				planner := c.planner(t, c.proxy, 10*time.Second)
				if later {
					plan, err := planner.PlanRelease(t.Context(), state)
					require.NoError(t, err)
					require.Equal(t, release.ActionRelease, plan.Action)
				}
				c.proxy.InjectFrom(1, faultproxy.WithoutDryRun())
				plan, err := planner.PlanRelease(t.Context(), state)
				require.ErrorContains(t, err, "drops dryRun", "%v", plan)
				require.Equal(t, later, c.Get(t, obj).GetManagedFields() == nil, "what it was to try is written")
			})
		}
	}
}

// dropping is a caller's client that drops dryRun: from deletes, and from patches of one type or of all types.
type dropping struct {
	dynamic.Interface
	patches types.PatchType
}

func (d dropping) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return droppingResource{d.Interface.Resource(resource), d.patches}
}

type droppingResource struct {
	dynamic.NamespaceableResourceInterface
	patches types.PatchType
}

func (d droppingResource) Namespace(namespace string) dynamic.ResourceInterface {
	return droppingObjects{d.NamespaceableResourceInterface.Namespace(namespace), d.patches}
}

type droppingObjects struct {
	dynamic.ResourceInterface
	patches types.PatchType
}

func (d droppingObjects) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions,
	sub ...string) (*unstructured.Unstructured, error) {
	if d.patches == "" || d.patches == pt {
		options.DryRun = nil
	}
	return d.ResourceInterface.Patch(ctx, name, pt, data, options, sub...)
}

func (d droppingObjects) Delete(ctx context.Context, name string, _ metav1.DeleteOptions, sub ...string) error {
	return d.ResourceInterface.Delete(ctx, name, metav1.DeleteOptions{}, sub...) // not even the preconditions
}

// The client that a host brings can drop dryRun as well as a proxy can. Nothing is planned, written or deleted through
// it.
func TestClientsThatDropDryRun(t *testing.T) {
	c := newCluster(t)
	options := ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace}
	planner, err := ssaplan.New(dynclient.New(dropping{Interface: c.Client}, c.Mapper, dynclient.Options{}), options)
	require.NoError(t, err)
	for _, kind := range []string{settings, workload, service} {
		obj := c.Apply(t, manager, lab.Objectf(t, kind, "client"))
		id, err := identity.Of(obj.Object)
		require.NoError(t, err)
		_, err = planner.PlanDelete(t.Context(), deletion.Request{Object: id, UID: string(obj.GetUID())})
		require.ErrorContains(t, err, "drops dryRun")
		err = planner.Delete(lab.Context(t), &explain.State{Identity: id, UID: string(obj.GetUID())}, deletion.Options{})
		require.ErrorContains(t, err, "drops dryRun")
		require.Equal(t, write.OutcomeNotSent, write.OutcomeOf(err))
		require.Equal(t, obj.GetResourceVersion(), c.Get(t, obj).GetResourceVersion(), "nothing was deleted")
		c.Delete(t, obj)
	}
	m := lab.Objectf(t, settings, "client")
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.ErrorContains(t, err, "drops dryRun", "%v", plan)
	require.Nil(t, c.Lookup(t, m))
}

// A client that drops dryRun of JSON patches alone, by which fields change owners, would write when it plans to
// adopt, to give up or to release fields. Nothing is planned through it.
func TestClientsThatDropDryRunOfJSONPatches(t *testing.T) {
	c := newCluster(t)
	options := ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace}
	planner, err := ssaplan.New(dynclient.New(dropping{c.Client, types.JSONPatchType}, c.Mapper, dynclient.Options{}), options)
	require.NoError(t, err)
	m := lab.Objectf(t, settings, "hands")
	c.Apply(t, "theirs", m)
	obj := c.Apply(t, manager, m)
	id, err := identity.Of(obj.Object)
	require.NoError(t, err)
	giveUp, err := projection.ParsePatterns("data")
	require.NoError(t, err)
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err, "it doesn't drop that of an apply")
	for _, request := range []ssaplan.Request{{Manifest: m, Adopt: []string{"theirs"}}, {Manifest: m, GiveUp: giveUp}} {
		plan, err := planner.Plan(t.Context(), request)
		require.ErrorContains(t, err, "drops dryRun", "%v", plan)
	}
	plan, err := planner.PlanRelease(t.Context(), &explain.State{Identity: id, UID: string(obj.GetUID()), Manager: manager})
	require.ErrorContains(t, err, "drops dryRun", "%v", plan)
	require.Equal(t, obj, c.Get(t, obj))
}

// Who may apply but not read has nothing to compare the answer with. So it is found out before each dry run whether the
// server gets dryRun, and nothing is written if it doesn't, even if it did before: whether the object is there or not.
func TestDryRunsForAnUnreadableObject(t *testing.T) {
	c := newCluster(t)
	c.Apply(t, "installer", lab.Object(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: blind}, rules: [
		{apiGroups: ["", apps], resources: [configmaps, services/status, deployments/scale, deployments], verbs: [patch, create]}]}`))
	c.Apply(t, "installer", lab.Object(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: blind},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: blind},
		subjects: [{kind: User, name: blind, apiGroup: rbac.authorization.k8s.io}]}`))
	c.WaitAllowed(t, "blind", "patch", "configmaps")
	blind := c.As(t, "blind")
	proxy := faultproxy.StartAs(t, blind.Config)
	options := ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace}
	ours, err := ssaplan.New(dynclient.New(dropping{Interface: blind.Client}, c.Mapper, dynclient.Options{}), options)
	require.NoError(t, err)
	for i, op := range operations {
		if op.after == "" || op.renames || strings.HasPrefix(op.name, "replace") {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			a := op.plans(t, c, fmt.Sprintf("unreadable-%d", i))
			defer a.remove(t)
			request := ssaplan.Request{Manifest: a.manifest, Subresource: op.subresource}
			proxy.Heal()
			planner := c.planner(t, proxy, 10*time.Second)
			plan, err := planner.Plan(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, ssaplan.DeferralUnreadable, plan.Deferral)
			proxy.InjectFrom(1, faultproxy.WithoutDryRun())
			for _, planner := range []*ssaplan.Planner{planner, ours} {
				plan, err = planner.Plan(t.Context(), request)
				require.ErrorContains(t, err, "drops dryRun", "%v", plan)
				if _, untouched := a.truth(t); !untouched {
					t.Error("it was written")
				}
			}
		})
	}
}

// A cache in front of a server answers reads with what was there.
func TestReadsFromACache(t *testing.T) {
	c := newCluster(t)
	m := lab.Objectf(t, settings, "cached")
	for _, value := range []string{"1", "2"} {
		require.NoError(t, unstructured.SetNestedField(m.Object, value, "data", "a"))
		plan, err := c.healthy.Plan(t.Context(), ssaplan.Request{Manifest: m})
		require.NoError(t, err)
		_, err = c.healthy.Apply(lab.Context(t), plan)
		require.NoError(t, err)
		if value == "1" {
			c.proxy.InjectReads(c.proxy.Recorded("/api/v1/namespaces/" + c.Namespace + "/configmaps/cached"))
		}
	}
	planner := c.planner(t, c.proxy, 10*time.Second)
	_, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: m})
	require.ErrorContains(t, err, "answers from a cache")
	assert.Equal(t, "2", c.Get(t, m).Object["data"].(map[string]any)["a"])
}
