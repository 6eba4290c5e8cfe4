package planner_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// TestAdopt takes objects over that kubectl apply made, and that others touched. What the plan says of the object is
// what it becomes, and that is what kubectl apply --server-side makes of its twin.
func TestAdopt(t *testing.T) {
	c, twins := newCluster(t), lab.On(t, controlplane.Shared(t))
	for _, row := range []struct {
		name, was, is string
		others        string // a merge patch
		then          string // what an update of kubectl edit does
		changes       []string
	}{
		{name: "same", was: "data: {a: A, b: B}", is: "data: {a: A, b: B}"},
		{name: "edited", was: "data: {a: A, b: B}", is: "data: {a: X, b: B}", changes: []string{"change data.a Edited"}},
		{name: "shorter", was: "data: {a: A, b: B}", is: "data: {a: A}", changes: []string{"remove data.b Dropped kubectl-client-side-apply"}},
		{name: "empty", was: "data: {a: A}", is: "immutable: false", changes: []string{"add immutable Unknown", "remove data Dropped kubectl-client-side-apply", "remove data.a Dropped kubectl-client-side-apply"}},
		{name: "taken", was: "data: {a: A, b: B}", is: "data: {a: A}", others: `{"data":{"b":"theirs","c":"theirs"}}`},
		{name: "edited-by-hand", was: "data: {a: A}", is: "data: {a: A}", then: `{"data":{"c":"by hand"}}`},
		{
			name: "defaults", was: deploymentOf("replicas: 3, strategy: {type: Recreate}", "image: a, imagePullPolicy: Always, env: [{name: E, value: x}]", ", {name: side, image: s}"),
			is: deploymentOf("", "image: a", ""),
			changes: []string{
				"add spec.strategy.rollingUpdate.maxSurge SideEffect", "add spec.strategy.rollingUpdate.maxUnavailable SideEffect",
				"change spec.replicas Dropped kubectl-client-side-apply", "change spec.strategy.type Dropped kubectl-client-side-apply",
				`remove spec.template.spec.containers[name="app"].env Dropped kubectl-client-side-apply`, `remove spec.template.spec.containers[name="app"].env[name="E"] Dropped kubectl-client-side-apply`,
				`remove spec.template.spec.containers[name="side"] Dropped kubectl-client-side-apply`,
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := func(body string) *unstructured.Unstructured {
				if body[0] != '{' {
					body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, " + body + "}"
				}
				m := lab.Object(t, body)
				m.SetName("adopt-" + row.name)
				return m
			}
			for _, cluster := range []*lab.Cluster{c.Cluster, twins} {
				cluster.Kubectl(t, jsonOf(t, text(row.was)), "apply", "-f", "-")
				if row.others != "" {
					cluster.Patch(t, "theirs", text(row.was), row.others)
				}
				if row.then != "" {
					cluster.Patch(t, "kubectl-edit", text(row.was), row.then)
				}
			}
			twins.Kubectl(t, jsonOf(t, text(row.is)), "apply", "--server-side", "--force-conflicts", "--field-manager", manager, "-f", "-")

			before := c.Get(t, text(row.was))
			without := c.plan(t, ssaplan.Request{Manifest: text(row.is)})
			plan := c.plan(t, ssaplan.Request{Manifest: text(row.is), Adopt: []string{fieldowner.ClientSideApply}})
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			requireStays(t, without, plan)
			foretold := plan.Result()
			require.Equal(t, before.GetResourceVersion(), c.Get(t, before).GetResourceVersion(), "planning writes nothing")
			after, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			require.Equal(t, alike(t, foretold), alike(t, after))
			require.Equal(t, alike(t, twins.Get(t, text(row.is))), alike(t, after), "as kubectl makes it")
			again := c.plan(t, ssaplan.Request{Manifest: text(row.is), Adopt: []string{fieldowner.ClientSideApply}})
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
			got := causes(plan)
			slices.Sort(got)
			want := append([]string{
				"remove metadata.annotations Dropped kubectl-client-side-apply", "remove metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"] Dropped kubectl-client-side-apply",
			}, row.changes...)
			slices.Sort(want)
			require.Equal(t, want, got)
		})
	}
}

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
		c.Kubectl(t, jsonOf(t, was), "apply", "-f", "-")
		plan := c.plan(t, ssaplan.Request{Manifest: is, Adopt: []string{fieldowner.ClientSideApply}})
		require.True(t, name == "before" || len(plan.Warnings) > 0)
		_, err := c.planner.Apply(t.Context(), plan)
		require.NoError(t, err, name)
	}
}

