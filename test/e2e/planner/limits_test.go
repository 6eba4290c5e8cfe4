package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestNoOpThatIsWrittenForItsTime shows a limit of dry runs: two records change places when an apply in a later second,
// which changes nothing, gives one of them its time. A server gives that time if the manifest has a value that it
// leaves out of the object, such as this zero.
func TestNoOpThatIsWrittenForItsTime(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: timed}, spec: {replicas: 1, minReadySeconds: 0, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: "app:1"}]}}}}`)
	c.Apply(t, manager, m)
	c.Apply(t, manager, manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: timed}, status: {replicas: 1}}"), "status")
	// The record of the status has a time that comes after the plan and before the next apply. The slower the machine
	// is, the later that time is.
	var before *unstructured.Unstructured
	var plan *ssaplan.Plan
	var later time.Time
	for wait := time.Second; !time.Now().Before(later); wait *= 2 {
		later = time.Now().Truncate(time.Second).Add(wait)
		before = c.dated(t, m, func(e metav1.ManagedFieldsEntry) time.Time {
			if e.Subresource == "status" {
				return later
			}
			return e.Time.Time
		})
		plan = c.plan(t, ssaplan.Request{Manifest: m})
	}
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	time.Sleep(time.Until(later.Add(time.Second)))
	after := c.Apply(t, manager, m)
	require.NotEqual(t, before.GetResourceVersion(), after.GetResourceVersion(), "it is written")
	require.Equal(t, before.Object["spec"], after.Object["spec"])
	require.Equal(t, before.GetGeneration(), after.GetGeneration())
	require.Equal(t, "status", before.GetManagedFields()[1].Subresource)
	require.Equal(t, "status", after.GetManagedFields()[0].Subresource, "the records changed places")
	require.Equal(t, after.GetResourceVersion(), c.Apply(t, manager, m).GetResourceVersion(), "once")
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m}).Action)
}

// narrowing has a version that lacks what the other one fills in, and nothing that converts one into the other.
const narrowing = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: narrows.versions.example.com}
spec:
  group: versions.example.com
  scope: Namespaced
  names: {plural: narrows, singular: narrow, kind: Narrow, listKind: NarrowList}
  versions:
  - name: v1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
  - name: v2
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer}, a: {type: string, default: x}, b: {type: string, default: "y"}}
`

// TestVersionThatLacksFields shows a limit of servers. A manager applies the object in a version that lacks some of its
// fields. From then on the server rejects every apply in the other version, with an error about one of these fields,
// although the manifest doesn't declare it. Clearing managedFields ends this.
func TestVersionThatLacksFields(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, narrowing))
	wide := manifest(t, "{apiVersion: versions.example.com/v2, kind: Narrow, metadata: {name: narrow}, spec: {size: 1}}")
	c.apply(t, wide)
	c.Apply(t, "other", manifest(t, "{apiVersion: versions.example.com/v1, kind: Narrow, metadata: {name: narrow, labels: {a: b}}}"))

	plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: wide})
	require.Nil(t, plan)
	require.Regexp(t, `dry run: \.spec\.[ab]: field not declared in schema$`, err.Error())
	_, err = c.TryApply(t, wide, metav1.PatchOptions{FieldManager: manager})
	require.Regexp(t, `^\.spec\.[ab]: field not declared in schema$`, err.Error())

	c.clearManagedFields(t, wide)
	require.Equal(t, ssaplan.ActionUpdate, c.plan(t, ssaplan.Request{Manifest: wide}).Action)
	c.apply(t, wide)
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: wide}).Action)
}

// clearManagedFields is the way out of managedFields that no apply gets past.
func (c *cluster) clearManagedFields(t *testing.T, of *unstructured.Unstructured) {
	t.Helper()
	const patch = `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`
	cleared, err := c.Resource(t, of).Patch(t.Context(), of.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "fixer"})
	require.NoError(t, err)
	require.Empty(t, cleared.GetManagedFields())
}

