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
	// Options turn off the validation of fields. For an apply, a server only checks that no key occurs twice in the
	// body, and a body made from a map can't have duplicate keys. The check would parse the body once more, which is 6
	// % of the server's work for the dry run of a Deployment.
	Options metav1.PatchOptions
}

// Format prints the size of the body whatever the verb, so that no verb shows a secret.
func (p Patch) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "apply of %d bytes as %q", len(p.Body), p.Options.FieldManager)
}

// MarshalJSON returns {"bytes","options"}: the request without the body, which can hold secrets.
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
