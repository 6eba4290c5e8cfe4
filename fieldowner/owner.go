package fieldowner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// The operations of an [Owner].
const (
	// OperationApply is a server-side apply. Its owner declared the fields, and gives up a field by no longer sending
	// it.
	OperationApply = "Apply"
	// OperationUpdate is every other write: create, replace, patch, client-side apply.
	OperationUpdate = "Update"
)

// Names in managedFields with a special meaning.
const (
	// BeforeFirstApply owns the fields that an object without managedFields had when it was applied for the first time.
	BeforeFirstApply = "before-first-apply"
	// ClientSideApply is the name under which kubectl apply writes without --server-side.
	ClientSideApply = "kubectl-client-side-apply"
)

// Owner is a writer of an object in metadata.managedFields. One field manager can be several owners: its applies, its
// updates in each API version, and its writes to each subresource are separate. Owners are comparable; see [Owner.Is]
// for comparing them without the time.
type Owner struct {
	// Manager is the name that the writer gave as its field manager.
	Manager foreign.Text `json:"manager"`
	// Operation is [OperationApply] or [OperationUpdate].
	Operation string `json:"operation"`
	// Subresource is "status", "scale" and the like, and "" for the object itself.
	Subresource foreign.Text `json:"subresource,omitempty"`
	// APIVersion is the version of the last write, "apps/v1". The paths of the owner's fields are those of this
	// version.
	APIVersion foreign.Text `json:"apiVersion,omitempty"`
	// Time is when the owner's fields last changed, in UTC and to the second. It is zero if the server recorded no
	// time.
	Time time.Time `json:"time,omitzero"`
}

// Is reports whether o and other are the same entry to a server: the same manager, operation and subresource, and for
// updates the same API version.
func (o Owner) Is(other Owner) bool { return o.identity() == other.identity() }

// identity returns o without what a server doesn't tell entries apart by.
func (o Owner) identity() Owner {
	o.Time = time.Time{}
	if o.Operation == OperationApply {
		o.APIVersion = ""
	}
	return o
}

// Applier is a field manager that applies an object, or a subresource of it. If a manager applies both, it is two
// owners to a server: they give up fields separately, and can conflict with each other.
type Applier struct {
	Manager string
	// Subresource is "status", "scale" and the like, and "" for the object itself.
	Subresource string
}

// Is reports whether owner is the entry of managedFields that the applier writes.
func (a Applier) Is(owner Owner) bool {
	return owner.Is(Owner{
		Manager: foreign.Text(a.Manager), Operation: OperationApply, Subresource: foreign.Text(a.Subresource),
	})
}

// String returns the manager's name and its operation: "hpa" (Update of scale).
func (o Owner) String() string {
	if o.Subresource == "" {
		return fmt.Sprintf("%q (%s)", o.Manager, foreign.Text(o.Operation))
	}
	return fmt.Sprintf("%q (%s of %s)", o.Manager, foreign.Text(o.Operation), o.Subresource)
}

// Compare orders owners by manager, operation, subresource, API version and time.
func (o Owner) Compare(other Owner) int {
	return cmp.Or(
		cmp.Compare(o.Manager, other.Manager),
		cmp.Compare(o.Operation, other.Operation),
		cmp.Compare(o.Subresource, other.Subresource),
		cmp.Compare(o.APIVersion, other.APIVersion),
		o.Time.Compare(other.Time),
	)
}

// Entry is an owner and its fields.
type Entry struct {
	Owner
	Fields projection.FieldSet
}

// without returns the owners that are not among others.
func without(owners, others []Owner) []Owner {
	return slices.DeleteFunc(slices.Clone(owners), func(o Owner) bool {
		return slices.ContainsFunc(others, o.Is)
	})
}

// ownerNames returns the owners as one text.
func ownerNames(owners []Owner) string {
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = o.String()
	}
	return strings.Join(names, ", ")
}
