package ctrlssaplan

// Policy says which changes the kit may make to the children of an owner. The zero Policy repairs drift, takes fields
// over, and replaces nothing.
type Policy struct {
	// Drift says what to do if another client changed a child.
	Drift DriftPolicy
	// RefuseConflicts writes nothing to a child while another field manager owns a declared field with another value.
	// Default: such fields are taken over.
	RefuseConflicts bool
	// Replace permits that a child is deleted and created again if it can't be changed in place. Default: that is only
	// reported.
	Replace bool
	// ToReplace is a text that is added to the message about a child that must be replaced: what a user does to allow
	// that. Default: none.
	ToReplace string
}

// DriftPolicy says what to do if another client changed a child.
type DriftPolicy string

// The drift policies.
const (
	// DriftRepair, the default, reverts the change and reports who made it. After five repairs within ten minutes, the
	// kit only reports that another client keeps changing the child. It repairs again once the first of these repairs
	// is ten minutes old, or once the owner is edited. The same holds for a child that others keep deleting.
	DriftRepair DriftPolicy = ""
	// DriftReport reports who changed which field, and doesn't revert it. When the desired child is edited later, the
	// whole child is applied, which ends the drift.
	DriftReport DriftPolicy = "Report"
)

// Child is an object that an owner must have, or must not have.
type Child struct {
	// Object is the desired child: a typed object, an unstructured one or an apply configuration, see [manifest.Of]. It
	// has a name, and a namespace if its kind is namespaced. An owner in a namespace can only have children in the same
	// namespace. Declare only the fields that are needed, so that others can set the rest. The kit makes the owner the
	// controller of the child.
	Object any
	// Ignore are patterns of the ignored fields, such as spec.replicas, see [ssaplan.Request]. An invalid pattern is
	// reported as Refused.
	Ignore []string
	// Clear are patterns of the fields to delete from the child, no matter who owns them, see [ssaplan.Request].
	Clear []string
	// ClearBlocking clears the fields that are proven to make the server reject the child.
	ClearBlocking bool
	// LostVersions are versions that the CRD of the child no longer has, such as "example.com/v1beta1", see
	// [ssaplan.Request]: the entries of managedFields with them are moved to the version of the child.
	LostVersions []string
	// Absent says that the child must not exist: it is deleted if the owner controls it. Only kind, namespace and name
	// of Object are used.
	Absent bool
}
