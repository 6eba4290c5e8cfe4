package ctrlssaplan

// Policy says how far the kit may go for the children of an owner. The zero Policy repairs drift, takes fields over,
// and replaces nothing.
type Policy struct {
	// Drift is what to do when somebody else changed a child.
	Drift DriftPolicy
	// RefuseConflicts writes nothing to a child while another field manager holds a declared field with another value.
	// Default: such fields are taken over.
	RefuseConflicts bool
	// Replace lets a child be deleted and created anew where it can't change in place. Default: that is reported.
	Replace bool
	// ToReplace is what a user is told to do to have a child replaced. Default: nothing.
	ToReplace string
}

// DriftPolicy says what to do when somebody else changed a child.
type DriftPolicy string

// The drift policies.
const (
	// DriftRepair, the default, puts back what was changed, and says who had changed it. What was put back five times
	// within ten minutes is left for now, until the owner is edited, and reported: somebody else is as stubborn. So is
	// a child that others delete.
	DriftRepair DriftPolicy = ""
	// DriftReport says who changed what and leaves it. A later edit that concerns the child is applied as a whole, and
	// so ends the drift.
	DriftReport DriftPolicy = "Report"
)

// Child is a child that an owner wants, or doesn't want.
type Child struct {
	// Object is what the child has to be: a typed object, an unstructured one or an apply configuration, see
	// [manifest.Of]. It has its name, and its namespace if it is in one. An owner that is in a namespace controls only
	// what is in the same one. The object declares nothing that isn't needed, so that the rest can be anybody's. The
	// kit makes the owner its controller.
	Object any
	// Ignore are patterns of the fields that are left to others, such as spec.replicas, see [ssaplan.Request]. A wrong
	// one is reported as Refused.
	Ignore []string
	// Clear are patterns of the fields that the child shall not have any more, no matter who owns them, see
	// [ssaplan.Request].
	Clear []string
	// ClearBlocking clears the fields that are proven to be the reason why the server refuses the child.
	ClearBlocking bool
	// Absent says that there shall be no such object: it is deleted if the owner controls it. Of Object no more than
	// kind, namespace and name count.
	Absent bool
}
