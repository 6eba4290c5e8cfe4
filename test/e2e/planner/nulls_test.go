package planner_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestNullInAMap applies manifests with a null in a map of texts or quantities, which a server stores as an empty
// text or zero. What is stored is what an apply of the manifest as it is written stores: without its only key a
// selector would match everything.
func TestNullInAMap(t *testing.T) {
	c := newCluster(t)
	pod := "{metadata: {labels: {app: a}}, spec: {nodeSelector: {gpu: }, containers: [{name: a, image: a, resources: {limits: {cpu: }}}]}}"
	for name, body := range map[string]string{
		"network-policy":    "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {matchLabels: {a: }}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {b: }}}]}]}",
		"cluster-role":      "apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {clusterRoleSelectors: [{matchLabels: {example.com/a: }}]}",
		"disruption-budget": "apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1, selector: {matchLabels: {app: }}}",
		"webhook": "apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, webhooks: [{name: a.example.com, sideEffects: None, " +
			"admissionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1/'}, failurePolicy: Ignore, namespaceSelector: {matchLabels: {guard: }}}]",
		"service":       "apiVersion: v1, kind: Service, spec: {selector: {app: web, tier: }, ports: [{port: 80, nodePort: }], type: }",
		"deployment":    "apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: a}}, replicas: , template: " + pod + "}",
		"quota":         "apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: , cpu: 1}}",
		"limits":        "apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, max: {cpu: 2}, default: {cpu: , memory: }}]}",
		"config-map":    "apiVersion: v1, kind: ConfigMap, data: {flag: , a: b}, binaryData: {c: }",
		"secret":        "apiVersion: v1, kind: Secret, data: {a: , b: Yg==}",
		"secret-texts":  "apiVersion: v1, kind: Secret, stringData: {a: , b: b}",
		"storage-class": "apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: example.com/a, parameters: {type: , b: b}",
		"endpoints":     "apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: [10.0.0.1], deprecatedTopology: {a: }}]",
		"metadata":      "apiVersion: example.com/v1, kind: Widget, spec: {color: red}",
	} {
		t.Run(name, func(t *testing.T) {
			object := func(suffix string) *unstructured.Unstructured {
				obj := lab.Objectf(t, "{%s, metadata: {name: 'null-%s-%s', labels: {l: }, annotations: {a: }}}", body, name, suffix)
				t.Cleanup(func() { c.Delete(t, obj) })
				return obj
			}
			written := c.Apply(t, "written", object("written"))
			request := ssaplan.Request{Manifest: object("planned")}
			plan := c.plan(t, request)
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
			for _, a := range plan.Adjustments {
				require.True(t, a.To != nil || strings.HasSuffix(a.Reason, "the field isn't there") || a.Reason == "the server ignores it", a.String())
			}
			applied, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			require.Equal(t, madeOf(written), madeOf(applied))
			require.Equal(t, plan.After.Object, projection.Project(applied.Object, plan.After.Fields).Object)
			again := c.plan(t, request)
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
		})
	}
}

// TestNullOverWhatIsSet applies manifests with nulls in the place of what another manager has set. What comes of that
// is what an apply of the manifest as it is written makes, and is planned once.
func TestNullOverWhatIsSet(t *testing.T) {
	c := newCluster(t)
	const pod = "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}"
	for name, row := range map[string]struct{ was, is, refusal string }{
		"deployment": {was: "apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3, paused: true, " + pod + "}",
			is: "apiVersion: apps/v1, kind: Deployment, spec: {replicas: , strategy: , paused: }"},
		"deployment-selector": {was: "apiVersion: apps/v1, kind: Deployment, spec: {" + pod + "}",
			is: "apiVersion: apps/v1, kind: Deployment, spec: {selector: }", refusal: "spec.selector: Required value"},
		"policy": {was: "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {matchLabels: {a: b}}}",
			is: "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: }"},
		"role": {was: "apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]",
			is: "apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: "},
		"binding": {was: "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}",
			is: "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: ", refusal: "roleRef.name: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := func(body, suffix string) *unstructured.Unstructured {
				return lab.Objectf(t, "{%s, metadata: {name: 'over-%s-%s'}}", body, name, suffix)
			}
			for _, suffix := range []string{"written", "planned"} {
				obj := object(row.was, suffix)
				c.Apply(t, "other", obj)
				t.Cleanup(func() { c.Delete(t, obj) })
			}
			request := ssaplan.Request{Manifest: object(row.is, "planned")}
			if row.refusal != "" {
				_, err := c.planner.Plan(t.Context(), request)
				require.ErrorContains(t, err, row.refusal)
				return
			}
			lab.NextSecond() // else the next apply, of a later second, changes the order of the records, which is a write
			plan := c.plan(t, request)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			applied, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			require.Equal(t, madeOf(c.Apply(t, manager, object(row.is, "written"))), madeOf(applied))
			again := c.plan(t, request)
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
		})
	}
}

// madeOf returns an object without what is each object's own.
func madeOf(obj *unstructured.Unstructured) map[string]any {
	out := obj.DeepCopy()
	for _, name := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		unstructured.RemoveNestedField(out.Object, "metadata", name)
	}
	unstructured.RemoveNestedField(out.Object, "spec", "clusterIP")
	unstructured.RemoveNestedField(out.Object, "spec", "clusterIPs")
	return out.Object
}
