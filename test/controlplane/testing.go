package controlplane

import (
	"context"
	"sync"
	"testing"
)

// Shared returns the server that all tests of a package share, and starts it for the first of them. If that isn't
// possible the test fails. The tests share one cluster, so each should work in a namespace of its own.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The server isn't stopped explicitly: it ends with the test's process.
var shared = sync.OnceValues(func() (*Server, error) {
	return Start(context.Background(), Options{})
})

// ForTest starts a server for one test, and stops it at the end of the test. If that isn't possible the test fails.
func ForTest(t testing.TB, opts Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}
