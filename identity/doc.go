// Package identity answers one question: do these two manifests, or this manifest and that live object, name the same
// object?
//
// An object is named by its apiVersion, kind, namespace and name. A manifest in which one of them changed is not an
// edit of the object but a different object, and a tool that applies it without saying so leaves the old one behind.
// So a planner asks here first, before it spends a request:
//
//	before, err := identity.Of(oldManifest)
//	…
//	after, err := identity.Of(newManifest)
//	…
//	result := identity.Compare(identity.Ref{Identity: before}, identity.Ref{Identity: after}, identity.Options{})
//	if result.Replace() {
//		fmt.Println(result.Reason()) // different object: v1/ConfigMap default/a -> v1/ConfigMap default/b: …
//	}
//
// The comparison is strict: case-sensitive, and every difference counts. What only the server knows is taken from
// [Options] and never assumed: whether the kind is namespaced, which namespace an empty one stands for, and whether two
// versions of a group show one stored object, which equal UIDs prove.
//
// The package does not look at the rest of the object, does not check that names are valid for their kind, and talks to
// no server. It imports package projection, for the paths of fields, and nothing else.
package identity
