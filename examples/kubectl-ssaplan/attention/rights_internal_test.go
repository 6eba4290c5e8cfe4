package attention

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A right shows its details only if the manifest declares it. A value that the server adds may be sensitive, and the
// plan of a create doesn't say whether it is.
func TestDetailsAreThoseOfDeclaredFields(t *testing.T) {
	declared, injected := right{"a privileged container", "web"}, right{"a privileged container", "sidecar"}
	assert.Equal(t, []string{"a privileged container: web", "a privileged container"}, described([]right{declared, injected, injected}, []right{declared}))
}
