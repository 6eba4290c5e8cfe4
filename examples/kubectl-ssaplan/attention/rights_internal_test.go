package attention

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What isn't declared may have to be hidden, which the plan of a create doesn't tell.
func TestDetailsAreThoseOfDeclaredFields(t *testing.T) {
	declared, injected := right{"a privileged container", "web"}, right{"a privileged container", "sidecar"}
	assert.Equal(t, []string{"a privileged container: web", "a privileged container"}, told([]right{declared, injected, injected}, []right{declared}))
}
