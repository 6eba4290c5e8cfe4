package immutability_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// leftover is a manifest that an apply can't reach for what it leaves in place.
type leftover struct {
	name   string
	before string   // what is applied first
	other  string   // a patch by another manager: strategic, or a merge patch for a custom resource
	edit   []string // of the manifest, see edited
	left   []string // what is in the way
}

const unionDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unions.left.example.com}
spec:
  group: left.example.com
  scope: Namespaced
  names: {plural: unions, singular: union, kind: Union, listKind: UnionList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              source:
                type: object
                oneOf: [{required: [git]}, {required: [oci]}]
                properties: {git: {type: object, properties: {url: {type: string}}}, oci: {type: string}}
              only: {type: object, maxProperties: 1, additionalProperties: {type: string}}
              one:
                type: array
                maxItems: 1
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, v: {type: string}}}
              set: {type: array, maxItems: 1, x-kubernetes-list-type: set, items: {type: string}}
              items:
                type: array
                maxItems: 9
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  x-kubernetes-validations: [{rule: "!(has(self.a) && has(self.b))", message: a and b exclude each other}]
                  properties: {name: {type: string}, a: {type: string}, b: {type: string}}
`

const (
	union    = "apiVersion: left.example.com/v1\nkind: Union\n"
	twoPorts = "apiVersion: v1\nkind: Service\nspec: {ports: [{name: http, port: 80}, {name: https, port: 443}]}\n"
	webhook  = `
metadata: {name: left.example.com}
webhooks:
- {name: w.left.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}},
   rules: [{apiGroups: [none.example.com], apiVersions: [v1], resources: [nothing], operations: [CREATE]}]}
