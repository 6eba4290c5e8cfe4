// Package definition answers: what does another version of a custom resource definition do to the objects that there
// are, and to those who write them?
//
// A definition of 10,000 lines changes in hundreds of places, of which most are words. [Compare] tells apart what loses
// data or breaks stored objects, what refuses what was allowed, and what widens or rewords:
//
//	for _, f := range definition.Compare(before, after) { // the two lists of spec.versions
//		fmt.Println(f) // v1 spec.color: the field is removed, and its values are lost
//	}
//
// A schema that got stricter breaks no object that is there: since Kubernetes 1.30 a server doesn't check again what an
// update leaves as it is. It refuses the next create, and the next edit of that field. A list with other keys breaks
// every later apply, and what a schema doesn't know is dropped at the next write.
//
// The functions are pure: nothing here talks to a server. What else of a definition changes (names, scope, conversion)
// is for others to show.
package definition
