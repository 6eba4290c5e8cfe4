package handover

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// trial is what the server records of the applier if it applies all of the live object.
type trial struct {
	sent     *projection.Object
	recorded projection.FieldSet
}

// wholes returns those of the lists and maps of the content that are one whole. A server records such a one for who
// applies it, of another one what is in it, and an empty list of named items for no manager. It is asked once, for what
// it records of the live object with all of them; if it refuses to try that, they are taken for wholes.
func (h *Handover) wholes(server Server, content *projection.Object, all []projection.Path) projection.FieldSet {
	if len(all) == 0 {
		return projection.FieldSet{}
	}
	trial := h.tried(server, content, all)
	if trial == nil {
		return projection.NewFieldSet(all...)
	}
	return projection.NewFieldSet(slices.DeleteFunc(slices.Clone(all), func(p projection.Path) bool {
		return !trial.recorded.Under(p).Equal(projection.NewFieldSet(p)) // what is in a map may be recorded beside it
	})...)
}

// tried returns what the server records of the live object with these values of the content, nil if it can't be tried.
func (h *Handover) tried(server Server, content *projection.Object, all []projection.Path) *trial {
	if !h.trial.has(content, all) {
		h.trial = h.tryAll(server, content, all)
	}
	return h.trial
}

// has reports whether the values of the content have been tried.
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

// tryAll returns what the server records of the live object with these values of the content, nil if it can't be tried.
func (h *Handover) tryAll(server Server, content *projection.Object, all []projection.Path) *trial {
	manifest, err := fieldowner.NewManifest(h.live.Object, fieldowner.Selection{})
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
	return &trial{sent, owners.Fields(h.wanted.Applier.Is)}
}