`
	converted = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: turns.left.example.com}
spec:
  group: left.example.com
  scope: Namespaced
  names: {plural: turns, singular: turn, kind: Turn, listKind: TurnList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
	inContainer = `{"spec":{"template":{"spec":{"containers":[{"name":"c",`
)

// inTemplate returns a patch of the container c.
func inTemplate(content string) string { return inContainer + content + `}]}}}}` }

func leftoverCases() []leftover {
	const c, spec = `spec.template.spec.containers[name="c"]`, "spec.template.spec."
	const first = "spec.template.spec.containers[0]."
	var all []leftover
	for name, source := range map[string]string{
		"config-map": "configMap: {name: a}", "secret": "secret: {secretName: a}", "host-path": "hostPath: {path: /a}",
		"downward":  "downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}",
		"projected": "projected: {sources: [{secret: {name: a}}]}", "claim": "persistentVolumeClaim: {claimName: a}",
		"nfs": "nfs: {server: a, path: /a}", "csi": "csi: {driver: a}",
		"ephemeral": "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}",
	} {
		all = append(all, leftover{"left-volume-" + name, deployment + "      volumes: [{name: u}, {name: v}]\n", "",
			[]string{spec + "volumes=[{name: u}, {name: v, " + source + "}]"}, []string{spec + `volumes[name="v"].emptyDir`}})
	}
	for name, from := range map[string]string{
		"secret": "secretKeyRef: {name: a, key: b}", "field": "fieldRef: {fieldPath: metadata.name}",
		"resource": "resourceFieldRef: {resource: limits.cpu}", "config-map": "configMapKeyRef: {name: a, key: b}",
	} {
		all = append(all, leftover{"left-env-" + name, deployment, inTemplate(`"env":[{"name":"A","value":"a"},{"name":"E","value":"e"}]`),
			[]string{first + "env=[{name: E, valueFrom: {" + from + "}}]"}, []string{c + `.env[name="E"].value`}})
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		all = append(all, leftover{"left-" + strings.ToLower(probe), deployment, inTemplate(`"` + probe + `":{"tcpSocket":{"port":80},"periodSeconds":7}`),
			[]string{first + probe + "={httpGet: {port: 80}}"}, []string{c + "." + probe + ".tcpSocket"}})
	}
	for _, kind := range []string{"Validating", "Mutating"} {
		all = append(all, leftover{"left-webhook-" + strings.ToLower(kind), "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "WebhookConfiguration\n" + webhook,
			`{"webhooks":[{"name":"w.left.example.com","clientConfig":{"service":null,"url":"https://a.example.com"}}]}`, nil,
			[]string{`webhooks[name="w.left.example.com"].clientConfig.url`}})
	}
	return append(all, []leftover{
		{"left-env-two-sources", deployment, inTemplate(`"env":[{"name":"E","valueFrom":{"configMapKeyRef":{"name":"a","key":"b"}}}]`),
			[]string{first + "env=[{name: E, valueFrom: {secretKeyRef: {name: a, key: b}}}]"}, []string{c + `.env[name="E"].valueFrom.configMapKeyRef`}},
		{"left-pre-stop", deployment, inTemplate(`"lifecycle":{"preStop":{"exec":{"command":["a"]}}}`),
			[]string{first + "lifecycle={preStop: {httpGet: {port: 80}}}"}, []string{c + ".lifecycle.preStop.exec"}},
		{"left-post-start", deployment, inTemplate(`"lifecycle":{"postStart":{"exec":{"command":["a"]}},"preStop":{"exec":{"command":["a"]}}}`),
			[]string{first + "lifecycle={postStart: {httpGet: {port: 80}}}"}, []string{c + ".lifecycle.postStart.exec"}},
		{"left-port-name", deployment, inTemplate(`"ports":[{"containerPort":9090,"name":"metrics"},{"containerPort":8080,"name":"web"}]`),
			[]string{first + "ports=[{containerPort: 80, name: web}]"}, []string{c + `.ports[containerPort=8080,protocol="TCP"]`}},
		{"left-host-port", deployment, inTemplate(`"ports":[{"containerPort":80,"hostPort":8080}]`),
			[]string{spec + "hostNetwork=true", first + "ports=[{containerPort: 80}]"}, []string{c + `.ports[containerPort=80,protocol="TCP"].hostPort`}},
		{"left-limit", deployment, inTemplate(`"resources":{"limits":{"cpu":"100m","memory":"1Gi"}}`),
			[]string{first + "resources={requests: {cpu: 200m}}"}, []string{c + ".resources.limits.cpu"}},
		{"left-sub-path", deployment + "      volumes: [{name: v}]\n", inTemplate(`"volumeMounts":[{"name":"v","mountPath":"/a","subPath":"x"},{"name":"v","mountPath":"/b","subPath":"x"}]`),
			[]string{first + "volumeMounts=[{name: v, mountPath: /a, subPathExpr: z}]"}, []string{c + `.volumeMounts[mountPath="/a"].subPath`}},
		{"left-privileged", deployment, inTemplate(`"securityContext":{"privileged":true,"runAsUser":7}`),
			[]string{first + "securityContext={allowPrivilegeEscalation: false}"}, []string{c + ".securityContext.privileged"}},
		{"left-seccomp", deployment, inTemplate(`"securityContext":{"runAsUser":7,"seccompProfile":{"type":"Localhost","localhostProfile":"a"}}`),
			[]string{first + "securityContext={seccompProfile: {type: RuntimeDefault}}"}, []string{c + ".securityContext.seccompProfile.localhostProfile"}},
		{"left-recreate", deployment, "", []string{"spec.strategy={type: Recreate}"}, []string{"spec.strategy.rollingUpdate"}},
		{"left-statefulset", statefulSet, "", []string{"spec.updateStrategy={type: OnDelete}"}, []string{"spec.updateStrategy.rollingUpdate"}},
		{"left-strategy", deployment, `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`,
			[]string{"spec.strategy={rollingUpdate: {}}"}, []string{"spec.strategy.type"}},
		{"left-update-strategy", statefulSet, `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`,
			[]string{"spec.updateStrategy={rollingUpdate: {partition: 1}}"}, []string{"spec.updateStrategy.type"}},
		{"left-cron-volume", cronJob, "", []string{"spec.jobTemplate.spec.template.spec.volumes=[{name: v, hostPath: {path: /a}}]"},
			[]string{`spec.jobTemplate.spec.template.spec.volumes[name="v"].emptyDir`}},
		{"left-service-port", twoPorts, `{"spec":{"ports":[{"port":80,"$patch":"delete"},{"name":"http","port":8080},{"name":"metrics","port":9090}]}}`, nil,
			[]string{`spec.ports[port=8080,protocol="TCP"]`}},
		{"left-service-ports", twoPorts, `{"spec":{"ports":[{"port":80,"$patch":"delete"},{"port":443,"$patch":"delete"},{"name":"http","port":8080},{"name":"https","port":8443},{"name":"metrics","port":9090}]}}`, nil,
			[]string{`spec.ports[port=8080,protocol="TCP"]`, `spec.ports[port=8443,protocol="TCP"]`}},
		{"left-service-unnamed", "apiVersion: v1\nkind: Service\nspec: {ports: [{name: http, port: 80}]}\n", `{"spec":{"ports":[{"name":"metrics","port":9090}]}}`,
			[]string{"spec.ports=[{port: 80}]"}, []string{`spec.ports[port=9090,protocol="TCP"]`}},
		{"left-service-ranges", strings.Replace(twoPorts, "spec: {", "spec: {type: LoadBalancer, ", 1), `{"spec":{"loadBalancerSourceRanges":["10.0.0.0/8"]}}`,
			[]string{"spec.type=ClusterIP"}, []string{"spec.loadBalancerSourceRanges"}},
		{"left-conversion", converted, `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://a.example.com"}}}}}`,
			[]string{"spec.conversion={strategy: None}"}, []string{"spec.conversion.webhook"}},
		{"left-backend", "apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {defaultBackend: {service: {name: a, port: {number: 80}}}}\n",
			`{"spec":{"defaultBackend":{"service":null,"resource":{"kind":"A","name":"a"}}}}`, nil, []string{"spec.defaultBackend.resource"}},
		{"left-budget", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {selector: {matchLabels: {a: b}}}\n", `{"spec":{"minAvailable":1}}`,
			[]string{"spec.maxUnavailable=1"}, []string{"spec.minAvailable"}},
		{"left-config", "apiVersion: v1\nkind: ConfigMap\ndata: {a.b: x}\n", `{"data":{"c.d":"y","e":"y"}}`,
			[]string{`binaryData["c.d"]=YQ==`}, []string{`data["c.d"]`}},
		{"left-flow", "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: PriorityLevelConfiguration\nspec: {type: Limited, limited: {limitResponse: {type: Reject}}}\n",
			`{"spec":{"limited":{"limitResponse":{"type":"Queue","queuing":{"queues":8,"handSize":2,"queueLengthLimit":9}}}}}`, nil,
			[]string{"spec.limited.limitResponse.queuing"}},
		{"left-union", union + "spec: {source: {oci: a}}\n", `{"spec":{"source":{"oci":null,"git":{"url":"a"}}}}`, nil, []string{"spec.source.git"}},
		{"left-union-key", union + "spec: {set: [a]}\n", `{"spec":{"only":{"a/b":"x"}}}`, []string{"spec.only={c: z}"}, []string{`spec.only["a/b"]`}},
		{"left-union-item", union + "spec: {set: [a]}\n", `{"spec":{"one":[{"name":"a","v":"x"}]}}`, []string{"spec.one=[{name: b}]"}, []string{`spec.one[name="a"]`}},
		{"left-union-value", union + "spec: {only: {a: b}}\n", `{"spec":{"set":["a"]}}`, []string{"spec.set=[b]"}, []string{`spec.set[="a"]`}},
		{"left-union-in-item", union + "spec: {items: [{name: x}, {name: z, a: v}]}\n", `{"spec":{"items":[{"name":"x","a":"v"},{"name":"z","a":"v"}]}}`,
			[]string{"spec.items=[{name: x, b: w}, {name: z, a: v}]"}, []string{`spec.items[name="x"].a`}},
	}...)
}

