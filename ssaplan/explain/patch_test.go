package explain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan/explain"
)

func TestSamePatch(t *testing.T) {
	force := true
	patch := func() explain.Patch {
		return explain.Patch{Body: []byte(`{"a":1}`), Options: metav1.PatchOptions{FieldManager: "me", Force: &force}}
	}
	require.True(t, patch().Same(patch()))
	body, options := patch(), patch()
	body.Body = []byte(`{"a":2}`)
	options.Options.Force = nil
	for _, other := range []explain.Patch{body, options, {}} {
		require.False(t, patch().Same(other))
		require.False(t, other.Same(patch()))
	}
}

// A patch has the manifest in it, also that of a Secret, which no verb prints.
func TestPatchesArePrintedWithoutTheirBody(t *testing.T) {
	patch := explain.Patch{Body: []byte("canary")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		require.Equal(t, `apply of 6 bytes as ""`, fmt.Sprintf(verb, patch), verb)
	}
}
