// Package ssaplantest is an API server in the test's own process: tests of code that plans and applies run without a
// cluster, in microseconds.
//
//	server, err := ssaplantest.NewServer(ssaplantest.Options{})
//	planner, err := ssaplan.NewForClient(server.Client(), server.Mapper(), ssaplan.Options{FieldManager: "my-tool"})
//
// Server-side apply is the real one: apimachinery's field manager with client-go's schemas of the built-in kinds and the
// caller's schemas of custom ones. So who owns what, conflicts, list keys and sets, dropped fields and no-ops come out as
// on a server. A dry run writes nothing. Identity is guarded as on a server: UIDs, resourceVersions, namespaces that
// don't exist, finalizers. What a server answers in trouble is up to the test, see [Server.Answer].
//
// It is not a server, and a test on it does not replace one on a real server:
//
//   - It doesn't validate. Nothing is immutable, required or out of range; only a field that the schema lacks and a
//     value of another type are refused. Such a field is refused in every write, where a server drops it unless it is
//     applied.
//   - It sets no defaults but those of list keys (protocol: TCP), normalises no values ("1000m" and null stay), and folds
//     no Secret's stringData into its data.
//   - It has no admission: no webhooks, no policies, no quotas. The one exception is that of a missing namespace.
//   - It has no controllers. A namespace is Active and a definition Established at once, a namespace that is deleted takes
//     its objects with it at once, and objects whose owner is deleted stay.
//   - It authenticates nobody and permits everything.
//   - Versions of a kind differ by their apiVersion alone, as those of a custom resource without a conversion webhook do.
//   - It serves get, list, create, update, patch (apply, merge, strategic merge and JSON patch, of which the operations copy and move are
//     missing) and delete of objects and their status. Every other request is answered with the error MethodNotSupported.
package ssaplantest
