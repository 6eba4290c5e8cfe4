package authresilience_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/test/lab"
)

var (
	deadKind   = schema.GroupKind{Group: "dead.ex.io", Kind: "Widget"}
	absentKind = schema.GroupKind{Group: "absent.ex.io", Kind: "Widget"}
)

// atLeast reports whether the server is of a minor version, such as "1.36", or a later one.
func (f *fixture) atLeast(minor string) bool {
	return strings.TrimPrefix(f.server.Version(), "v") >= minor // all of them have two digits
}

// An answer is a class of the server's answers, and how to get one.
type answer struct {
	why      string
	setup    string
	manifest string
	want     authresilience.Class
	prepare  func(t *testing.T, f *fixture)
	send     func(t *testing.T, f *fixture) error // instead of applying the manifest as a dry run
}

// admissionAnswers are refusals that are no matter of credentials, though most of them are a 403, too.
var admissionAnswers = []answer{
	{
		why:   "a namespace that is being deleted",
		setup: "{apiVersion: v1, kind: Namespace, metadata: {name: going}}",
		prepare: func(t *testing.T, f *fixture) {
			require.NoError(t, f.kube.CoreV1().Namespaces().Delete(context.Background(), "going", metav1.DeleteOptions{}))
		},
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: going}}",
		want:     authresilience.ClassNamespaceTerminating,
	},
	{
		why: "a quota that is used up",
		setup: `
apiVersion: v1
kind: Namespace
metadata: {name: full}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: full}
spec: {hard: {configmaps: "1"}}
`,
		// The controller that counts isn't running here.
		prepare: func(t *testing.T, f *fixture) {
			f.patchStatus(t, schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}, "full", "q", `{"status":{"hard":{"configmaps":"1"},"used":{"configmaps":"1"}}}`)
		},
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: full}}",
		want:     authresilience.ClassQuota,
	},
	{
		why: "a quota that demands requests",
		setup: `
apiVersion: v1
kind: Namespace
metadata: {name: demanding}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: demanding}
spec: {hard: {requests.cpu: "1"}}
`,
		prepare: func(t *testing.T, f *fixture) {
			f.patchStatus(t, schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}, "demanding", "q", `{"status":{"hard":{"requests.cpu":"1"},"used":{"requests.cpu":"0"}}}`)
		},
		manifest: "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: demanding}, spec: {containers: [{name: c, image: i}]}}",
		want:     authresilience.ClassQuota,
	},
	{
		why: "a quota that isn't counted yet",
		setup: `
apiVersion: v1
kind: Namespace
metadata: {name: uncounted}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: uncounted}
spec: {hard: {configmaps: "1"}}
`,
		prepare: func(t *testing.T, f *fixture) {
			f.patchStatus(t, schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}, "uncounted", "q", `{"status":{"hard":{"configmaps":"1"}}}`)
		},
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: uncounted}}",
		want:     authresilience.ClassQuota,
	},
	{
		why:      "pod security",
		setup:    "{apiVersion: v1, kind: Namespace, metadata: {name: restricted, labels: {pod-security.kubernetes.io/enforce: restricted}}}",
		manifest: "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: restricted}, spec: {containers: [{name: c, image: i, securityContext: {privileged: true}}]}}",
		want:     authresilience.ClassPodSecurity,
	},
	{
		why: "a limit range: too much", setup: limits("limited", `max: {cpu: "1"}`),
		manifest: limitedPod("limited", "2", "2"), want: authresilience.ClassLimitRange,
	},
	{
		why: "a limit range: too little", setup: limits("limited-below", "min: {memory: 1Gi}"),
		manifest: limitedPod("limited-below", "1", "1"), want: authresilience.ClassLimitRange,
	},
	{
		why: "a limit range: too far apart", setup: limits("limited-ratio", `maxLimitRequestRatio: {cpu: "2"}`),
		manifest: limitedPod("limited-ratio", "1", "4"), want: authresilience.ClassLimitRange,
	},
	{
		why: "a limit range: several reasons", setup: limits("limited-more", `max: {cpu: "1", memory: 1Ki}`),
		manifest: limitedPod("limited-more", "2", "2"), want: authresilience.ClassLimitRange,
	},
	{
		why: "a claim that can't be expanded",
		setup: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: fixed, volumeName: v, resources: {requests: {storage: 1Gi}}}
