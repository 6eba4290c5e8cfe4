package kit_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// What a controller wrote to the status by an update before it took the kit is removed when it removes that. The same
// is tested with the server in memory; this one shows that a real one lets it be removed through the status alone.
func TestWhatWasUpdatedIsRemoved(t *testing.T) {
	t.Parallel()
	cluster := lab.New(t)
	scheme := kuberuntime.NewScheme()
	require.NoError(t, policyv1.AddToScheme(scheme))
	direct, err := client.New(cluster.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	kit, err := ctrlssaplan.NewForDynamic(cluster.Client, cluster.Mapper, scheme, ctrlssaplan.Options{
		FieldManager: "site-controller",
		NoOps:        ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1}),
		Conditions: func(owner client.Object) (*[]metav1.Condition, *int64) {
			return &owner.(*policyv1.PodDisruptionBudget).Status.Conditions, nil
		},
	})
	require.NoError(t, err)
	ofManager, err := ctrlssaplan.FromClient(direct, direct, direct)
	require.NoError(t, err)
	for name, by := range map[string]ctrlssaplan.Client{"dynamic": kit.Client, "managed": ofManager} {
		kit.Client = by
		cluster.Apply(t, "installer", lab.Objectf(t, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: %s}, spec: {maxUnavailable: 1}}", name, cluster.Namespace))
		owner := &policyv1.PodDisruptionBudget{}
		key := client.ObjectKey{Namespace: cluster.Namespace, Name: name}
		require.NoError(t, direct.Get(t.Context(), key, owner))
		owner.Status.CurrentHealthy, owner.Status.DisruptedPods = 5, map[string]metav1.Time{"a": metav1.Unix(1e9, 0)}
		require.NoError(t, direct.Status().Update(t.Context(), owner, client.FieldOwner("site-controller")))
		owner.Status.DisruptedPods = nil
		_, err = kit.Reconcile(t.Context(), owner, nil, ctrlssaplan.Policy{})
		require.NoError(t, err)
		there := &policyv1.PodDisruptionBudget{}
		require.NoError(t, direct.Get(t.Context(), key, there))
		require.Empty(t, there.Status.DisruptedPods, name)
		require.EqualValues(t, 5, there.Status.CurrentHealthy)
		require.Equal(t, there.ResourceVersion, owner.ResourceVersion)
	}
}
