// Package ssaplantest is an API server in memory: tests of code that plans and applies run without a cluster, in
// microseconds. It answers: what does my code do with plans, conflicts and errors? It isn't for testing the behaviour
// of a real server.
//
//	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
//	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
//
//	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: deployment(3)})
//	fmt.Println(plan.Action)
//	applied, _ := planner.Apply(ctx, plan)
//	state, _ := plan.State(applied)
//
// Server-side apply is the real one: apimachinery's field manager with client-go's schemas of the built-in kinds, and
// your schemas of custom ones. So owners, conflicts, list keys, sets, dropped fields and no-ops are as on a server. A
// dry run writes nothing. UIDs, resourceVersions, missing namespaces, finalizers, pages of lists and fieldValidation
// work as on a server, and plans have its warnings about unknown fields and fields that are there twice. Your test
// decides which requests fail, and how; see [Server.Answer].
//
// As in a CRD, the schema of a custom kind marks the fields that are passwords (format: password). The Planner redacts
// their values. A kind without a schema has no such fields.
//
// It differs from a server:
//
//   - It doesn't validate. Nothing is immutable, required or out of range. It rejects only values of another type, and
//     unknown fields as a server does. It keeps the fields of a custom kind where the schema is an object without
//     properties.
//   - It sets no defaults except those of list keys (protocol: TCP). It normalizes no values ("1000m" and null stay),
//     and doesn't move a Secret's stringData into its data.
//   - It has no admission: no webhooks, policies or quotas. Only a missing namespace is rejected.
//   - It has no controllers. A namespace is Active and a CRD Established at once. The objects in a deleted namespace
//     are deleted at once. Objects whose owner is deleted stay, whatever the propagation policy, and the finalizers of
//     the garbage collector alone hold no object.
//   - An apply with a value that the server drops, such as a status, gets no new time for that. So it never moves an
//     entry of managedFields, for which a real server writes the object again.
//   - It has no users, and permits everything.
//   - Versions of a kind differ only by their apiVersion, like those of a custom resource without a conversion webhook.
//   - It serves get, list, create, update, patch (apply, merge, strategic merge, and JSON patch without copy and move)
//     and delete of objects, their status and their scale. Every other request fails with MethodNotSupported.
package ssaplantest
