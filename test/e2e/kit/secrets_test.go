package kit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/test/lab"
)

const vaultDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: vaults.kitsecrets.example.com}, spec: {group: kitsecrets.example.com,
	scope: Namespaced, names: {plural: vaults, kind: Vault}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,
	properties: {spec: {type: object, properties: {size: {type: integer}, password: {type: string, format: password},
	tokens: {type: array, x-kubernetes-list-type: set, items: {type: string, format: password}},
	manifest: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}`

// What a definition marks as passwords, and a Secret inside of a child, is in no event, condition or error, though the
// host set nothing up for that.
func TestPasswordsOfChildren(t *testing.T) {
	t.Parallel()
	cluster := lab.New(t)
	cluster.Define(t, lab.Object(t, vaultDefinition))
	const first, second, theirs = "hunter2-correct-horse", "battery-staple-9", "tr0ub4dor-and-3"
	child := func(size int, value string) *unstructured.Unstructured {
		return lab.Objectf(t, `{apiVersion: kitsecrets.example.com/v1, kind: Vault, metadata: {name: a, namespace: %s, annotations: {copy: %[3]q}}, spec: {
			size: %[2]d, password: %[3]q, tokens: [%[3]q], manifest: {apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {p: %[3]q}}}}`, cluster.Namespace, size, value)
	}
	events := record.NewFakeRecorder(1000)
	conditions := &[]metav1.Condition{}
	kit, err := ctrlssaplan.NewForDynamic(cluster.Client, cluster.Mapper, kuberuntime.NewScheme(), ctrlssaplan.Options{
		FieldManager: "site-controller", Events: events,
		Conditions: func(client.Object) (*[]metav1.Condition, *int64) { return conditions, nil },
	})
	require.NoError(t, err)
	owner := cluster.Apply(t, "installer", lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: %s}}", cluster.Namespace))
	shown := ""
	reconcile := func(wanted *unstructured.Unstructured, policy ctrlssaplan.Policy) {
		t.Helper()
		_, err := kit.Reconcile(t.Context(), owner, []ctrlssaplan.Child{{Object: wanted}}, policy)
		shown += fmt.Sprintf("%v %+v %v\n", err, err, *conditions)
		for len(events.Events) > 0 {
			shown += <-events.Events + "\n"
		}
	}
	reconcile(child(1, first), ctrlssaplan.Policy{})
	reconcile(child(2, second), ctrlssaplan.Policy{})
	for _, drift := range []ctrlssaplan.DriftPolicy{ctrlssaplan.DriftReport, ""} {
		cluster.Patch(t, "evil", child(3, theirs), fmt.Sprintf(`{"spec": {"size": 3, "password": %q, "tokens": [%[1]q], "manifest": {"stringData": {"p": %[1]q}}}}`, theirs))
		reconcile(child(2, second), ctrlssaplan.Policy{Drift: drift})
	}
	misspelt := lab.Objectf(t, "{apiVersion: v1, kind: secret, metadata: {name: a, namespace: %s}, stringData: {p: %q}}", cluster.Namespace, first)
	reconcile(misspelt, ctrlssaplan.Policy{})
	for _, value := range []string{first, second, theirs} {
		require.Empty(t, leak.In(shown, value), shown)
	}
	require.Contains(t, shown, "spec.size: 3 -> 2", "what isn't one is shown")
	require.GreaterOrEqual(t, strings.Count(shown, "spec.password: "), 2, shown)
}
