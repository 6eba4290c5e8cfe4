// Package primitives is the root of a set of packages for tools that write to Kubernetes with server-side apply. Together
// they answer one question before anything happens: what will this apply do?
//
// The packages, each usable on its own:
//
//   - projection: which fields a manifest declares, what an object says there, and how two objects differ there.
//   - identity: whether two manifests name the same object.
//   - immutability: whether a refused change could be made by replacing the object.
//   - authresilience: whether a failed read may be survived, and what is wrong with the credentials.
//   - fieldowner: who owns which field, and what an apply does to that.
//   - ssaplan: the Planner, which composes the others with a read and a dry run.
//
// Only ssaplan talks to a server. All others are pure functions on decoded objects and on errors.
package primitives
