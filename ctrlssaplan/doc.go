// Package ctrlssaplan is a reconcile kit for controller-runtime: one call makes the children of an object what its controller wants them to be.
//
// Each child is planned before anything is written. The plan tells whether the server would write at all, who changed what, who holds a
// field, and whether the child would have to be deleted. So a reconciliation that changes nothing writes nothing, and if the server was asked
// about the same versions before it sends no request about the children: the informers have the live objects, and the no-op cache has the server's
// answer. What the server is set up with is asked for from time to time, for all children together, see [ssaplan.NoOpCacheOptions].
package ctrlssaplan
