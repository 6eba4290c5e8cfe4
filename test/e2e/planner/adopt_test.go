package planner_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestAdoptWithWarnings carries out what a server warns of, and what it warns of only before the fields changed owners.
func TestAdoptWithWarnings(t *testing.T) {
	c := newCluster(t)
	for name, body := range map[string]string{
		"warned": deploymentOf("", "image: a", "], topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}"),
		"before": deploymentOf("", "image: a", ""),
	} {
		was := lab.Object(t, deploymentOf("", "image: a", ", {name: side, image: s}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}"))
		is := lab.Object(t, body)
		was.SetName(name)
		is.SetName(name)
		c.Kubectl(t, asJSON(t, was), "apply", "-f", "-")
		plan := c.plan(t, ssaplan.Request{Manifest: is, Adopt: []string{fieldowner.ClientSideApply}})
		require.True(t, name == "before" || len(plan.Warnings) > 0)
		_, err := c.planner.Apply(lab.Context(t), plan)
		require.NoError(t, err, name)
	}
}

// TestAdoptWithoutForce adopts while conflicts are refused. The plan takes over the fields of the managers that the
// request names. A field of any other manager is a conflict.
func TestAdoptWithoutForce(t *testing.T) {
	c := newCluster(t)
	careful := c.Planner(t, ssaplan.Options{FieldManager: manager, RefuseConflicts: true})
	was := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: careful}, data: {a: A, b: B, old: X}}")
	is := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: careful}, data: {a: A2, b: B2}}")
	c.Kubectl(t, asJSON(t, was), "apply", "-f", "-")
	request := ssaplan.Request{Manifest: is, Adopt: []string{fieldowner.ClientSideApply}}
	conflicts := func() (lines []string) {
		plan, err := careful.Plan(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionConflict, plan.Action)
		for _, conflict := range plan.Conflicts {
			lines = append(lines, conflict.Path.String()+" "+string(conflict.Manager))
		}
		return lines
	}
	c.Patch(t, "somebody", is, `{"data":{"b":"theirs"}}`)
	require.Equal(t, []string{"data.b somebody"}, conflicts())
	request.Adopt = nil
	require.Equal(t, []string{"data.a kubectl-client-side-apply", "data.b somebody"}, conflicts())

	request.Adopt = []string{"somebody", fieldowner.ClientSideApply}
	plan, err := careful.Plan(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionUpdate, plan.Action)
	foretold := plan.Result()
	after, err := careful.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	require.Equal(t, alike(t, foretold), alike(t, after))
	data, _, err := unstructured.NestedStringMap(after.Object, "data")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "A2", "b": "B2"}, data)
}

