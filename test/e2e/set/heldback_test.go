package set_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// onlyTried is a policy that refuses objects with a label, but not when they are only tried.
const onlyTried = `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: only-tried}, spec: {failurePolicy: Fail,
  matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [CREATE, UPDATE], resources: ['*']}]},
  matchConditions: [{name: labeled, expression: "has(object.metadata) && has(object.metadata.labels) && 'refused' in object.metadata.labels"}],
  validations: [{expression: "has(request.dryRun) && request.dryRun", message: "not in earnest"}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: only-tried},
  spec: {policyName: only-tried, validationActions: [Deny]}}`

// pods is a Deployment whose pods have what POD says.
const pods = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: NAME, labels: {v: VALUE}},
  spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {POD, containers: [{name: c, image: c}]}}}}`

func podsWith(text string) string { return strings.Replace(pods, "POD", text, 1) }

const service = `{apiVersion: v1, kind: Service, metadata: {name: used, namespace: NAME, LABELS}, spec: {clusterIP: None, ports: [{port: FIXED443}]}}`

// users has what refers to an object, and the object itself. Where FIXED is, it has a value that can't change,
// or nothing.
var users = map[string][]string{
	"a pod's Secret": {podsWith("volumes: [{name: v, secret: {secretName: used}}]"),
		`{apiVersion: v1, kind: Secret, metadata: {name: used, namespace: NAME, LABELS}, immutable: true, stringData: {a: bFIXED}}`},
	"a pod's ConfigMap": {podsWith("volumes: [{name: v, configMap: {name: used}}]"),
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: used, namespace: NAME, LABELS}, immutable: true, data: {a: bFIXED}}`},
	"a pod's account": {podsWith("serviceAccountName: used"),
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: used, namespace: NAME, LABELS}}`},
	"an account's Secret, and pods of the account": {podsWith("serviceAccountName: acc"),
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: acc, namespace: NAME, labels: {v: VALUE}}, imagePullSecrets: [{name: used}]}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: used, namespace: NAME, LABELS}, immutable: true, stringData: {a: bFIXED}}`},
	"a pod's claim": {podsWith("volumes: [{name: v, persistentVolumeClaim: {claimName: used}}]"),
		`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: used, namespace: NAME, LABELS},
			spec: {storageClassName: aFIXED, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`},
	"a pod's claim of devices": {podsWith("resourceClaims: [{name: a, resourceClaimTemplateName: used}]"),
		`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: used, namespace: NAME, LABELS},
			spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: aFIXED}}]}}}}`},
	"a claim's class of devices, and pods with the claim": {podsWith("resourceClaims: [{name: a, resourceClaimTemplateName: t}]"),
		`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t, namespace: NAME, labels: {v: VALUE}},
			spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: NAME}}]}}}}`,
		`{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: NAME, LABELS}}`},
	"a claim's class": {`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: NAME, labels: {v: VALUE}},
			spec: {storageClassName: NAME, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
		`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME, LABELS}, provisioner: a.bFIXED}`},
	"a passing volume's class": {podsWith(`volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {
			storageClassName: NAME, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]`),
		`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME, LABELS}, provisioner: a.bFIXED}`},
	"a driver's Secret": {podsWith("volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: used}}}]"),
		`{apiVersion: v1, kind: Secret, metadata: {name: used, namespace: NAME, LABELS}, immutable: true, stringData: {a: bFIXED}}`},
	"a pod's priority": {podsWith("priorityClassName: NAME"),
		`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME, LABELS}, value: 1FIXED}`},
	"a binding's role": {`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: NAME, labels: {v: VALUE}},
			roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: used}, subjects: [{kind: User, name: x, apiGroup: rbac.authorization.k8s.io}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: used, namespace: NAME, LABELS}, rules: []}`},
	"a webhook's Service": {`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: NAME, labels: {v: VALUE}},
			webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {name: used, namespace: NAME}}}]}`, service},
	"an API's Service": {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.NAME.example.com, labels: {v: VALUE}},
			spec: {group: NAME.example.com, version: v1, groupPriorityMinimum: 10, versionPriority: 10, service: {name: used, namespace: NAME}}}`, service},
	"a StatefulSet's Service": {strings.NewReplacer("Deployment", "StatefulSet", "replicas", "serviceName: used, replicas", "POD,", "").Replace(pods), service},
}

// TestHeldBack doesn't touch what refers to an object that isn't applied, nor what refers to that, whatever their order
// in the set. Of some objects it tries all reasons why they aren't applied. It runs alone: what other tests count
// depends on the APIs that there are.
func TestHeldBack(t *testing.T) {
	admin := lab.New(t)
	for _, policy := range strings.Split(onlyTried, "\n---\n") {
		admin.Apply(t, "admin", lab.Object(t, policy))
	}
	probe := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, namespace: %s, labels: {refused: a}}}", admin.Namespace)
	lab.Eventually(t, "the policy is in force", func() bool {
		_, err := admin.TryApply(t, probe, metav1.PatchOptions{FieldManager: "probe"})
		return err != nil
	})
	reasons := map[string]*strings.Replacer{
		"refused by conflict":  strings.NewReplacer("LABELS", "labels: {v: new}", "VALUE", "new", "FIXED", ""),
		"failed at the write":  strings.NewReplacer("LABELS", "labels: {v: old, refused: a}", "VALUE", "new", "FIXED", ""),
		"it would be replaced": strings.NewReplacer("LABELS", "labels: {v: old}", "VALUE", "new", "FIXED", "1"),
	}
	for name, texts := range users {
		for why, now := range reasons {
			if why == "refused by conflict" || strings.HasPrefix(name, "an account's Secret") || name == "a claim's class" {
				t.Run(name+" "+why, func(t *testing.T) {
					c := another(t)
					c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager, RefuseConflicts: true})
					heldBack(t, c, strings.Join(texts, "\n---\n"), now)
				})
			}
		}
	}
}

// heldBack applies the last one of some objects in vain, and sees that the others are left out for it.
func heldBack(t *testing.T, c *cluster, text string, now *strings.Replacer) {
	old := strings.NewReplacer("LABELS", "labels: {v: old}", "VALUE", "old", "FIXED", "").Replace(text)
	for _, line := range c.apply(t, c.set(t, set.Options{}, old)) {
		require.Contains(t, line, " Done")
	}
	documents := strings.Split(strings.ReplaceAll(old, "NAME", c.name), "\n---\n")
	if api := lab.Object(t, documents[0]); api.GetKind() == "APIService" {
		defer c.Delete(t, api)
	}
	c.Patch(t, "another", lab.Object(t, documents[len(documents)-1]), `{"metadata":{"labels":{"v":"another"}}}`)
	c.Patch(t, "another", lab.Object(t, documents[len(documents)-1]), `{"metadata":{"labels":{"v":"old"}}}`)
	for _, planned := range []bool{true, false} {
		s := c.set(t, set.Options{KeepGoing: true}, now.Replace(text))
		if planned {
			c.plan(t, s)
		}
		lines := c.apply(t, s)
		require.Len(t, lines, len(documents))
		require.NotContains(t, lines[0], " Done")
		require.NotContains(t, lines[0], "it refers to")
		for _, line := range lines[1:] {
			require.Regexp(t, " NotSent: .* left out: it refers to .*, which doesn't match the set", line)
		}
	}
}
