package lab

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// WaitAllowed waits until a user, such as "jane" or "system:serviceaccount:shop:robot", may do something with the
// objects of a resource, such as "configmaps" or "deployments.apps", in c's namespace, or in all if c has none. The
// server heeds a role or a binding a moment after it was written, and then all of its rules. It is asked with the
// rights of c.
func (c *Cluster) WaitAllowed(t testing.TB, user, verb, resource string) {
	t.Helper()
	client, err := authorization.NewForConfig(c.Config)
	require.NoError(t, err)
	of := schema.ParseGroupResource(resource)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: c.Namespace, Verb: verb, Group: of.Group, Resource: of.Resource,
		},
	}}
	Eventually(t, user+" may "+verb+" "+resource, func() bool {
		answer, err := client.SubjectAccessReviews().Create(context.Background(), review, metav1.CreateOptions{})
		require.NoError(t, err)
		return answer.Status.Allowed
	})
}