// TestLeftovers does what a refusal for leftovers advises: it clears exactly what is named. Then the manifest is
// applied.
func TestLeftovers(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, unionDefinition))
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager})
	cases := leftoverCases()
	require.GreaterOrEqual(t, len(cases), 40)
	slices.SortFunc(cases, func(a, b leftover) int { return strings.Compare(a.name, b.name) })
	for i, row := range cases {
		if !isPlayed(i) {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			before, after := pair{name: row.name, before: row.before, edit: row.edit}.manifests(t)
			c.apply(t, before)
			defer c.delete(t, before)
			kind := types.StrategicMergePatchType
			if !kinds.IsBuiltin(before.Object) {
				kind = types.MergePatchType
			}
			patch := func(by, body string) {
				t.Helper()
				_, err := c.Resource(t, before).Patch(context.Background(), before.GetName(), kind, []byte(body), metav1.PatchOptions{FieldManager: by})
				require.NoError(t, err, body)
			}
			if before.GetKind() == "CustomResourceDefinition" {
				awaitEstablished(t, c, before) // until then controllers write its status
			}
			if row.other != "" {
				patch("other", row.other)
			}

			_, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: after})
			var refused *ssaplan.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, immutability.RefusalMergeLeftover, refused.Verdict.Refusal, "%v", refused)
			var left []string
			for _, path := range refused.Verdict.Leftovers {
				left = append(left, path.String())
				assert.Contains(t, refused.Verdict.Remedy, path.String())
			}
			require.Equal(t, row.left, left, "%v", refused)
			assert.Contains(t, refused.Verdict.Remedy, "clear ")

			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: after, ClearBlocking: true})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			made, err := planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			for _, path := range refused.Verdict.Leftovers {
				is, _ := projection.Get(made.Object, path)
				assert.Contains(t, []any{nil, "RollingUpdate"}, is, "%s is gone, or its default took its place", path)
			}
			differences, err := plan.Differences(made)
			require.NoError(t, err)
			require.Empty(t, differences)
			plan, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: after})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		})
	}
}
