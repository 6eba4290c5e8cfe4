// Package primitives is the root of packages for tools that write to Kubernetes with server-side apply. Together they
// answer: what happens if I apply this? The package itself is empty.
//
// Start with one of these:
//
//   - ssaplan: the Planner, which plans, applies, reads, deletes and imports objects.
//   - ssaplan/set: many objects that depend on each other.
//   - ssaplan/explain: what the Planner knows, for tools with a client of their own.
//
// Each of these works alone:
//
//   - projection: which fields a manifest declares, what an object has there, and how two objects differ.
//   - identity: whether two manifests name the same object.
//   - immutability: whether a rejected change can be made by replacing the object.
//   - authresilience: whether a tool may keep its last known state of an object after a failed read.
//   - fieldowner: who owns which field, and what an apply changes about that.
//
// ssaplan/ssaplantest is an API server in memory, for tests.
//
// In this module, only ssaplan and the packages below it write to a server. Of the others, immutability.Probe sends dry
// runs, projection/openapi fetches schemas, and authresilience.Diagnose reads the files with the credentials.
// Everything else is functions on decoded objects and errors.
package primitives
