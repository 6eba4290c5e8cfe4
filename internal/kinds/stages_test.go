package kinds_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/kinds"
)

// Each stage has built-in kinds, and none has a kind of another one.
func TestStages(t *testing.T) {
	in := map[string]string{}
	for _, stage := range kinds.Stages {
		for _, kind := range stage.Kinds {
			_, group, _ := strings.Cut(kind, ".")
			assert.True(t, kinds.IsBuiltinGroup(group), kind)
			assert.Empty(t, in[kind], kind)
			in[kind] = stage.Name
		}
	}
	for kind, want := range map[string]string{
		"Namespace": "namespaces and CRDs", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": "admission and further APIs",
		"APIService.apiregistration.k8s.io": "admission and further APIs", "Ingress.networking.k8s.io": "",
	} {
		assert.Equal(t, want, in[kind], kind)
	}
}
