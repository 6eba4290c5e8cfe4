// Package projection answers: which fields does a manifest declare, what does an object have there, and how do two
// objects differ there? It isn't for finding all changes of an apply, such as side effects: package ssaplan/explain
// does that.
//
// A [Path] leads to one place in an object. List items have keys instead of positions, so a sidecar that is injected
// first moves nothing. A [FieldSet] is a set of paths in the form of metadata.managedFields. [Project] takes the part
// of an object that is at the paths of a set, and [Diff] lists how two such parts differ:
//
//	fields, err := projection.DecodeFieldsV1(entry["fieldsV1"]) // an entry of metadata.managedFields
//	if err != nil {
//		log.Fatal(err)
//	}
//	before, after := projection.Project(live, fields), projection.Project(answer, fields)
//	for _, difference := range projection.Diff(before, after) {
//		fmt.Println(difference) // spec.replicas: 3 -> 5
//	}
//
// More about the package:
//
//   - The server knows best what a manifest declares: Ownership.Declared of package fieldowner reads its answer to a
//     dry run. Without a server, [PredictDeclared] asks several kinds of [Source], the best one first.
//   - [Normalize] prepares a manifest so that a server tracks all of it. [FindIneffective] finds parts of a manifest
//     without effect.
//   - [Get], [Set] and [Pointer] read, write and locate the value at one path. An [Object] does that efficiently for
//     many paths.
//   - [Patterns] select fields to ignore.
//   - [Outline] finds all fields that objects have, to compare them as a whole.
//   - Values of Secrets are Sensitive: the package prints that they changed, and never the values.
//
// Objects are the maps that JSON decoding produces (unstructured content). No function talks to a server or changes its
// input, except that Set, Remove and Strip of an [Object] change the object that it was made from. The time of each
// grows in proportion to the size of the objects. Outside of this module, the package imports only the standard
// library. Sources that need Kubernetes' schemas are in projection/builtin and projection/openapi.
package projection
