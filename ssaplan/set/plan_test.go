package set

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// An object that moves to a later stage holds up no other object of its stage.
func TestPlanBehindAPostponedObject(t *testing.T) {
	planner, _ := newPlanner(t)
	early := Stage{Name: "early", Has: func(obj *unstructured.Unstructured) bool {
		return obj.GetKind() == "ConfigMap" || obj.GetKind() == "Secret"
	}}
	edited := &scripted{Planner: planner, plan: denies("ConfigMap", overQuota)}
	s := newSet(t, edited, Options{Stages: []Stage{early, {Name: "rest"}}}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}", pull,
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}}")
	var kinds []string
	for _, item := range items(t, s) {
		kinds = append(kinds, item.Object.Kind)
	}
	require.Equal(t, []string{"Secret", "ResourceQuota", "ConfigMap"}, kinds)
}

// The versions that a CRD loses are those that it serves or names now and won't after the apply.
func TestLostVersions(t *testing.T) {
	kind := schema.GroupKind{Group: "example.com", Kind: "Gadget"}
	planner, server := newPlanner(t)
	install(t, planner, crd("", "v1", "v2"))
	for _, row := range []struct {
		text string
		want []string
	}{
		{
			crd("", "v1"), []string{"example.com/v2"}}, {crd(", color: {type: string}", "v1", "v2"), nil}, {crd("", "v1", "v2"),
			nil}, {crd("", "v1", "v2", "v3"), nil},
	} {
		s := newSet(t, planner, Options{}, row.text)
		items(t, s)
		require.Equal(t, row.want, s.lost[kind].versions, row.text)
		require.Equal(t, row.want != nil, len(s.lost) > 0, row.text)
	}

	// Without an answer of the server it isn't known.
	server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "patch" {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "CustomResourceDefinition"}, r.Name, field.ErrorList{field.Invalid(field.NewPath("spec"), "x", "no")})
		}
		return nil
	})
	s := newSet(t, planner, Options{}, crd("", "v1"))
	plan, err := s.tryPart(t.Context(), s.request(0), nil)
	require.NoError(t, err)
	plan.Action = ssaplan.ActionUpdate
	s.noteLostVersions(&Item{Plan: plan})
	s.noteLostVersions(&Item{})
	s.noteLostVersions(planned(0, ssaplan.ActionUpdate))
	require.Empty(t, s.lost)
}
