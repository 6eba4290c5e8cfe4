package lab

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WaitAllowed waits until a user, such as "jane" or "system:serviceaccount:shop:robot", may do something with the
// objects of a resource, such as "configmaps" or "deployments.apps", in c's namespace, or in all if c has none. The
// server heeds a role or a binding a moment after it was written, and then all of its rules. It is asked with the
// rights of c.
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
