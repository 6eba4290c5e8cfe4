package set

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// An object that moves to a later stage holds up no other object of its stage, and what refers to it comes later too.
func TestPlanBehindAPostponedObject(t *testing.T) {
	early := Stage{Name: "early", Has: func(obj *unstructured.Unstructured) bool {
		return obj.GetKind() == "ConfigMap" || obj.GetKind() == "Secret"
	}}
	for refused, row := range map[string]struct {
		why    string
		stages []Stage
		texts  []string
		want   []string
	}{
		"ConfigMap": {
			overQuota, []Stage{early, {Name: "rest"}}, []string{fmt.Sprintf(conf, "b"), pull, quota},
			[]string{"0 Secret", "1 ResourceQuota", "2 ConfigMap"},
		},
		"StorageClass": {"ValidatingAdmissionPolicy 'strict' with binding 'b' denied request: no", nil, []string{
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: default}, spec: {storageClassName: a}}",
			"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {volumes: [{persistentVolumeClaim: {claimName: a}}]}}",
			"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}}",
			"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: strict, labels: {a: b}}}",
		}, []string{"5 ValidatingAdmissionPolicy", "6 StorageClass", "6 PersistentVolumeClaim", "6 Pod"}},
	} {
		planner, _ := newPlanner(t)
		edited := &scripted{Planner: planner, plan: denies(refused, row.why)}
		var got []string
		for _, item := range items(t, newSet(t, edited, Options{Stages: row.stages}, row.texts...)) {
			got = append(got, fmt.Sprintf("%d %s", item.Stage, item.Object.Kind))
		}
		require.Equal(t, row.want, got)
	}
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
		{crd("", "v1"), []string{"example.com/v2"}},
		{crd(", color: {type: string}", "v1", "v2"), nil}, {crd("", "v1", "v2"), nil}, {crd("", "v1", "v2", "v3"), nil},
	} {
		s := newSet(t, planner, Options{}, row.text)
		items(t, s)
		require.Equal(t, row.want, s.lost[kind].versions, row.text)
		require.Equal(t, row.want != nil, len(s.lost) > 0, row.text)
	}

	// Without an answer of the server it isn't known.
	s := newSet(t, planner, Options{}, crd("", "v1"))
	plan := unanswered(t, server, s)
	plan.Action = ssaplan.ActionUpdate
	s.noteLostVersions(&Item{Plan: plan})
	s.noteLostVersions(&Item{})
	s.noteLostVersions(planned(0, ssaplan.ActionUpdate))
	require.Empty(t, s.lost)
}

// unanswered returns the plan of the CRD that a set begins with, as far as it can be made while the server rejects it.
func unanswered(t *testing.T, server *ssaplantest.Server, s *Set) *ssaplan.Plan {
	t.Helper()
	defer server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "patch" {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "CustomResourceDefinition"}, r.Name, field.ErrorList{field.Invalid(field.NewPath("spec"), "x", "no")})
		}
		return nil
	})()
	plan, err := s.tryPart(t.Context(), s.request(0), nil)
	require.NoError(t, err)
	require.NotNil(t, plan.Live())
	require.Nil(t, plan.Result())
	return plan
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
