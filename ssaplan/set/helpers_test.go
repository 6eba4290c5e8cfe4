package set

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// object returns the object of a YAML text, nil for "".
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

// newPlanner returns a Planner for a server in memory.
func newPlanner(t *testing.T) (*ssaplan.Planner, *ssaplantest.Server) {
	t.Helper()
	server, err := ssaplantest.NewServer(ssaplantest.Options{Namespaces: []string{"shop"}})
	require.NoError(t, err)
	planner, err := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "set-test"})
	require.NoError(t, err)
	return planner, server
}

// newSet returns a set of manifests, "" for a request without one.
func newSet(t *testing.T, planner Planner, options Options, texts ...string) *Set {
	t.Helper()
	var requests []ssaplan.Request
	for _, text := range texts {
		requests = append(requests, ssaplan.Request{Manifest: object(t, text)})
	}
	return New(planner, requests, options)
}
