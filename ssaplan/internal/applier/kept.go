package applier

import "errors"

// ErrKept says that no field changed owners, although the server accepted the write that was for it: the record is the
// one of before. Since 1.37 a server keeps it where it can't bring it up to date, and cleared it before that: when
// others wrote a custom resource in a version that has fields which the one at hand lacks, or has with another type,
// and nothing converts them. Source: FieldManager.UpdateNoErrors in
// k8s.io/apimachinery/pkg/util/managedfields/internal.
var ErrKept = errors.New(
	"the server leaves all fields to their owners, as it can't read the object in this version, since others wrote " +
		"another one")
