// Package lab sets up what end-to-end tests work on: the real API server that the tests of a package share, a
// namespace of the test's own, clients and planners, and the kinds that a test defines.
//
//	func TestMain(m *testing.M) { goroutines.Main(m) } // none may be left behind
//
//	func TestDrift(t *testing.T) {
//		c := lab.New(t)
//		planner := c.Planner(t, ssaplan.Options{FieldManager: "tester"})
//		c.Define(t, lab.Objects(t, definitions)...)
//		settings := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: x}}")
//		c.Apply(t, "tester", settings)
//		c.Patch(t, "somebody", settings, `{"data": {"a": "y"}}`)
//		…
//	}
//
// A failure in this package fails the test. A test about a rejected request sends the request itself, with
// [Cluster.Resource] or [Cluster.TryApply]. No request ends with the context of the test, so a cleanup can send any of
// them.
package lab
