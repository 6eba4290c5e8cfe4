package lab

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WaitAllowed waits until a user, such as "jane" or "system:serviceaccount:shop:robot", may perform a verb on a
// resource, such as "configmaps" or "deployments.apps". The permission is for c's namespace, or for all namespaces if c
// has none. A server applies a role or a binding a moment after it stored it, and then all of its rules at once.
// WaitAllowed asks the server with the credentials of c.
func (c *Cluster) WaitAllowed(t testing.TB, user, verb, resource string) {
	t.Helper()
	of := schema.ParseGroupResource(resource)
	review := Objectf(t,
		`{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: %q, resourceAttributes: {
		namespace: %q, verb: %q, group: %q, resource: %q}}}`, user, c.Namespace, verb, of.Group, of.Resource)
	Eventually(t, user+" may "+verb+" "+resource, func() bool {
		answer, err := c.Resource(t, review).Create(context.Background(), review, metav1.CreateOptions{})
		require.NoError(t, err)
		allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
		require.NoError(t, err)
		return allowed
	})
}