// TestAdoptWithoutForce takes over from whom it names, and nobody else, when conflicts are refused.
func TestAdoptWithoutForce(t *testing.T) {
	c := newCluster(t)
	careful := c.Planner(t, ssaplan.Options{FieldManager: manager, RefuseConflicts: true})
	was := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: careful}, data: {a: A, b: B, old: X}}")
	is := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: careful}, data: {a: A2, b: B2}}")
	c.Kubectl(t, jsonOf(t, was), "apply", "-f", "-")
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
	after, err := careful.Apply(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, alike(t, foretold), alike(t, after))
	data, _, err := unstructured.NestedStringMap(after.Object, "data")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "A2", "b": "B2"}, data)
}

// TestAdoptDropsEmptyLists drops lists that are empty, and that an update recorded alike: only the definition tells
// that the set stays, and the list that is one whole goes.
func TestAdoptDropsEmptyLists(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: notes.adopt.example.com}, spec: {
		group: adopt.example.com, names: {kind: Note, plural: notes}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
			type: object, properties: {spec: {type: object, properties: {
				a: {type: string}, list: {type: array, items: {type: string}}, points: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}}}}}]}}`))
	was := lab.Object(t, "{apiVersion: adopt.example.com/v1, kind: Note, metadata: {name: note}, spec: {a: A, list: [], points: []}}")
	is := lab.Object(t, "{apiVersion: adopt.example.com/v1, kind: Note, metadata: {name: note}, spec: {a: X}}")
	c.Kubectl(t, jsonOf(t, was), "apply", "-f", "-")
	plan := c.plan(t, ssaplan.Request{Manifest: is, Adopt: []string{fieldowner.ClientSideApply}})
	made, err := c.Planner(t, ssaplan.Options{FieldManager: manager}).Apply(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": "X", "points": []any{}}, made.Object["spec"])
	require.Equal(t, made.Object["spec"], plan.Result().Object["spec"])
}

// TestAdoptLeavesWhatIsNotRecorded drops maps in which there are but empty lists. Those of which the server records
// nothing stay, also where the definition requires them.
func TestAdoptLeavesWhatIsNotRecorded(t *testing.T) {
	c := newCluster(t)
	const named = "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}}"
	c.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: rules.adopt.example.com}, spec: {
		group: adopt.example.com, names: {kind: Rule, plural: rules}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
			type: object, required: [spec], properties: {spec: {type: object, properties: {
				a: {type: string}, groups: %[1]s, in: {type: object, properties: {groups: %[1]s, list: {type: array, items: {type: string}}, in: {type: object, properties: {groups: %[1]s}}}},
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
					c.Kubectl(t, jsonOf(t, was), "apply", "-f", "-")
				}
				defer c.Delete(t, was)
				plan := c.plan(t, ssaplan.Request{Manifest: is, Adopt: []string{by}})
				made, err := c.planner.Apply(t.Context(), plan)
				require.NoError(t, err)
				require.Equal(t, body("rule", row.left).Object["spec"], made.Object["spec"])
				require.Equal(t, alike(t, plan.Result()), alike(t, made))
			})
		}
	}
}

// TestAdoptWhatMayNotChange plans the adoption of an object that a policy of later is against: whoever changes it is
// refused, also who only has its fields change owners, though the manifest is as the policy wants it.
func TestAdoptWhatMayNotChange(t *testing.T) {
	c := newCluster(t)
	was := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: against}, data: {a: A, old: X}}")
	is := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: against}, data: {a: A}}")
	c.Kubectl(t, jsonOf(t, was), "apply", "-f", "-")
	says, remove := c.denyUpdates(t, "configmaps")
	defer remove()
	var err error
	lab.Eventually(t, "the policy is at work", func() bool {
		_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: is, Adopt: []string{fieldowner.ClientSideApply}})
		return err != nil
	})
	require.ErrorContains(t, err, says)
	require.ErrorAs(t, err, new(*ssaplan.RefusedError))
	require.NotEmpty(t, c.Get(t, was).GetManagedFields())
}

// requireStays checks that what of a tool stays behind without adopting it is what goes when it is adopted.
func requireStays(t *testing.T, without, with *ssaplan.Plan) {
	i := slices.IndexFunc(without.Writers, func(w fieldowner.Writer) bool { return w.Manager == fieldowner.ClientSideApply })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, "kubectl apply", without.Writers[i].Tool)
	require.False(t, slices.ContainsFunc(with.Writers, func(w fieldowner.Writer) bool { return w.Manager == fieldowner.ClientSideApply }))
	for _, change := range with.Changes {
		stays := func(p projection.Path) bool { return p.HasPrefix(change.Path) || change.Path.HasPrefix(p) }
		require.Equal(t, change.Cause == explain.CauseDropped, slices.ContainsFunc(without.Writers[i].Stays, stays), change)
	}
	for _, change := range with.Changes { // each tells what goes, and of whom it was
		if change.Cause == explain.CauseDropped {
			require.Equal(t, foreign.Text(fieldowner.ClientSideApply), change.Manager, change)
			require.Equal(t, fieldowner.OperationUpdate, change.Operation)
			require.NotNil(t, change.Before, change)
		}
	}
	live, after := without.Live().Object, with.Result().Object
	for _, p := range without.Writers[i].Stays {
		was, _ := projection.Get(live, p)
		if is, _ := projection.Get(after, p); reflect.DeepEqual(was, is) {
			continue // the default is what the tool had written
		}
		require.True(t, slices.ContainsFunc(with.Changes, func(c explain.Change) bool { return c.Cause == explain.CauseDropped && p.HasPrefix(c.Path) }), p)
	}
}

// TestGiveUp stops owning fields. Their values stay, in the manifest or not, and what only we owned is nobody's.
func TestGiveUp(t *testing.T) {
	c := newCluster(t)
	const ports = "image: a, ports: [{containerPort: 80, name: web}, {containerPort: 81, name: more}]"
	for _, row := range []struct {
		name, was, is, giveUp string
		others                bool
		changes, given        []string
	}{
		{name: "in-the-manifest", was: "data: {a: A, b: B}", is: "data: {a: X, b: B}", giveUp: "data.a", given: []string{"data.a"}},
		{name: "others-have-it", was: "data: {a: A, b: B}", is: "data: {b: B}", giveUp: "data.a", others: true, given: []string{"data.a"}},
		{
			name: "autoscaled", was: deploymentOf("replicas: 3", "image: a", ""), is: deploymentOf("replicas: 9", "image: b", ""), giveUp: "spec.replicas",
			given: []string{"spec.replicas"}, changes: []string{`change spec.template.spec.containers[name="app"].image Edited`},
		},
		{
			name: "by-position", was: deploymentOf("", "image: a, workingDir: /x", ""), is: deploymentOf("", "image: a, workingDir: /x", ""),
			giveUp: "spec.template.spec.containers[0].workingDir", given: []string{`spec.template.spec.containers[name="app"].workingDir`},
		},
		{
			name: "in-an-item-that-goes", was: deploymentOf("", "image: a", ", {name: side, image: s}"), is: deploymentOf("", "image: a", ""), giveUp: "spec.template.spec.containers[*].image",
			given: []string{`spec.template.spec.containers[name="app"].image`}, changes: []string{`remove spec.template.spec.containers[name="side"] Dropped`},
		},
		{ // a record names an item by all its keys, which the manifest needn't have
			name: "in-an-item-without-its-defaults", was: deploymentOf("", ports, ""), is: deploymentOf("", ports, ""),
			giveUp: `spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].name`,
			given:  []string{`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].name`},
		},
		{
			name: "an-item-without-its-defaults", was: deploymentOf("", ports, ""), is: deploymentOf("", ports, ""),
			giveUp: `spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"]`,
			given:  []string{`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"]`},
		},
		{
			name: "by-the-default", was: deploymentOf("", ports, ""), is: deploymentOf("", ports, ""),
			giveUp: `spec.template.spec.containers[name="app"].ports[protocol="TCP"].name`,
			given: []string{
				`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].name`,
				`spec.template.spec.containers[name="app"].ports[containerPort=81,protocol="TCP"].name`,
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := func(body string) *unstructured.Unstructured {
				if body[0] != '{' {
					body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, " + body + "}"
				}
				m := lab.Object(t, body)
				m.SetName("give-up-" + row.name)
				return m
			}
			c.apply(t, text(row.was))
			if row.others {
				c.Apply(t, "theirs", text(row.was))
			}
			before := c.Get(t, text(row.was))
			request := ssaplan.Request{Manifest: text(row.is), GiveUp: patterns(t, row.giveUp)}
			plan := c.plan(t, request)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			require.Equal(t, append([]string{}, row.changes...), causes(plan))
			foretold := plan.Result()
			after, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			require.Equal(t, alike(t, foretold), alike(t, after))
			owners, err := fieldowner.Read(after.Object)
			require.NoError(t, err)
			for _, text := range row.given {
				p, err := projection.ParsePath(text)
				require.NoError(t, err)
				was, _ := projection.Get(before.Object, p)
				is, _ := projection.Get(after.Object, p)
				require.Equal(t, was, is)
				require.False(t, slices.ContainsFunc(owners.Of(p), fieldowner.Applier{Manager: manager}.Is))
				require.Equal(t, row.others, len(owners.Of(p)) > 0)
			}
			again := c.plan(t, request)
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
		})
	}
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
			made, err := c.planner.Apply(t.Context(), plan)
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
	_, err = c.planner.Apply(t.Context(), plan)
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

func jsonOf(t *testing.T, obj *unstructured.Unstructured) string {
	text, err := obj.MarshalJSON()
	require.NoError(t, err)
	return string(text)
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
