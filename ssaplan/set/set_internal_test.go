package set

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
)

func TestPatienceOption(t *testing.T) {
	planner, _ := newPlanner(t)
	require.Equal(t, time.Minute, newSet(t, planner, Options{}).options.Patience)
	require.Equal(t, time.Second, newSet(t, planner, Options{Patience: time.Second}).options.Patience)
	require.Equal(t, time.Minute, NewRemoval(planner, nil, RemovalOptions{}).options.Patience)
	require.Equal(t, time.Second, NewRemoval(planner, nil, RemovalOptions{Patience: time.Second}).options.Patience)
	require.Equal(t, clock.Backoff{Next: 20 * time.Millisecond, Longest: time.Second}, pauses())
}

// Versions that a CRD of the set loses are those of entries of the object, not of its subresources.
func TestRequestWithLostVersions(t *testing.T) {
	const gadget = "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}}"
	planner, _ := newPlanner(t)
	s := New(planner, []ssaplan.Request{
		{Manifest: object(t, gadget), LostVersions: []string{"v1alpha1"}}, {Manifest: object(t, gadget), Subresource: "status"}, {},
	}, Options{})
	s.lost[schema.GroupKind{Group: "example.com", Kind: "Gadget"}] = lost{0, []string{"v1beta1"}}
	require.Equal(t, []string{"v1alpha1", "v1beta1"}, s.request(0).LostVersions)
	require.Equal(t, []string{"v1alpha1"}, s.requests[0].LostVersions, "the caller's request stays as it is")
	require.Empty(t, s.request(1).LostVersions)
	require.Empty(t, s.request(2).LostVersions)
}

func TestContents(t *testing.T) {
	planner, _ := newPlanner(t)
	s := newSet(t, planner, Options{},
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com},
			spec: {group: example.com, names: {kind: Gadget}, versions: [{name: v1, served: true}, {name: v2, served: false}, other]}}`,
		"{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hooks}, webhooks: [{name: hook.example.com}, other]}",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: strict}}")
	for text, want := range map[string]bool{
		"{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}": true,
		"{apiVersion: example.com/v2, kind: Gadget, metadata: {name: a}}": false,
		"{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}": false,
	} {
		of := newSet(t, planner, Options{}, text)
		_, ok := s.contents.serves(of.objectOf(0))
		require.Equal(t, want, ok, text)
	}
	for text, want := range map[string][]int{
		`admission webhook "hook.example.com" denied the request`: {2}, "ValidatingAdmissionPolicy 'strict' denied": {3}, "hook.example.com": nil,
		`"hooks" and 'strict'`: {2, 3},
	} {
		require.Equal(t, want, s.contents.named(text), text)
	}
	gadget := object(t, "{apiVersion: example.com/v2, kind: Gadget}")
	require.Equal(t, []int{0, 1}, s.contents.needs(gadget, "shop"))
	require.Equal(t, []int{0}, s.contents.needs(gadget, "other"))
	require.Empty(t, s.contents.needs(object(t, "{apiVersion: v1, kind: ConfigMap}"), ""))
}

// A request without a manifest comes last and holds up no other.
func TestOrderWithoutAManifest(t *testing.T) {
	planner, _ := newPlanner(t)
	one := []Stage{{Name: "all"}}
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: new}}"
	s := newSet(t, planner, Options{Stages: one}, "", "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: new}}", namespace)
	require.Equal(t, []int{0, 1, 0}, s.order.stage)
	require.Equal(t, []int{0, 2}, s.order.inStage(0))
	require.Equal(t, 6, newSet(t, planner, Options{}, "").order.stage[0])
}

// Objects that refer to each other come in the order of the requests, and those that refer to them behind all of them.
func TestOrderOfACircle(t *testing.T) {
	const group = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, metadata: {name: p, namespace: shop}, spec: {parentCompositePodGroupName: "
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {schedulingGroup: {podGroupName: p}}}"
	for _, row := range []struct {
		texts []string
		want  []int
	}{
		{[]string{first, second}, []int{0, 1}},
		{[]string{group + "g1}}", first, second}, []int{1, 2, 0}},
		{[]string{group + "g2}}", first, second}, []int{1, 2, 0}},
		{[]string{pod, group + "g1}}", first, second}, []int{2, 3, 1, 0}},
		{[]string{pod, group + "g2}}", first, second}, []int{2, 3, 1, 0}},
		{[]string{second, pod, first, group + "g1}}"}, []int{0, 2, 3, 1}},
	} {
		planner, _ := newPlanner(t)
		require.Equal(t, row.want, newSet(t, planner, Options{}, row.texts...).order.numbers)
	}
}
