package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// Only the answer to an apply right after a read can prove that nothing would be written.
func TestAnApplyThatRepeatsTheReadReturnsIt(t *testing.T) {
	other := strings.Replace(wiretest.Object, `"v"`, `"w"`, 1)
	transport := &wiretest.Answers{Bodies: []string{wiretest.Object, wiretest.Object, wiretest.Object, wiretest.Object, other}}
	resource := connect(t, transport, Options{}).Resource(wiretest.ConfigMaps, wiretest.A)
	apply := func() any {
		obj, err := resource.Apply(t.Context(), "a", []byte(`{}`), metav1.PatchOptions{})
		require.NoError(t, err)
		return obj
	}
	read, err := resource.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Same(t, read, apply(), "the same bytes")
	require.NotSame(t, read, apply(), "what was read is forgotten")
	read, err = resource.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEqual(t, read, apply(), "other bytes")
}
