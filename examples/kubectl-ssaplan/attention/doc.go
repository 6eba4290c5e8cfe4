// Package attention answers: what of a plan does a reviewer have to see first?
//
// An upgrade of 150 objects is mostly images and labels. What is destroyed or replaced, what other managers lose, and
// who is going to be allowed what he wasn't before, is told by [Of] in a line each, the worst first:
//
//	Rights rbac.authorization.k8s.io/v1/ClusterRole operator: may get, list secrets
//
// Rights are widened by rules and bindings, by pods that reach the host, by labels that lower what a namespace
// enforces, and by webhooks that fail closed, which can stop everybody's writes. The package judges nothing else: a
// plan without points may still be wrong. Values of fields that a plan hides aren't told.
package attention
