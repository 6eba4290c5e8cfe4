package kinds_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/kinds"
)

func TestUnenforced(t *testing.T) {
	for kind, want := range map[string]time.Duration{
		"MutatingWebhookConfiguration.admissionregistration.k8s.io":   200 * time.Millisecond,
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io": 200 * time.Millisecond,
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io":      1500 * time.Millisecond,
		"MutatingWebhookConfiguration.example.com":                    0,
		"ConfigMap": 0,
	} {
		assert.Equal(t, want, kinds.Unenforced(kind), kind)
	}
}
