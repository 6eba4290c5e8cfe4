package fieldowner

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Migrate returns the handover that makes manager the owner, with the operation Apply, of all fields that the old
// managers (the parameter from) own, by apply or by update. That includes only fields of the object itself: fields of
// subresources keep their owners. After that, the next apply of manager removes the fields that it leaves out. Without
// the handover they would stay, owned by the old names.
//
// Use it to move from client-side apply to server-side apply ([ClientSideApply], [BeforeFirstApply], a tool's own old
// names; see [ClientSideAppliers]), or from one field manager to another. WARNING: [BeforeFirstApply] owns everything
// that the object had at that time, no matter which tool set it. So the next apply also removes the fields that only
// others wanted.
//
// Fields that an owner wrote in another API version than manager are taken over if live has them.
//
// A live without resourceVersion or with managedFields that can't be read is an error.
func Migrate(live map[string]any, manager string, from ...string) (Handover, error) {
	return HandOver(live, func(e Entry) Entry {
		if e.Subresource == "" && slices.Contains(from, string(e.Manager)) {
			e.Manager, e.Operation = foreign.Text(manager), OperationApply
		}
		return e
	})
}

// ClientSideAppliers returns the field managers under which client-side apply wrote to the object. They own the
// annotation kubectl.kubernetes.io/last-applied-configuration by an update. kubectl and the tools built on it use
// different names.
func ClientSideAppliers(o Ownership) []string {
	var names []string
	for _, e := range o.entries {
		if e.Operation == OperationUpdate && e.Fields.Has(lastApplied) {
			names = append(names, string(e.Manager))
		}
	}
	return slices.Compact(names)
}

// Rename returns the handover that gives a field manager another name: all fields of the old name (from) are owned by
// the new name (to) afterwards. Operations and subresources stay the same. Use it when the name of a controller
// changes. For its errors see [Migrate].
func Rename(live map[string]any, from, to string) (Handover, error) {
	return HandOver(live, func(e Entry) Entry {
		if e.Manager == foreign.Text(from) {
			e.Manager = foreign.Text(to)
		}
		return e
	})
}

// GiveUp returns the handover after which the applier no longer owns the given fields and everything below them. Values
// stay as they are. An apply without the fields would delete or reset those without another owner. For its errors see
// [Migrate].
func GiveUp(live map[string]any, applier Applier, fields projection.FieldSet) (Handover, error) {
	return HandOver(live, func(e Entry) Entry {
		if applier.Is(e.Owner) {
			e.Fields = e.Fields.Without(fields)
		}
		return e
	})
}

// Release returns the handover after which manager owns no field any more, neither of the object itself nor of its
// subresources. All values stay. A field without another owner then has no owner. For its errors see [Migrate].
func Release(live map[string]any, manager string) (Handover, error) {
	return HandOver(live, func(e Entry) Entry {
		if e.Manager == foreign.Text(manager) {
			e.Fields = projection.FieldSet{}
		}
		return e
	})
}

// HandOver returns the handover that replaces every entry by the result of change, and adds the entries in more.
// Entries without fields are dropped, and entries of the same owner are merged. For its errors see [Migrate].
func HandOver(live map[string]any, change func(Entry) Entry, more ...Entry) (Handover, error) {
	ownership, err := Read(live)
	if err != nil {
		return Handover{}, err
	}
	version, err := resourceVersion(live)
	if err != nil {
		return Handover{}, err
	}
	m := merger{live: live}
	for _, e := range ownership.entries {
		m.add(change(e))
	}
	for _, e := range more {
		m.add(e)
	}
	if newOwnership(slices.Clone(m.entries)).Equal(ownership) {
		return Handover{}, nil
	}
	return Handover{live, m.entries, version}, nil
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
		if m.live["apiVersion"] == string(b.APIVersion) {
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
