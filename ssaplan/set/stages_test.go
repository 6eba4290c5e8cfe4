package set

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A request without a manifest comes last and holds up no other.
func TestOrderWithoutAManifest(t *testing.T) {
	planner, _ := newPlanner(t)
	s := newSet(t, planner, Options{Stages: []Stage{{Name: "all"}}}, "", inNew, namespace)
	require.Equal(t, []int{0, 1, 0}, s.order.stage)
	require.Equal(t, []int{0, 2}, s.order.inStage(0))
	require.Equal(t, 6, newSet(t, planner, Options{}, "").order.stage[0])
}

// Objects that refer to each other come in the order of the requests, and those that refer to them behind all of them.
func TestOrderOfACircle(t *testing.T) {
	planner, _ := newPlanner(t)
	const group = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, metadata: {name: p, namespace: shop}, spec: {parentCompositePodGroupName: "
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {schedulingGroup: {podGroupName: p}}}"
	itself := strings.NewReplacer("g1", "g3", "g2", "g3").Replace(first)
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
		{[]string{pod, group + "g2}}", first, second, itself}, []int{2, 3, 1, 0, 4}},
	} {
		require.Equal(t, row.want, newSet(t, planner, Options{}, row.texts...).order.numbers)
	}
}
