package handover

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// Try returns the object as the apply of the manifest, whose JSON is in body, makes it after the handover, if there is
// one.
//
// The server is also asked whether it lets the fields change owners. No dry run does both the handover and the apply.
// So Try sends the dry run of an apply to the object as it is, and puts the effects of the handover into the answer.
// Given-up fields are sent with their live values, since the server would remove them otherwise. Fields that were taken
// over, and that the manifest lacks, are removed by a second dry run, in which the server fills in its defaults. The
// server may refuse the first dry run, for example because of fields that are going to be removed. Then Try merges the
// manifest into the live object.
func (h *Handover) Try(server Server, manifest map[string]any, body []byte) (*unstructured.Unstructured, error) {
	if h == nil {
		return server.Apply(body)
	}
	made, err := h.try(server, manifest)
	if err != nil || made.GetResourceVersion() != h.live.GetResourceVersion() {
		return made, err
	}
	return withCopy(h.inOrder(made), body, h.wanted.Applier.Manager)
}

// inOrder returns the object with its managedFields in the order that they have after the handover, if the apply
// doesn't change them: the results of dry runs and merges have them in another order.
func (h *Handover) inOrder(made *unstructured.Unstructured) *unstructured.Unstructured {
	before, _ := fieldowner.Read(h.after.Object) // both of which could be read
	if after, err := fieldowner.Read(made.Object); err != nil || !after.Equal(before) {
		return made
	}
	out := made.DeepCopy()
	out.SetManagedFields(h.after.GetManagedFields())
	return out
}

// try does what [Handover.Try] does, except for the order of managedFields and the copy in the annotation.
func (h *Handover) try(server Server, manifest map[string]any) (*unstructured.Unstructured, error) {
	body, err := fastjson.Encode(h.withGiven(manifest))
	if err != nil {
		return nil, err
	}
	answer, err := server.Apply(body)
	conflicts := fieldowner.ConflictsOfApply(err, h.live.Object, manifest)
	if len(conflicts) > 0 && len(h.declared(h.Conflicts(conflicts), manifest)) == 0 {
		answer, err = server.Force(body)
	}
	if apierrors.IsInvalid(err) || h.movesAfter(err) {
		return h.tryMerged(server, manifest, err)
	}
	if err != nil || answer.GetResourceVersion() != h.live.GetResourceVersion() {
		return answer, err
	}
	if !h.hidden.Empty() {
		return h.tryHidden(server, manifest, answer.Object)
	}
	owners, err := fieldowner.Read(answer.Object)
	if err != nil {
		return nil, err
	}
	if unsendable := h.unsendable(manifest, owners); !unsendable.Empty() {
		h.given = h.given.Without(unsendable)
		return h.try(server, manifest)
	}
	// The patch is tried only after the answer has shown that the server receives the dryRun of an apply.
	err = h.tryPatch(server, owners.Fields(h.wanted.Applier.Is))
	if errors.Is(err, applier.ErrKept) && h.onlyClears() {
		h.isIdle = true
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	h.nameAsIn(owners)
	// At the first apply of an object without managedFields a server records all its fields under before-first-apply,
	// but it doesn't after the handover.
	isUnrecorded := len(h.live.GetManagedFields()) == 0
	made, err := change(answer.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if h.wanted.takes(e.Owner) || isUnrecorded && e.Manager == fieldowner.BeforeFirstApply {
			e.Fields = projection.FieldSet{}
		} else if h.wanted.Applier.Is(e.Owner) { // it may write into a cleared map, as stringData does
			e.Fields = h.kept(e.Fields, manifest).Difference(h.clears)
		} else {
			e.Fields = e.Fields.Without(h.clears)
		}
		return h.wanted.moved(e, h.live)
	})
	if err != nil {
		return nil, err
	}
	left, err := h.withoutDropped(server, made, h.alone)
	if err != nil || left == nil {
		return &unstructured.Unstructured{Object: made}, err
	}
	left.declareEmpty(manifest)
	return h.tryUpdate(server, manifest, made, left)
}

// nameAsIn adds the paths that given-up and cleared fields have in managedFields of an answer: a server rounds large
// numbers in managedFields that it reads, and writes managedFields with today's keys of list items.
func (h *Handover) nameAsIn(owners fieldowner.Ownership) {
	there := projection.NewObject(h.live.Object, owners.Fields(nil))
	today := projection.NewObject(h.live.Object, owners.Fields(h.wanted.Applier.Is)) // others keep the names of before
	for _, fields := range []*projection.FieldSet{&h.given, &h.clears} {
		var names []projection.Path
		for p := range fields.All() {
			names = append(names, there.Resolve(p), today.Resolve(p))
		}
		*fields = fields.Union(projection.NewFieldSet(names...))
	}
	h.clears = h.clears.Union(h.clearedWholes())
}

// clearedWholes returns the lists and maps that have become atomic, that the manifest lacks, and whose recorded parts
// the applier took over to clear them.
func (h *Handover) clearedWholes() projection.FieldSet {
	var wholes []projection.Path
	sent := projection.NewManifest(h.wanted.Manifest, h.own)
	for p := range h.clears.All() {
		for n := 1; n < len(p); n++ {
			_, declared := sent.Get(p[:n])
			isWhole := h.own.Under(p[:n]).Equal(projection.NewFieldSet(p[:n])) && !h.others.Touches(p[:n])
			if isWhole && !declared {
				wholes = append(wholes, p[:n])
			}
		}
	}
	return projection.NewFieldSet(wholes...)
}