`,
		prepare: func(t *testing.T, f *fixture) {
			f.patchStatus(t, schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}, "default", "c", `{"status":{"phase":"Bound","capacity":{"storage":"1Gi"}}}`)
		},
		manifest: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec: {accessModes: [ReadWriteOnce], storageClassName: fixed, volumeName: v, resources: {requests: {storage: 2Gi}}}}`,
		want:     authresilience.ClassResize,
	},
	{
		why:      "another admission plugin: priorities",
		manifest: "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {priorityClassName: none, containers: [{name: c, image: i}]}}",
		want:     authresilience.ClassAdmission,
	},
	{
		why: "a namespace that may not be deleted",
		send: func(_ *testing.T, f *fixture) error {
			return f.kube.CoreV1().Namespaces().Delete(context.Background(), "kube-system", metav1.DeleteOptions{})
		},
		want: authresilience.ClassAdmission,
	},
	{
		why: "a policy", setup: policy("deny-plain", "null"),
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: deny-plain, namespace: default}}", want: authresilience.ClassPolicy,
	},
	{
		why: "a policy that says Forbidden", setup: policy("deny-forbidden", "Forbidden"),
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: deny-forbidden, namespace: default}}", want: authresilience.ClassPolicy,
	},
	{
		why: "a webhook that is down", setup: webhook("down", "https://127.0.0.1:1/", ""),
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: webhook-down}}", want: authresilience.ClassWebhookUnreachable,
	},
	{
		why:   "a conversion webhook that is down, when applying",
		setup: brokenConversion,
		send: func(t *testing.T, f *fixture) error {
			return f.apply(t, f.actor, lab.Object(t, "{apiVersion: conv.ex.io/v2, kind: Gadget, metadata: {name: g, namespace: default}, spec: {a: 1}}"))
		},
		want: authresilience.ClassWebhookUnreachable,
	},
	{
		why: "a conversion webhook that is down, when reading",
		send: func(t *testing.T, f *fixture) error {
			require.NoError(t, f.apply(t, f.actor, lab.Object(t, "{apiVersion: conv.ex.io/v1, kind: Gadget, metadata: {name: h, namespace: default}, spec: {a: 1}}")))
			_, err := f.Client.Resource(schema.GroupVersionResource{Group: "conv.ex.io", Version: "v2", Resource: "gadgets"}).Namespace("default").Get(context.Background(), "h", metav1.GetOptions{})
			return err
		},
		want: authresilience.ClassWebhookUnreachable,
	},
}

// limits is a namespace with a limit range for containers.
func limits(namespace, limit string) string {
	return strings.NewReplacer("NAMESPACE", namespace, "LIMIT", limit).Replace(`
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: v1
kind: LimitRange
metadata: {name: l, namespace: NAMESPACE}
spec: {limits: [{type: Container, LIMIT}]}
`)
}

func limitedPod(namespace, request, limit string) string {
	return strings.NewReplacer("NAMESPACE", namespace, "REQUEST", request, "MOST", limit).Replace(
		`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: NAMESPACE}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "REQUEST", memory: 1Mi}, limits: {cpu: "MOST", memory: 1Mi}}}]}}`)
}

// policy is a policy that denies the ConfigMap of the same name.
func policy(name, reason string) string {
	return strings.NewReplacer("NAME", name, "REASON", reason).Replace(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps], resourceNames: [NAME]}]}
  validations: [{expression: "false", message: "not here", reason: REASON}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny]}
`)
}

// webhook is a webhook for the ConfigMaps of the namespace webhook-NAME.
func webhook(name, url, bundle string) string {
	return strings.NewReplacer("NAME", name, "URL", url, "BUNDLE", bundle).Replace(`
apiVersion: v1
kind: Namespace
metadata: {name: webhook-NAME}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME}
webhooks:
- name: NAME.ex.io
  clientConfig: {url: "URL", caBundle: "BUNDLE"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: webhook-NAME}}
  sideEffects: None
  admissionReviewVersions: [v1]
  timeoutSeconds: 2
`)
}

const brokenStrategy = `Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/"}}`

