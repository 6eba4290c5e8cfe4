package applier

import "errors"

// ErrKept says that the server accepted a write that should change the owners of fields, but managedFields are as
// before. Since 1.37, a server keeps managedFields that it can't update. An older server clears them. This happens to a
// custom resource that others wrote in another version, if nothing converts between the versions. The other version has
// fields that this version lacks, or has with another type. Source: FieldManager.UpdateNoErrors in
// k8s.io/apimachinery/pkg/util/managedfields/internal.
var ErrKept = errors.New(
	"the server leaves all fields to their owners, as it can't read the object in this version, since others wrote " +
		"another one")
