package handover

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// trial is a dry run in which the applier applies the whole live object by force.
type trial struct {
	sent     *projection.Object
	recorded projection.FieldSet // what the server records for the applier
}

// trials asks the server what it records for the applier if it applies the whole live object.
type trials struct {
	live    *unstructured.Unstructured
	applier fieldowner.Applier
	last    *trial // nil if there was none yet, or if the server refused it
}

// wholes returns the lists and maps of the content that are atomic. For an atomic one, the server records its path for
// the manager that applies it; otherwise it records what is in it, and nothing for an empty list with keys. The server
// is asked once, for what it records of the live object with all of them. If it refuses that, all count as atomic.
func (t *trials) wholes(server Server, content *projection.Object, all []projection.Path) projection.FieldSet {
	if len(all) == 0 {
		return projection.FieldSet{}
	}
	trial := t.tried(server, content, all)
	if trial == nil {
		return projection.NewFieldSet(all...)
	}
	return projection.NewFieldSet(slices.DeleteFunc(slices.Clone(all), func(p projection.Path) bool {
		return !trial.recorded.Under(p).Equal(projection.NewFieldSet(p)) // what is in a map may be recorded beside it
	})...)
}

// tried returns the last trial if it had these values of the content, and otherwise a new one; see [trials.tryAll].
func (t *trials) tried(server Server, content *projection.Object, all []projection.Path) *trial {
	if !t.last.has(content, all) {
		t.last = t.tryAll(server, content, all)
	}
	return t.last
}

// has reports whether the values of the content at the paths were sent in the trial.
func (t *trial) has(content *projection.Object, all []projection.Path) bool {
	if t == nil {
		return false
	}
	for _, p := range all {
		value, _ := content.Get(p)
		if sent, exists := t.sent.Get(p); !exists || !reflect.DeepEqual(sent, value) {
			return false
		}
	}
	return true
}

// tryAll tries to apply the live object with the values that the content has at the paths. It returns nil if the server
// refuses that.
func (t *trials) tryAll(server Server, content *projection.Object, all []projection.Path) *trial {
	manifest, err := fieldowner.NewManifest(t.live.Object, fieldowner.Selection{})
	if err != nil {
		return nil
	}
	sent := projection.NewManifest(manifest.Object, manifest.Fields)
	for _, p := range all {
		value, _ := content.Get(p)
		if sent.Set(p, runtime.DeepCopyJSONValue(value)) != nil {
			return nil
		}
	}
	body, err := fastjson.Encode(manifest.Object)
	if err != nil {
		return nil
	}
	answer, err := server.Force(body)
	if err != nil {
		return nil
	}
	owners, err := fieldowner.Read(answer.Object)
	if err != nil {
		return nil
	}
	return &trial{sent, owners.Fields(t.applier.Is)}
}
