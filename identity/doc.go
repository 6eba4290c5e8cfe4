// Package identity answers: do two manifests, or a manifest and a live object, name the same object? It isn't about
// users or credentials, and doesn't compare the rest of the objects.
//
// An object is named by its apiVersion, kind, namespace and name. A manifest with another name is another object, and
// applying it leaves the old one in the cluster. So check that before you send a request:
//
//	before, err := identity.Of(oldManifest)
//	if err != nil {
//		log.Fatal(err)
//	}
//	after, err := identity.Of(newManifest)
//	if err != nil {
//		log.Fatal(err)
//	}
//	result := identity.Compare(identity.Ref{Identity: before}, identity.Ref{Identity: after}, identity.Options{})
//	if result.Replace() {
//		fmt.Println(result.Reason()) // different object: v1/ConfigMap a -> v1/ConfigMap b: metadata.name "a" -> "b"
//	}
//
// The comparison is case-sensitive, and every difference counts. Options say what the manifests don't: whether the kind
// is namespaced, which namespace is the default, and whether two versions of a group show one stored object (equal UIDs
// prove that).
//
// The package doesn't check whether names are valid, and talks to no server. Outside of the standard library, it only
// imports package projection, for paths, and projection/foreign, to print texts safely.
package identity
