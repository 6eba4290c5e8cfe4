// Package fieldowner answers: who owns which field of an object, and what does an apply do to that?
//
// The API server records in metadata.managedFields which field manager set which field. [Read] turns that record into
// an [Ownership], which knows the owners of every path. [Compare] says what an apply changes about it:
//
//	before, _ := fieldowner.Read(live)
//	after, _ := fieldowner.Read(dryRun)
//	for _, c := range fieldowner.Compare(before, after, "my-tool") {
//		fmt.Println(c) // spec.replicas: taken from "hpa" (Update of scale)
//	}
//
// [ConflictsFromError] reads a refused apply, [PredictConflicts] foresees one without a server, and [Ownership.Dropped]
// says what becomes of fields that a manager no longer sends. [NewManifest] turns the fields of an object into a
// manifest ready to apply; [Migrate], [Rename] and [GiveUp] make patches that hand ownership over without touching a
// value.
//
// Everything here is a function of its arguments: nothing talks to a server or changes its input. The package does not
// know the schema of any kind: paths are those that the server itself recorded.
package fieldowner
