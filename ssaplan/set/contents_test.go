package set

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
		_, ok := s.contents.Serves(of.objectOf(0))
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
