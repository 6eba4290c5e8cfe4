// Package projection answers: what does a manifest declare, what does an object say there, and how do two objects
// differ there?
//
// The vocabulary is that of server-side apply. A [Path] leads to one place in an object; elements of associative lists
// are named by key, so that a sidecar injected in front of a container moves nothing. A [FieldSet] is an immutable set
// of paths that reads and writes the FieldsV1 form of metadata.managedFields. [Project] takes the part of an object
// that lies at the paths of a set, and [Diff] lists how two such parts differ:
//
//	set, _ := projection.DecodeFieldsV1(entry["fieldsV1"]) // an entry of managedFields
//	before := projection.Project(live, set)
//	after := projection.Project(dryRun, set)
//	for _, d := range projection.Diff(before, after) {
//		fmt.Println(d) // spec.replicas: 3 -> 5
//	}
//
// What an apply changes is more than the difference at the fields that a manifest declares: fields that it no longer
// declares may go, and the server changes others along with them. Package ssaplan/explain tells all of that.
//
// Around this core:
//
//   - What a manifest declares is told best by the server, in the managedFields of its answer to a dry run; see
//     Ownership.Declared in package fieldowner. Without one there are several kinds of [Source], of which [PredictDeclared]
//     asks the best that can tell.
//   - [Normalize] makes a manifest one that a server tracks faithfully, and [FindIneffective] finds what in it has no
//     effect.
//   - [Get], [Set] and [Pointer] read, write and locate the value at one path, [ParsePointer] is the way back, and an
//     [Object] does that for many paths. [Object.Resolve] turns positions into the keys of a field set.
//   - [Patterns] take out of a set or a manifest what is to be ignored.
//   - [Outline] finds all fields that objects have, for comparing them as a whole.
//   - Values of Secrets are [Sensitive]: what this package prints or marshals shows whether they changed, and not what
//     they are.
//
// Objects are the maps that JSON decoding produces (unstructured content). Nothing here talks to a server, changes
// its input or predicts what a server would do: compare what it answered. The cost of everything grows in proportion
// to the objects. The package imports nothing but the standard library; what needs the schemas of Kubernetes is in
// projection/builtin and projection/openapi.
package projection
