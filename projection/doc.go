// Package projection answers: what does a manifest declare, what does an object say there, and how do two objects
// differ there?
//
// The vocabulary is that of server-side apply. A [Path] leads to one place in an object; elements of associative lists
// are named by key, so that a sidecar injected in front of a container moves nothing. A [FieldSet] is an immutable set
// of paths that reads and writes the FieldsV1 form of metadata.managedFields. [Project] takes the part of an object
// that lies at the paths of a set, and [Diff] lists how two such parts differ:
//
//	set, _ := projection.Managed(dryRun, "my-tool")
//	before := projection.Project(live, set)
//	after := projection.Project(dryRun, set)
//	for _, c := range projection.Diff(before, after) {
//		fmt.Println(c) // spec.replicas: 3 -> 5
//	}
//
// Objects are the maps that JSON decoding produces (unstructured content). Nothing here talks to a server, changes
// its input or predicts what a server would do: compare what it answered.
package projection
