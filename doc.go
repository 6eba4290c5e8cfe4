// Package primitives is the root of a set of packages for tools that write to Kubernetes with server-side apply. Together
// they answer one question before anything happens: what will this apply do?
//
// The packages, each usable on its own:
//
//   - projection: which fields a manifest declares, what an object has there, and how two objects differ there.
//   - projection/builtin, projection/openapi: which fields a manifest declares, by the schemas of the built-in kinds, or of
//     a server.
//   - identity: whether two manifests name the same object.
//   - immutability: whether a refused change could be made by replacing the object.
//   - authresilience: whether a failed read may be survived, and what is wrong with the credentials.
//   - fieldowner: who owns which field, and what an apply does to that.
//   - ssaplan/explain: what an apply changes and why, from the server's answer to it.
//   - ssaplan: the Planner, which composes the others with a read and a dry run.
//   - ssaplan/ssaplantest: an API server in memory, for the tests of your own code.
//
// Only ssaplan applies and deletes. Three others reach out: immutability.Probe sends dry runs, projection/openapi fetches
// schemas, and authresilience.Diagnose reads the files with the credentials. All else are pure functions on decoded
// objects and on errors.
package primitives