// rekeyed is a CRD of which a list has other keys later.
func rekeyed(t *testing.T, keys string, versions ...string) *unstructured.Unstructured {
	var all []string
	for _, version := range versions {
		all = append(all, fmt.Sprintf(`{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {
			spec: {type: object, properties: {size: {type: integer}, ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: %s,
			items: {type: object, required: [name, port], properties: {name: {type: string}, port: {type: integer}}}}}}}}}}`, version, version == "v1", keys))
	}
	return manifest(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: rekeyeds.keys.example.com},
		spec: {group: keys.example.com, scope: Namespaced, names: {plural: rekeyeds, singular: rekeyed, kind: Rekeyed, listKind: RekeyedList},
		versions: [%s]}}`, strings.Join(all, ", "))
}

// TestDuplicateKeys shows a limit of servers: items that have the same key since the CRD changed keep an object from
// being applied as long as managedFields have an entry in another version. If the CRD has lost that version, the entry
// can be moved.
func TestDuplicateKeys(t *testing.T) {
	c := newCluster(t)
	c.Define(t, rekeyed(t, "[name, port]", "v1", "v1beta1"))
	rekeyedIn := func(version, name, spec string) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: keys.example.com/%s, kind: Rekeyed, metadata: {name: %s}, spec: {%s}}", version, name, spec)
	}
	for _, name := range []string{"served", "lost"} {
		c.apply(t, rekeyedIn("v1", name, "ports: [{name: a, port: 1}, {name: a, port: 2}]"))
		c.Apply(t, "other", rekeyedIn("v1beta1", name, "size: 1"))
	}
	plan := func(name, spec string) error {
		_, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: rekeyedIn("v1", name, spec), LostVersions: []string{"keys.example.com/v1beta1"}})
		return err
	}
	const ports, text = "ports: [{name: a, port: 1}]", "duplicate entries for key"
	c.Apply(t, installer, rekeyed(t, "[name]", "v1", "v1beta1"))
	lab.Eventually(t, "the keys changed", func() bool {
		err := plan("served", ports)
		return err != nil && strings.Contains(err.Error(), text)
	})
	require.ErrorContains(t, plan("served", "size: 2"), text)

	c.clearManagedFields(t, rekeyedIn("v1", "served", ""))
	c.apply(t, rekeyedIn("v1", "served", ports))
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: rekeyedIn("v1", "served", ports)}).Action)

	c.Apply(t, installer, rekeyed(t, "[name]", "v1"))
	lab.Eventually(t, "the version is lost", func() bool { return plan("lost", ports) == nil })
	moved := ssaplan.Request{Manifest: rekeyedIn("v1", "lost", ports), LostVersions: []string{"keys.example.com/v1beta1"}}
	_, err := c.planner.Apply(lab.Context(t), c.plan(t, moved))
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: moved.Manifest}).Action)
}

// TestMapThatAnotherDeclaresAsEmpty shows a limit of managedFields: a map that another manager declares as empty, and
// that has nothing but defaults, looks like an atomic one. So a refresh shows drift of all of it.
func TestMapThatAnotherDeclaresAsEmpty(t *testing.T) {
	c := newCluster(t)
	c.Define(t, manifest(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boxes.empty.example.com},
		spec: {group: empty.example.com, scope: Namespaced, names: {plural: boxes, singular: box, kind: Box, listKind: BoxList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		box: {type: object, properties: {kind: {type: string, default: a}, size: {type: integer}}}}}}}}}]}}`))
	const box = "{apiVersion: empty.example.com/v1, kind: Box, metadata: {name: box}, spec: {box: %s}}"
	m := manifest(t, box, "{size: 1}")
	state := c.apply(t, m)
	c.Apply(t, "other", manifest(t, box, "{}"))
	c.Patch(t, "third", m, `{"spec":{"box":{"size":null}}}`)
	reading, err := c.planner.Read(t.Context(), state)
	require.NoError(t, err)
	require.Len(t, reading.Drift, 1)
	require.Equal(t, "spec.box", reading.Drift[0].Path.String())
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Len(t, plan.Changes, 1)
	require.Equal(t, "spec.box.size", plan.Changes[0].Path.String())
}