// brokenConversion is a kind with two versions between which nobody converts.
const brokenConversion = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.conv.ex.io}
spec:
  group: conv.ex.io
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  conversion: {strategy: ` + brokenStrategy + `}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// requestAnswers are about the request.
var requestAnswers = []answer{
	{why: "no such object", want: authresilience.ClassNotFound, send: func(_ *testing.T, f *fixture) error { return f.get("default") }},
	{why: "no such object, in a namespace that isn't there", want: authresilience.ClassNotFound, send: func(_ *testing.T, f *fixture) error { return f.get("missing") }},
	{why: "no such namespace", want: authresilience.ClassNamespaceNotFound, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: missing}}"},
	{why: "no such namespace, when reading it", want: authresilience.ClassNamespaceNotFound, send: func(_ *testing.T, f *fixture) error {
		_, err := f.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(context.Background(), "missing", metav1.GetOptions{})
		return err
	}},
	{why: "a type that isn't served", want: authresilience.ClassTypeNotServed, send: func(_ *testing.T, f *fixture) error {
		_, err := f.Client.Resource(schema.GroupVersionResource{Group: "absent.ex.io", Version: "v1", Resource: "widgets"}).Get(context.Background(), "x", metav1.GetOptions{})
		return err
	}},
	{why: "a version that isn't served", want: authresilience.ClassTypeNotServed, send: func(_ *testing.T, f *fixture) error {
		_, err := f.Client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deployments"}).Namespace("default").Get(context.Background(), "x", metav1.GetOptions{})
		return err
	}},
	{
		why: "fields that another manager owns", want: authresilience.ClassConflict,
		setup: "{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default}, data: {a: '1'}}",
		send: func(_ *testing.T, f *fixture) error {
			return f.send("owned", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned"},"data":{"a":"2"}}`, metav1.PatchOptions{FieldManager: "other"})
		},
	},
	{
		why: "a resourceVersion that is behind", want: authresilience.ClassOutdated,
		setup: "{apiVersion: v1, kind: ConfigMap, metadata: {name: behind, namespace: default}}",
		send: func(_ *testing.T, f *fixture) error {
			return f.send("behind", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"behind","resourceVersion":"1"},"data":{"a":"2"}}`, metav1.PatchOptions{FieldManager: "m"})
		},
	},
	{
		why: "a UID of nothing", want: authresilience.ClassOutdated,
		manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: no-such, namespace: default, uid: 11111111-1111-4111-8111-111111111111}}",
	},
	{
		why: "an object that is there already", want: authresilience.ClassAlreadyExists,
		setup: "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: default}}",
		send: func(t *testing.T, f *fixture) error {
			obj := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: default}}")
			_, err := f.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		},
	},
	{why: "validation", want: authresilience.ClassInvalid, manifest: "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: []}}"},
	{why: "no field manager", want: authresilience.ClassBadRequest, send: func(_ *testing.T, f *fixture) error {
		return f.send("x", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`, metav1.PatchOptions{})
	}},
	{why: "an unknown field", want: authresilience.ClassInvalidManifest, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, dataa: {a: '1'}}"},
	{why: "a value of another type", want: authresilience.ClassInvalidManifest, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, data: {a: 1}}"},
	{why: "a list with a key twice", want: authresilience.ClassInvalidManifest, manifest: "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}, {name: c, image: j}]}}"},
	{why: "a resourceVersion that is no number", want: authresilience.ClassInvalidManifest, send: func(_ *testing.T, f *fixture) error {
		return f.send("behind", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"behind","resourceVersion":"abc"}}`, metav1.PatchOptions{FieldManager: "m"})
	}},
	{why: "a resourceVersion in a new object", want: authresilience.ClassInvalidManifest, send: func(t *testing.T, f *fixture) error {
		obj := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: versioned, namespace: default, resourceVersion: '1'}}")
		_, err := f.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{})
		return err
	}},
	{why: "not YAML", want: authresilience.ClassInvalidManifest, send: func(_ *testing.T, f *fixture) error {
		return f.send("x", `{`, metav1.PatchOptions{FieldManager: "m"})
	}},
	{why: "a YAML key twice", want: authresilience.ClassInvalidManifest, send: func(_ *testing.T, f *fixture) error {
		return f.send("x", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: '1'\n  a: '2'\n", metav1.PatchOptions{FieldManager: "m", FieldValidation: "Strict"})
	}},
	{why: "another kind than the address has", want: authresilience.ClassInvalidManifest, send: func(_ *testing.T, f *fixture) error {
		return f.send("x", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, metav1.PatchOptions{FieldManager: "m"})
	}},
	{why: "managedFields in the manifest", want: authresilience.ClassInvalidManifest, send: func(_ *testing.T, f *fixture) error {
		return f.send("x", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","managedFields":[]}}`, metav1.PatchOptions{FieldManager: "m"})
	}},
	{why: "an unknown field in a create", want: authresilience.ClassInvalidManifest, send: func(t *testing.T, f *fixture) error {
		obj := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, dataa: {}}")
		_, err := f.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{FieldValidation: "Strict"})
		return err
	}},
	{
		why: "an unknown field in a create of a custom resource", want: authresilience.ClassInvalidManifest,
		setup: strings.NewReplacer("gadgets", "pebbles", "Gadget", "Pebble", "conv.ex.io", "small.ex.io", brokenStrategy, "None", "x-kubernetes-preserve-unknown-fields: true", "properties: {spec: {type: object}}").Replace(brokenConversion),
		send: func(t *testing.T, f *fixture) error {
			obj := lab.Object(t, "{apiVersion: small.ex.io/v1, kind: Pebble, metadata: {name: p, namespace: default}, spec: {a: 1}}")
			_, err := f.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{FieldValidation: "Strict"})
			return err
		},
	},
	{why: "another version than the address has", want: authresilience.ClassInvalidManifest, send: func(t *testing.T, f *fixture) error {
		obj := lab.Object(t, "{apiVersion: small.ex.io/v1, kind: Pebble, metadata: {name: q, namespace: default}}")
		_, err := f.Resource(t, obj).Patch(context.Background(), "q", types.ApplyPatchType,
			[]byte(`{"apiVersion":"small.ex.io/v2","kind":"Pebble","metadata":{"name":"q"}}`), metav1.PatchOptions{FieldManager: "m"})
		return err
	}},
	{why: "a name that isn't that of the address", want: authresilience.ClassBadRequest, send: func(_ *testing.T, f *fixture) error {
		return f.send("y", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`, metav1.PatchOptions{FieldManager: "m"})
	}},
	{why: "a body that is too large", want: authresilience.ClassTooLarge, send: func(_ *testing.T, f *fixture) error {
		return f.send("x", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"`+strings.Repeat("a", 4<<20)+`"}}`, metav1.PatchOptions{FieldManager: "m"})
	}},
	{
		why: "an object that is too large for etcd", want: authresilience.ClassTooLarge,
		setup: strings.NewReplacer("gadgets", "boulders", "Gadget", "Boulder", "conv.ex.io", "large.ex.io", brokenStrategy, "None").Replace(brokenConversion),
		send:  func(t *testing.T, f *fixture) error { return f.applyBoulder(t, 1700<<10) },
	},
	{
		why: "an object that is too large for the connection to etcd", want: authresilience.ClassTooLarge,
		send: func(t *testing.T, f *fixture) error { return f.applyBoulder(t, 2<<20) },
	},
	{why: "a health check port that is taken", want: authresilience.ClassInvalid,
		setup: "{apiVersion: v1, kind: Service, metadata: {name: lb, namespace: default}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000, ports: [{port: 80, nodePort: 31001}]}}",
		send: func(t *testing.T, f *fixture) error {
			obj := lab.Object(t, "{apiVersion: v1, kind: Service, metadata: {name: lb2, namespace: default}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31000, ports: [{port: 80, nodePort: 31002}]}}")
			_, err := f.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}},
}