// TestAdoptLeavesWhatIsNotRecorded drops maps in which there are but empty lists. Those of which the server records
// nothing stay, also where the definition requires them.
func TestAdoptLeavesWhatIsNotRecorded(t *testing.T) {
	c := newCluster(t)
	const named = "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}}"
	c.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: rules.adopt.example.com}, spec: {
		group: adopt.example.com, names: {kind: Rule, plural: rules}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
			type: object, required: [spec], properties: {spec: {type: object, properties: {
				a: {type: string}, list: {type: array, items: {type: string}}, points: {type: array, x-kubernetes-list-type: set, items: {type: string}},
				groups: %[1]s, in: {type: object, properties: {groups: %[1]s, list: {type: array, items: {type: string}}, in: {type: object, properties: {groups: %[1]s}}}},
				whole: {type: object, x-kubernetes-map-type: atomic, properties: {groups: %[1]s}}, open: {type: object, additionalProperties: %[1]s}}}}}}}]}}`, named))
	for _, row := range []struct{ why, was, is, left string }{
		{"a required map", "{}", "{groups: []}", "{groups: []}"},
		{"two levels of it", "{}", "{groups: [], in: {in: {groups: []}}}", "{groups: [], in: {in: {groups: []}}}"},
		{"not declared", "{a: A, in: {groups: []}}", "{a: X}", "{a: X, in: {groups: []}}"},
		{"not declared and deep", "{a: A, in: {groups: [], in: {groups: []}}}", "{a: X}", "{a: X, in: {groups: [], in: {groups: []}}}"},
		{"a list that is one whole", "{a: A, in: {list: []}}", "{a: X}", "{a: X}"},
		{"both", "{a: A, in: {groups: [], list: []}}", "{a: X}", "{a: X}"},
		{"an empty map", "{a: A, in: {groups: [], in: {}}}", "{a: X}", "{a: X}"},
		{"a map that is one whole", "{a: A, whole: {groups: []}}", "{a: X}", "{a: X}"},
		{"a set, beside a list that is one whole", "{a: A, list: [], points: []}", "{a: X}", "{a: X, points: []}"},
		{"no field of the definition", "{a: A, open: {k: []}}", "{a: X}", "{a: X}"},
	} {
		for _, by := range []string{"ann", fieldowner.ClientSideApply} {
			t.Run(row.why+" of "+by, func(t *testing.T) {
				body := func(name, spec string) *unstructured.Unstructured {
					return lab.Objectf(t, "{apiVersion: adopt.example.com/v1, kind: Rule, metadata: {name: %s-%s}, spec: %s}", name, by, spec)
				}
				was, is := body("rule", row.was), body("rule", row.is)
				if by == "ann" {
					c.Apply(t, by, was)
				} else {
					was.SetAnnotations(map[string]string{lastApplied: "{}"})
					c.createAs(t, by, was)
				}
				defer c.Delete(t, was)
				plan := c.plan(t, ssaplan.Request{Manifest: is, Adopt: []string{by}})
				made, err := c.planner.Apply(lab.Context(t), plan)
				require.NoError(t, err)
				require.Equal(t, body("rule", row.left).Object["spec"], made.Object["spec"])
				require.Equal(t, alike(t, plan.Result()), alike(t, made))
			})
		}
	}
}

// TestAdoptWhatMayNotChange plans an adoption while a newer policy denies every update that leaves data.old in the
// object. The manifest drops data.old, but the handover of fields is an update with data.old. The plan fails.
func TestAdoptWhatMayNotChange(t *testing.T) {
	c := newCluster(t)
	was := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: against}, data: {a: A, old: X}}")
	is := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: against}, data: {a: A}}")
	c.Kubectl(t, asJSON(t, was), "apply", "-f", "-")
	says, remove := c.denyUpdates(t, "configmaps")
	defer remove()
	var err error
	lab.Eventually(t, "the policy is at work", func() bool {
		_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: is, Adopt: []string{fieldowner.ClientSideApply}})
		return err != nil
	})
	require.ErrorContains(t, err, says)
	require.ErrorAs(t, err, new(*immutability.RefusedError))
	require.NotEmpty(t, c.Get(t, was).GetManagedFields())
}

// TestGiveUpAtACreate makes an object with all of the manifest, and then owns less of it: the plan after that is a
// no-op.
func TestGiveUpAtACreate(t *testing.T) {
	c := newCluster(t)
	for name, row := range map[string]struct{ text, giveUp, given string }{
		"field":    {deploymentOf("replicas: 3", "image: a", ""), "spec.replicas", "spec.replicas"},
		"position": {deploymentOf("", "image: a, resources: {limits: {cpu: 1}}", ""), "spec.template.spec.containers[0].resources", `spec.template.spec.containers[name="app"].resources.limits.cpu`},
		"pointer":  {deploymentOf("", "image: a, workingDir: /x", ""), "/spec/template/spec/containers/0/workingDir", `spec.template.spec.containers[name="app"].workingDir`},
	} {
		t.Run(name, func(t *testing.T) {
			m := lab.Object(t, row.text)
			m.SetName("give-up-created-" + name)
			request := ssaplan.Request{Manifest: m, GiveUp: patterns(t, row.giveUp)}
			plan := c.plan(t, request)
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
			made, err := c.planner.Apply(lab.Context(t), plan)
			require.NoError(t, err)
			require.Equal(t, alike(t, plan.Result()), alike(t, made))
			owners, err := fieldowner.Read(made.Object)
			require.NoError(t, err)
			p := pathOf(t, row.given)
			_, exists := projection.Get(made.Object, p)
			require.True(t, exists)
			require.Empty(t, owners.Of(p))
			request.Prior, err = plan.State(made)
			require.NoError(t, err)
			again := c.plan(t, request)
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
			require.Empty(t, again.Warnings)
		})
	}
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: give-up-all-created}, data: {a: A}}")
	_, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m, GiveUp: patterns(t, "data")})
	require.ErrorContains(t, err, "no manager would own a field")
}

// A part of a list or map that has one owner as a whole can't be given up, which a warning says.
func TestGiveUpAPart(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: part}, spec: {ports: [{port: 80}], selector: {a: b, c: d}}}")
	c.apply(t, m)
	plan := c.plan(t, ssaplan.Request{Manifest: m, GiveUp: patterns(t, "spec.selector.a")})
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	require.Equal(t, []foreign.Text{"spec.selector.a: can't be given up, since it is a part of a list or map that has one owner as a whole: " +
		"it is sent with the value that the object has"}, plan.Warnings)
}

// TestGiveUpAll is refused, since a server would record everything as written before the next apply.
func TestGiveUpAll(t *testing.T) {
	c := newCluster(t)
	c.apply(t, manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: all}, data: {a: A}}"))
	request := ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: all}, immutable: false}"), GiveUp: patterns(t, "data")}
	_, err := c.planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, "no manager would own a field")
	request.Manifest = manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: all}, immutable: false, data: {a: A}}")
	request.GiveUp = nil
	c.apply(t, request.Manifest)
	request.GiveUp = patterns(t, "data")
	plan := c.plan(t, request)
	_, err = c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err, "the advice works")
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, request).Action)
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{
		Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: all}}"), Subresource: "status", Adopt: []string{"x"},
	})
	require.ErrorContains(t, err, "in the object itself, not in its status")
}

func deploymentOf(spec, container, more string) string {
	if spec != "" {
		spec += ", "
	}
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {" + spec +
		"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, " + container + "}" + more + "]}}}}"
}

// alike returns the object as JSON without what differs between two objects that were made alike.
func alike(t *testing.T, obj *unstructured.Unstructured) string {
	out := obj.DeepCopy()
	out.SetUID("")
	out.SetNamespace("")
	out.SetResourceVersion("")
	out.SetGeneration(0)
	unstructured.RemoveNestedField(out.Object, "metadata", "creationTimestamp")
	out.SetManagedFields(nil)
	owners, err := fieldowner.Read(obj.Object)
	require.NoError(t, err)
	lines := []string{}
	for _, e := range owners.Entries() {
		for p := range e.Fields.All() {
			lines = append(lines, e.Owner.String()+" "+string(e.APIVersion)+" "+p.String())
		}
	}
	out.Object["owners"] = lines
	text, err := json.MarshalIndent(out.Object, "", " ")
	require.NoError(t, err)
	return string(text)
}
