// Package ctrlssaplan is a reconcile kit for controller-runtime. It answers: what must a controller write so that the
// children of an object are as wanted? It isn't for tools outside of controllers: package ssaplan/set is.
//
// One call plans, applies and prunes the children, and writes conditions, events and metrics:
//
//	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "site-config"}, Data: map[string]string{"mode": "dark"}}
//	result, err := kit.Reconcile(ctx, owner, []ctrlssaplan.Child{{Object: child}}, ctrlssaplan.Policy{})
//
// Each child is planned before anything is written. The plan says whether the server would write, who changed a field,
// who owns it, and whether the child must be deleted and created again. A reconciliation without changes writes
// nothing. If the same manifests were planned before for the same versions of the children, it sends no request for the
// children: informers have the live objects, and the no-op cache has the answers. The server's version, CRDs, webhooks
// and policies are read from time to time, for all children together; see [ssaplan.NoOpCacheOptions].
package ctrlssaplan
