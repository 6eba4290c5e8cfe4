package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// resourceWith gives access to the ConfigMaps of a server that answers in turn.
func resourceWith(t *testing.T, bodies ...string) *Resource {
	return connect(t, &wiretest.Answers{Bodies: bodies}, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
}

// Creates and updates that were only to be tried show in the versions of their answers that they were carried out.
func TestDryRunsThatWrite(t *testing.T) {
	dryRun := []string{metav1.DryRunAll}
	for _, row := range []struct {
		why, in, answer string
		dryRun          []string
		wrote           bool
	}{
		{"tried", "", "", dryRun, false},
		{"created", "", wiretest.Identified, dryRun, true},
		{"really to be created", "", wiretest.Identified, nil, false},
		{"tried on a version", wiretest.Identified, wiretest.Identified, dryRun, false},
		{"updated", wiretest.Identified, `,"uid":"1","resourceVersion":"6"`, dryRun, true},
		{"really to be updated", wiretest.Identified, `,"uid":"1","resourceVersion":"6"`, nil, false},
	} {
		in, resource := wiretest.Decoded(t, wiretest.Versioned(row.in)), resourceWith(t, wiretest.Versioned(row.answer))
		_, err := resource.Create(t.Context(), in, metav1.CreateOptions{DryRun: row.dryRun})
		if row.in != "" {
			resource = resourceWith(t, wiretest.Versioned(row.answer))
			_, err = resource.Update(t.Context(), in, metav1.UpdateOptions{DryRun: row.dryRun})
		}
		assert.Equal(t, row.wrote, err != nil, row.why)
		assert.Equal(t, err, resource.Wrote(), row.why)
	}
	resource := resourceWith(t, wiretest.Versioned(wiretest.Identified), wiretest.Versioned(""))
	_, _ = resource.Create(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), metav1.CreateOptions{DryRun: dryRun})
	_, err := resource.Create(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), metav1.CreateOptions{DryRun: dryRun})
	require.NoError(t, err)
	require.Error(t, resource.Wrote(), "it isn't forgotten")
}