// TestHandoverBetweenVersions shows limits of a handover between versions that no webhook converts: the patch fills in
// the defaults of the manifest's version, so that Apply stops, and deletes what this version lacks.
func TestHandoverBetweenVersions(t *testing.T) {
	c := newCluster(t)
	c.Define(t, manifest(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: turns.turns.example.com},
		spec: {group: turns.example.com, scope: Namespaced, names: {plural: turns, singular: turn, kind: Turn, listKind: TurnList}, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		size: {type: integer}, a: {type: string}, b: {type: string}}}}}}},
		{name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		size: {type: integer}, a: {type: string}, b: {type: string, default: q}}}}}}},
		{name: v3, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		size: {type: integer}}}}}}}]}}`))
	turn := func(version, name, spec string) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: turns.example.com/%s, kind: Turn, metadata: {name: %s}, spec: {%s}}", version, name, spec)
	}
	lines := func(plan *ssaplan.Plan) (changes, owners string) {
		return fmt.Sprint(plan.Changes), fmt.Sprint(plan.Ownership)
	}

	c.Apply(t, "other", turn("v1", "filled", "size: 1, a: z"))
	plan := c.plan(t, ssaplan.Request{Manifest: turn("v2", "filled", "size: 2, a: z"), Adopt: []string{"other"}})
	changes, _ := lines(plan)
	require.Equal(t, `[spec.size: 1 -> 2 spec.b: + "q" (side effect of the server)]`, changes)
	_, err := c.planner.Apply(lab.Context(t), plan)
	var stopped *ssaplan.ChangedError
	require.ErrorAs(t, err, &stopped)
	changes, _ = lines(stopped.Plan)
	require.Equal(t, `[spec.size: 1 -> 2]`, changes)

	c.Apply(t, "other", turn("v1", "narrowed", "size: 1, a: z"))
	changes, _ = lines(c.plan(t, ssaplan.Request{Manifest: turn("v3", "narrowed", "size: 2")}))
	require.Equal(t, `[spec.size: 1 -> 2]`, changes)
	plan = c.plan(t, ssaplan.Request{Manifest: turn("v3", "narrowed", "size: 2"), Adopt: []string{"other"}})
	changes, owners := lines(plan)
	require.Equal(t, `[spec.size: 1 -> 2]`, changes)
	require.Contains(t, owners, `spec.a: without an owner, was owned by "other" (Apply)`)
	_, err = c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"size": int64(2)}, c.Get(t, turn("v1", "narrowed", "")).Object["spec"])
}

// TestTimeOfAPhase shows when a server sets the time of a volume's phase by its clock: with another phase, and not with
// an apply that changes nothing.
func TestTimeOfAPhase(t *testing.T) {
	c := newCluster(t)
	volume := func(rest string) *unstructured.Unstructured {
		m := manifest(t, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, %s}", c.Namespace, rest)
		m.SetNamespace("")
		return m
	}
	m := volume("spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}")
	c.apply(t, m)
	lab.NextSecond()
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m}).Action)
	plan := c.plan(t, ssaplan.Request{Manifest: volume("status: {phase: Available}"), Subresource: "status"})
	require.Contains(t, fmt.Sprint(plan.Changes), "status.lastPhaseTransitionTime")
}

// TestRoundedItemOfASet shows that a server rounds large integers when it reads its managedFields, so that an item
// of a set loses its owner.
func TestRoundedItemOfASet(t *testing.T) {
	c := newCluster(t)
	c.Define(t, manifest(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: rounds.round.example.com}, spec: {group: round.example.com, scope: Namespaced,
		names: {plural: rounds, singular: round, kind: Round, listKind: RoundList}, versions: [{name: v1, served: true,
		storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		a: {type: string},
		numbers: {type: array, x-kubernetes-list-type: set, items: {type: integer, format: int64}}}}}}}}]}}`))
	m := manifest(t, `{apiVersion: round.example.com/v1, kind: Round, metadata: {name: round},
		spec: {numbers: [9007199254740993]}}`)
	state := c.apply(t, m)
	c.Patch(t, "other", m, `{"spec":{"a":"x"}}`)
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Equal(t, ssaplan.ActionUpdate, plan.Action)
	require.Empty(t, plan.Changes)
	require.Equal(t, "[spec.numbers[=9007199254740992]: stays in the list without an owner, as 9007199254740993]",
		fmt.Sprint(plan.Dropped))
}