// send patches the ConfigMap of a name in the namespace default with a body that is taken as it is.
func (f *fixture) send(name, body string, options metav1.PatchOptions) error {
	_, err := f.Client.Resource(configMaps).Namespace("default").Patch(context.Background(), name, types.ApplyPatchType, []byte(body), options)
	return err
}

// applyBoulder applies a custom resource of about the given size.
func (f *fixture) applyBoulder(t *testing.T, size int) error {
	t.Helper()
	obj := lab.Object(t, "{apiVersion: large.ex.io/v1, kind: Boulder, metadata: {name: b, namespace: default}}")
	obj.Object["spec"] = map[string]any{"a": strings.Repeat("a", size)}
	return f.apply(t, f.actor, obj)
}

func (f *fixture) patchStatus(t *testing.T, resource schema.GroupVersionResource, namespace, name, body string) {
	t.Helper()
	_, err := f.Client.Resource(resource).Namespace(namespace).Patch(context.Background(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
}

// TestAnswers shows every class that an answer of the server can have, credentials aside, and that none is survived.
func TestAnswers(t *testing.T) {
	f := newFixture(t)
	for _, a := range append(admissionAnswers, requestAnswers...) {
		t.Run(a.why, func(t *testing.T) { f.expect(t, a) })
	}
}

func (f *fixture) expect(t *testing.T, a answer) {
	if a.setup != "" {
		f.setup(t, a.setup)
	}
	if a.prepare != nil {
		a.prepare(t, f)
	}
	if a.send == nil {
		a.send = func(t *testing.T, f *fixture) error {
			return f.apply(t, f.actor, lab.Object(t, a.manifest), metav1.DryRunAll)
		}
	}
	err := eventually(t, func() error { return a.send(t, f) }, isClass(a.want))
	_, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{})
	assert.False(t, ok)
	record(t, a.why, a.want, err)
}

// TestWebhooks lets a webhook deny with codes that mean something else when the server says them.
func TestWebhooks(t *testing.T) {
	f := newFixture(t)
	var denial atomic.Pointer[metav1.Status]
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct{ UID string }
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{"uid": review.Request.UID, "allowed": false, "status": denial.Load()},
		})
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	f.setup(t, webhook("deny", server.URL, pemOf(server)))
	manifest := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: webhook-deny}}")

	for why, status := range map[string]metav1.Status{
		"a webhook that says nothing":        {},
		"a webhook that says 401":            {Code: 401, Reason: metav1.StatusReasonUnauthorized, Message: "Unauthorized"},
		"a webhook that says 403":            {Code: 403, Reason: metav1.StatusReasonForbidden, Message: `configmaps "x" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"`},
		"a webhook that says 404":            {Code: 404, Reason: metav1.StatusReasonNotFound, Message: `configmaps "x" not found`},
		"a webhook that says 409":            {Code: 409, Reason: metav1.StatusReasonConflict, Message: "conflict"},
		"a webhook that says 422":            {Code: 422, Reason: metav1.StatusReasonInvalid, Message: "field is immutable"},
		"a webhook that says 429":            {Code: 429, Reason: metav1.StatusReasonTooManyRequests, Message: "slow down"},
		"a webhook that says 500":            {Code: 500, Message: "failed to create typed patch object (x): no"},
		"a webhook that says 200 and denies": {Code: 200, Message: "denied"},
	} {
		t.Run(why, func(t *testing.T) {
			denial.Store(&status)
			err := eventually(t, func() error { return f.apply(t, f.actor, manifest, metav1.DryRunAll) }, isClass(authresilience.ClassWebhook))
			_, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{})
			assert.False(t, ok)
			record(t, why, authresilience.ClassWebhook, err)
		})
	}
}

func TestNoAnswer(t *testing.T) {
	f := newFixture(t)
	rows := []struct {
		why    string
		change func(*rest.Config)
		want   authresilience.Class
	}{
		{"nobody listens", func(c *rest.Config) { c.Host = "https://127.0.0.1:1" }, authresilience.ClassConnection},
		{"an authority that the client doesn't know", func(c *rest.Config) { c.CAData = nil }, authresilience.ClassTLS},
		{"another name than the certificate has", func(c *rest.Config) { c.ServerName = "other.ex.io" }, authresilience.ClassTLS},
		{"http to the https port", func(c *rest.Config) {
			*c = rest.Config{Host: strings.Replace(c.Host, "https:", "http:", 1)}
		}, authresilience.ClassTLS},
		{"no time", func(c *rest.Config) { c.Timeout = time.Nanosecond }, authresilience.ClassTimeout},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			config := rest.CopyConfig(f.Config)
			r.change(config)
			err := newActor(t, config).get("default")
			assert.Equal(t, r.want, authresilience.Classify(err), "%v", err)
			_, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{})
			assert.False(t, ok)
			record(t, r.why, r.want, err)
		})
	}
}
