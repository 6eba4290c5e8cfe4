// Package controlplane runs a real Kubernetes control plane, kube-apiserver with etcd, for tests and demos. It builds
// the servers from their Go modules, so that the Go module proxy is all it needs.
//
// A test asks for the server that all tests of its package share:
//
//	func TestApply(t *testing.T) {
//		client, err := dynamic.NewForConfig(controlplane.Shared(t).Config())
//		…
//	}
//
// There is nothing to stop: the server ends when the process that started it does, even if that process is killed.
// [ForTest] starts a server for one test, with flags of its own, and [Start] one that isn't tied to a test.
//
// The environment variable SSAPLAN_SERVER selects the Kubernetes version, one of the v* folders next to this file. The
// first build of a version takes minutes, so get it out of the way of go test's timeout: in the folder test, call
//
//	go run ./cmd/controlplane build
//
// Later runs find the binaries in .cache/controlplane at the root of the repository.
//
// No controllers run here: nothing makes pods from a Deployment, removes the objects of a deleted owner or finishes the
// deletion of a namespace. The package works on Linux and macOS.
package controlplane
