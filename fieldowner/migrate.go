package fieldowner

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ssaplan/primitives/projection"
)

// Migrate returns the JSON patch after which manager owns, as what it applied, everything that the managers called from
// have written to the object itself, by apply or by update; nil if they own nothing. Values stay as they are, and so do
// writes to subresources. The next apply of manager then really removes the fields that it leaves out, which without
// this would stay behind, owned by the old names.
//
// It serves the change from client-side apply ([ClientSideApply], [BeforeFirstApply], a tool's own old names; see
// [ClientSideAppliers]) and that from one field manager to another. WARNING: [BeforeFirstApply] owns all that the
// object had at that time, whoever set it, so the next apply removes what only others wanted.
//
// The patch replaces metadata.managedFields and carries live's resourceVersion, so that a server refuses it with 409 if
// the object has changed; send it as [k8s.io/apimachinery/pkg/types.JSONPatchType]. Fields that an owner wrote in
// another API version than manager are taken over where the object at hand has them.
//
// A live without resourceVersion or with managedFields that can't be read is an error.
func Migrate(live map[string]any, manager string, from ...string) ([]byte, error) {
	return patchOwners(live, func(e Entry) Entry {
		if e.Subresource == "" && slices.Contains(from, e.Manager) {
			e.Manager, e.Operation = manager, OperationApply
		}
		return e
	})
}

// ClientSideAppliers returns the names of the managers that client-side apply used on the object: those that own its
// annotation, which kubectl and the tools built on it do under different names.
func ClientSideAppliers(o Ownership) []string {
	var names []string
	for _, e := range o.entries {
		if e.Operation == OperationUpdate && e.Fields.Has(lastApplied) {
			names = append(names, e.Manager)
		}
	}
	return slices.Compact(names)
}

// Rename returns the JSON patch after which everything that the manager called from owns belongs to the manager called
// to, each operation and subresource as it was; nil if it owns nothing. It is what a controller needs that changes its
// name. For the patch and its errors see [Migrate].
func Rename(live map[string]any, from, to string) ([]byte, error) {
	return patchOwners(live, func(e Entry) Entry {
		if e.Manager == from {
			e.Manager = to
		}
		return e
	})
}

// GiveUp returns the JSON patch after which the applier no longer owns the given fields and everything
// below them; nil if it owns none of them. Values stay as they are, while an apply without the fields would delete or
// reset those that nobody else owns. For the patch and its errors see [Migrate].
func GiveUp(live map[string]any, applier Applier, fields projection.FieldSet) ([]byte, error) {
	return patchOwners(live, func(e Entry) Entry {
		if applier.Is(e.Owner) {
			e.Fields = e.Fields.Without(fields)
		}
		return e
	})
}

// patchOwners returns the patch that changes every entry as change says.
func patchOwners(live map[string]any, change func(Entry) Entry) ([]byte, error) {
	ownership, err := Read(live)
	if err != nil {
		return nil, err
	}
	version, err := resourceVersion(live)
	if err != nil {
		return nil, err
	}
	m := merger{live: live}
	for _, e := range ownership.entries {
		m.add(change(e))
	}
	if newOwnership(slices.Clone(m.entries)).Equal(ownership) {
		return nil, nil
	}
	entries := make([]managedFieldsEntry, len(m.entries))
	for i, e := range m.entries {
		entries[i] = managedFieldsEntry{e.Owner, "FieldsV1", e.Fields}
	}
	return json.Marshal([]jsonPatchOperation{
		{"replace", "/metadata/managedFields", entries},
		// Replacing what is there by the same is a precondition: a server answers 409 if it is something else by then,
		// and not 422 as for an operation "test".
		{"replace", "/metadata/resourceVersion", version},
	})
}

type jsonPatchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// managedFieldsEntry is an entry in the form of metadata.managedFields.
type managedFieldsEntry struct {
	Owner
	FieldsType string              `json:"fieldsType"`
	FieldsV1   projection.FieldSet `json:"fieldsV1"`
}

func resourceVersion(live map[string]any) (string, error) {
	meta, _ := live["metadata"].(map[string]any)
	version, _ := meta["resourceVersion"].(string)
	if version == "" {
		return "", fmt.Errorf("fieldowner: the object has no resourceVersion to guard a patch with")
	}
	return version, nil
}

// merger collects entries, of which a server accepts one of a kind.
type merger struct {
	live    map[string]any
	entries []Entry
}

func (m *merger) add(e Entry) {
	if e.Fields.Empty() {
		return
	}
	i := slices.IndexFunc(m.entries, func(other Entry) bool { return other.Is(e.Owner) })
	if i < 0 {
		m.entries = append(m.entries, e)
		return
	}
	m.entries[i] = m.merge(m.entries[i], e)
}

// merge returns the union of two applies. If they are of different API versions, the one that the object at hand is of
// gives the paths, because its paths can be looked up there.
func (m *merger) merge(a, b Entry) Entry {
	if a.APIVersion != b.APIVersion {
		if b.APIVersion == m.live["apiVersion"] {
			a, b = b, a
		}
		b.Fields = presentIn(projection.NewObject(m.live, b.Fields), b.Fields)
	}
	a.Fields = a.Fields.Union(b.Fields)
	a.Time = latest(a.Time, b.Time)
	return a
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// presentIn returns the paths of set that obj has.
func presentIn(obj *projection.Object, set projection.FieldSet) projection.FieldSet {
	var paths []projection.Path
	for p := range set.All() {
		if _, exists := obj.Get(p); exists {
			paths = append(paths, p)
		}
	}
	return projection.NewFieldSet(paths...)
}
