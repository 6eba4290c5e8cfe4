package explain

import (
	"bytes"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/plainjson"
)

// Patch is a server-side apply request.
type Patch struct {
	// Body is the applied manifest as JSON. It can hold secrets.
	Body []byte
	// Options ask for no validation of fields. All that a server validates of those of an apply is that the body has no
	// key twice, for which it parses the body once more; a parse is 6 % of its work for the dry run of a Deployment. No
	// map has a key twice.
	Options metav1.PatchOptions
}

// Format prints the size of the body whatever the verb, so that no verb shows a secret.
func (p Patch) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "apply of %d bytes as %q", len(p.Body), p.Options.FieldManager)
}

// MarshalJSON returns {"bytes","options"}: what was sent, without the body, which can hold secrets.
func (p Patch) MarshalJSON() ([]byte, error) {
	return plainjson.Visible(struct {
		Bytes   int                 `json:"bytes"`
		Options metav1.PatchOptions `json:"options"`
	}{len(p.Body), p.Options})
}

// Same reports whether p and other are the same request.
func (p Patch) Same(other Patch) bool {
	return bytes.Equal(p.Body, other.Body) && reflect.DeepEqual(p.Options, other.Options)
}
