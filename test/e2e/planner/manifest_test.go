package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

func patterns(t *testing.T, texts ...string) projection.Patterns {
	ps, err := projection.ParsePatterns(texts...)
	require.NoError(t, err)
	return ps
}

func TestStringDataIsPlannedAsWhatItBecomes(t *testing.T) {
	c := newCluster(t)
	secret := func(stringData string) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: texts}, stringData: {%s}}", stringData)
	}
	c.apply(t, secret("a: hello, b: same"))
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: secret("a: hello, b: same")}).Action)
	require.Equal(t, []string{"change data.a Edited"}, causes(c.plan(t, ssaplan.Request{Manifest: secret("a: world, b: same")})))
	require.Equal(t, []string{"remove data.a Dropped"}, causes(c.plan(t, ssaplan.Request{Manifest: secret("b: same")})))
	c.apply(t, secret("b: same"))
	require.Equal(t, map[string]any{"b": "c2FtZQ=="}, c.Get(t, secret("")).Object["data"], "the key that is no longer sent is gone")
}

func TestSideEffectsOnFieldsThatNobodyOwns(t *testing.T) {
	c := newCluster(t)
	service := func(spec string) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: ports}, spec: {ports: [{port: 80}], %s}}", spec)
	}
	c.apply(t, service("type: NodePort"))
	got := causes(c.plan(t, ssaplan.Request{Manifest: service("type: ClusterIP")}))
	require.Contains(t, got, "change spec.type Edited")
	require.Contains(t, got, `remove spec.ports[port=80,protocol="TCP"].nodePort SideEffect`)
	require.Contains(t, got, "remove spec.externalTrafficPolicy SideEffect")
	require.Len(t, got, 3)

	got = causes(c.plan(t, ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: new}, spec: {ports: [{port: 80}]}}")}))
	require.NotContains(t, fmt.Sprint(got), "SideEffect", "defaults make no noise on a create")
}

func TestPortsThatTheServerPicksAreNotForetold(t *testing.T) {
	c := newCluster(t)
	service := func(kind string) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: v1, kind: Service, metadata: {name: picked}, spec: {ports: [{port: 80}], type: %s}}", kind)
	}
	c.apply(t, service("ClusterIP"))
	plan := c.plan(t, ssaplan.Request{Manifest: service("NodePort")})
	found := false
	for _, change := range plan.Changes {
		if strings.HasSuffix(change.Path.String(), ".nodePort") {
			found = true
			require.True(t, change.Assigned)
			require.Nil(t, change.After)
		}
	}
	require.True(t, found)
	text, err := plan.MarshalJSON()
	require.NoError(t, err)
	require.NotContains(t, string(text), "32769", "the dummy of the dry run")
}

func TestWhatIsLeftEmptyForTheServerToPickIsNotForetold(t *testing.T) {
	c := newCluster(t)
	service := func(kind string) *unstructured.Unstructured {
		return manifest(t, `{apiVersion: v1, kind: Service, metadata: {name: empty}, spec: {type: %s, clusterIP: "", ports: [{port: 80, nodePort: 0}]}}`, kind)
	}
	nodePort := `spec.ports[port=80,protocol="TCP"].nodePort`
	for _, step := range []struct {
		kind             string
		assigned, marked []string
		why              string
	}{
		{"ClusterIP", []string{"spec.clusterIP"}, []string{"spec.clusterIP"}, "a dry run that creates makes up addresses"},
		{"NodePort", []string{"spec.clusterIP", nodePort}, []string{nodePort}, "the address is there, the port is new"},
		{"NodePort", []string{"spec.clusterIP", nodePort}, nil, "what is there stays, and is the server's all the same"},
	} {
		plan := c.plan(t, ssaplan.Request{Manifest: service(step.kind)})
		var assigned, marked []string
		for _, path := range plan.Assigned {
			assigned = append(assigned, path.String())
		}
		for _, change := range plan.Changes {
			if change.Assigned && slices.Contains(assigned, change.Path.String()) {
				marked = append(marked, change.Path.String())
				require.Nil(t, change.After)
			}
		}
		require.Equal(t, step.assigned, assigned, step.why)
		require.Equal(t, step.marked, marked, step.why)
		applied, err := c.planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		require.Equal(t, projection.Project(applied.Object, plan.After.Fields).Object, plan.After.Object, step.why)
	}
}

func TestWhatHasNoEffectIsAWarning(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: ignored, generation: 5, selfLink: a}, spec: {hard: {pods: "1"}}, status: {hard: {pods: "3"}}}`)
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	warnings := fmt.Sprintln(plan.Warnings)
	for _, path := range []string{"status: ", "metadata.generation: ", "metadata.selfLink: "} {
		require.Contains(t, warnings, path)
	}
	m = manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: ignored}, spec: {mode: a}, status: {x: 1}}")
	require.Contains(t, fmt.Sprintln(c.plan(t, ssaplan.Request{Manifest: m}).Warnings), "status: the server doesn't keep")
}

func TestStrippedFieldsAreNeverSent(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: ignore}, data: {a: A, b: B}}")
	c.apply(t, m)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
	require.Empty(t, causes(c.plan(t, ssaplan.Request{Manifest: m, Strip: patterns(t, "data.a")})))
	require.Equal(t, []string{"remove data.b Dropped"}, causes(c.plan(t, ssaplan.Request{Manifest: m, Strip: patterns(t, "data.a", "data.b")})),
		"nobody else owns it")
}

func TestAnEmptyMapDeclaresNothingInIt(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: empty, labels: {}}, data: {}}")
	c.apply(t, m)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"},"metadata":{"labels":{"a":"theirs"}}}`)
	state := c.apply(t, m)
	require.Equal(t, map[string]any{"data": map[string]any{}}, state.Applied.Object, "the map is declared, and what others have in it is theirs")
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs again"}}`)
	reading, err := c.planner.Read(t.Context(), state)
	require.NoError(t, err)
	require.Empty(t, reading.Drift)
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m, Prior: state}).Action)
}

func TestADuplicateThatGoesIsListed(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: doubled}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 53}, {containerPort: 80}]}]}}}}`)
	c.apply(t, m)
	_, err := c.Resource(t, m).Patch(t.Context(), "doubled", types.JSONPatchType,
		[]byte(`[{"op":"add","path":"/spec/template/spec/containers/0/ports/-","value":{"containerPort":53,"protocol":"TCP"}}]`), metav1.PatchOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	m = manifest(t, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: doubled}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 53}]}]}}}}`)
	before := len(ports(c.Get(t, m)))
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	c.apply(t, m)
	require.Equal(t, before-len(ports(c.Get(t, m))), len(plan.Changes), "%v", plan.Changes)
}

func ports(m *unstructured.Unstructured) []any {
	containers, _, _ := unstructured.NestedSlice(m.Object, "spec", "template", "spec", "containers")
	ports, _, _ := unstructured.NestedSlice(containers[0].(map[string]any), "ports")
	return ports
}
