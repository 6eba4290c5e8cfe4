package planner_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// An apply that is refused is refused for what the server says of it. What a new object would be refused for comes
// second: it may be what the object has had for long, and the server lets pass.
func TestRefusalByItsOwnCauses(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.causes.example.com},
		spec: {group: causes.example.com, scope: Namespaced, names: {plural: gears, kind: Gear}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		id: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: the id is fixed}]}, mode: {type: string%s}}}}}}}]}}`
	c.Define(t, lab.Objectf(t, definition, ""))
	const gear = "{apiVersion: causes.example.com/v1, kind: Gear, metadata: {name: a}, spec: {id: %s, mode: legacy}}"
	c.apply(t, manifest(t, gear, "a"))
	c.Define(t, lab.Objectf(t, definition, ", enum: [new, newer]"))
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed}, immutable: true, data: {a: %s}}"
	c.apply(t, manifest(t, settings, "b"))
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: 'a:1'}]%s}}"
	c.apply(t, manifest(t, pod, ""))
	for _, row := range []struct {
		refused      *unstructured.Unstructured
		own, besides string
	}{
		{manifest(t, gear, "b"), ": invalid: spec.id: ", "the id is fixed; a new object would be invalid, too: spec.mode: Unsupported value"},
		{manifest(t, settings, "c, 'b/d': e"), ": invalid: data: ", `data["b/d"]: Invalid value: `},
		{manifest(t, pod, ", ephemeralContainers: [{name: b, image: 'b:1'}]"), ": invalid: spec: ", "a new object would be invalid, too: spec.ephemeralContainers: "},
	} {
		var err error
		lab.Eventually(t, "the definition is heeded", func() bool {
			_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: row.refused})
			return err != nil
		})
		require.ErrorContains(t, err, row.own)
		require.ErrorContains(t, err, row.besides)
	}
}

// TestRefusalThatASubresourceHelps names the subresource through which a Pod takes what the object itself doesn't.
func TestRefusalThatASubresourceHelps(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: '%s', resources: {requests: {cpu: %s}}}]%s}}"
	c.apply(t, manifest(t, pod, "a:1", "100m", ""))
	resized := c.plan(t, ssaplan.Request{Manifest: manifest(t, pod, "a:1", "200m", "")})
	require.Equal(t, ssaplan.ActionReplace, resized.Action)
	require.Contains(t, resized.Warnings, foreign.Text("the subresource resize can change spec.containers[*].resources, "+
		"spec.initContainers[*].resources in place, and the rest can be applied without it"))
	resize := manifest(t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, resources: {requests: {cpu: 200m}}}]}}")
	require.Equal(t, ssaplan.ActionUpdate, c.plan(t, ssaplan.Request{Manifest: resize, Subresource: "resize"}).Action)
	_, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, pod, "a:1", "100m", ", ephemeralContainers: [{name: b, image: 'b:1'}]")})
	require.ErrorContains(t, err, "the subresource ephemeralcontainers can change spec.ephemeralContainers in place")
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, pod, "a:1", "200m", ", ephemeralContainers: [{name: b, image: 'b:1'}]")})
	require.ErrorContains(t, err, "the subresources resize and ephemeralcontainers can change spec.containers[*].resources, "+
		"spec.initContainers[*].resources, spec.ephemeralContainers in place")
	other := c.plan(t, ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {hostname: b, containers: [{name: a, image: 'a:1'}]}}")})
	require.Equal(t, ssaplan.ActionReplace, other.Action)
	require.NotContains(t, fmt.Sprint(other.Warnings), "subresource")

	const binding = "the subresource binding can change spec.nodeName in place, and the rest can be applied without it"
	const unplaced = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {%scontainers: [{name: a, image: 'a:1'}]}}"
	c.apply(t, manifest(t, unplaced, "placed", ""))
	placed := ssaplan.Request{Manifest: manifest(t, unplaced, "placed", "nodeName: there, ")}
	require.Contains(t, c.plan(t, placed).Warnings, foreign.Text(binding))
	bind := manifest(t, "{apiVersion: v1, kind: Binding, metadata: {name: placed}, target: {kind: Node, name: here}}")
	_, err = c.Resource(t, c.Get(t, manifest(t, unplaced, "placed", ""))).Create(t.Context(), bind, metav1.CreateOptions{}, "binding")
	require.NoError(t, err)
	bound := c.plan(t, placed)
	require.Equal(t, ssaplan.ActionReplace, bound.Action)
	require.NotContains(t, fmt.Sprint(bound.Warnings), "subresource", "a pod is bound once")
	const gate = "schedulingGates: [{name: x/y}], "
	c.apply(t, manifest(t, unplaced, "gated", gate))
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, unplaced, "gated", "nodeName: there, "+gate)})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "the subresource", "nor is one with scheduling gates")
}

// Where the name has a meaning, no object can be tried under another one: what the server says of that name is no news.
func TestReplacementThatNoOtherNameStandsFor(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const address = "{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 203.0.113.7}, spec: {parentRef: {resource: services, namespace: default, name: %s}}}"
	c.apply(t, manifest(t, address, "a"))
	t.Cleanup(func() { c.Delete(t, manifest(t, address, "a")) })
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, address, "b")})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Contains(t, plan.Warnings, foreign.Text("unknown which fields the server adds to the new object: no object of this kind can be tried under another name"))
	for _, warning := range plan.Warnings {
		require.NotContains(t, warning.String(), "must be a valid")
	}
}

// Some servers store an object again at each apply of empty lists and maps. The reason of the plan names these fields.
func TestReasonOfAWriteThatChangesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const reason = "no value and no owner changes, but the server writes the object again, as it may do at each apply of empty fields: leave out "
	const webhook = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: empties.example.com},
		webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, matchConditions: [],
		clientConfig: {url: "https://localhost/none"}}]}`
	t.Cleanup(func() { c.Delete(t, manifest(t, webhook)) })
	const policy = "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: %s}, spec: %s}"
	for fields, object := range map[string]*unstructured.Unstructured{
		"spec.ingress":                                   manifest(t, policy, "a", "{podSelector: {matchLabels: {a: b}}, ingress: []}"),
		"spec.podSelector.matchLabels":                   manifest(t, policy, "b", "{podSelector: {matchLabels: {}}}"),
		"spec.ingress[0].from":                           manifest(t, policy, "c", "{podSelector: {matchLabels: {a: b}}, ingress: [{from: []}]}"),
		`webhooks[name="a.example.com"].matchConditions`: manifest(t, webhook),
	} {
		c.apply(t, object)
		for range 2 {
			plan := c.plan(t, ssaplan.Request{Manifest: object})
			require.Equal(t, ssaplan.ActionUpdate, plan.Action, fields)
			require.Equal(t, reason+fields, plan.Reason)
			c.apply(t, object)
		}
	}

	c.Define(t, lab.Object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shells.causes.example.com},
		spec: {group: causes.example.com, scope: Namespaced, names: {plural: shells, kind: Shell}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {template: {type: object,
		x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}`))
	const shell = "{apiVersion: causes.example.com/v1, kind: Shell, metadata: {name: a}, spec: {template: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, %s}}}}"
	c.apply(t, manifest(t, shell, "finalizers: [], labels: {a: null}"))
	require.Equal(t, reason+"spec.template.metadata.finalizers, and replace null by the value that is stored in spec.template.metadata.labels.a",
		c.plan(t, ssaplan.Request{Manifest: manifest(t, shell, "finalizers: [], labels: {a: null}")}).Reason)
	c.apply(t, manifest(t, shell, "labels: {a: ''}"))
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: manifest(t, shell, "labels: {a: ''}")}).Action)
}

// What the server stores otherwise than it was sent is in the plan, also if nothing is written.
func TestValuesThatTheServerOverrides(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {%s containers: [{name: a, image: "a:1", resources: {requests: {cpu: 1000m}}}]}}}}`
	c.apply(t, manifest(t, deployment, "serviceAccount: one,"))
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, deployment, "serviceAccount: two,")})
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	require.Equal(t, []foreign.Text{`spec.template.spec.serviceAccount: the server stores another value: "one"`}, plan.Warnings)

	c.apply(t, manifest(t, deployment, "serviceAccountName: one,"))
	plan = c.plan(t, ssaplan.Request{Manifest: manifest(t, deployment, "")})
	require.Len(t, plan.Dropped, 1)
	require.Equal(t, `spec.template.spec.serviceAccountName: keeps "one", without an owner`, plan.Dropped[0].String())

	plan = c.plan(t, ssaplan.Request{Manifest: manifest(t,
		"{apiVersion: v1, kind: Namespace, metadata: {name: overridden, labels: {kubernetes.io/metadata.name: prod}}}")})
	require.Equal(t, []foreign.Text{`metadata.labels["kubernetes.io/metadata.name"]: the server stores another value: "overridden"`}, plan.Warnings)

	plan = c.plan(t, ssaplan.Request{Manifest: manifest(t,
		"{apiVersion: v1, kind: Namespace, metadata: {name: %s}, spec: {finalizers: [kubernetes, example.com/x]}}", c.Namespace)})
	require.Equal(t, []foreign.Text{`spec.finalizers: the server stores another value: ["kubernetes"]`}, plan.Warnings)
}

// A CertificateSigningRequest is stored, but no manager is recorded for its spec.
func TestSpecWithoutAnOwner(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const signing = `{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: unrecorded},
		spec: {request: %q, signerName: example.com/signer, usages: [client auth], expirationSeconds: %d}}`
	request := signingRequest(t)
	t.Cleanup(func() { c.Delete(t, manifest(t, signing, request, 3600)) })
	const stored = "spec: the server stores this without recording an owner: later edits of it aren't compared"
	require.Equal(t, []foreign.Text{stored}, c.plan(t, ssaplan.Request{Manifest: manifest(t, signing, request, 3600)}).Warnings)
	c.apply(t, manifest(t, signing, request, 3600))
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, signing, request, 7200)})
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	require.Equal(t, []foreign.Text{"spec: " + onlyAtCreate}, plan.Warnings)
}

const onlyAtCreate = "the server takes this only from the manifest of a new object: this one keeps what it has"

// TestStatusOfANewObject sends the status where a server stores it in a new object, which of the kinds that Kubernetes
// brings it does for a Node and, before 1.36, for a ServiceCIDR.
func TestStatusOfANewObject(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, row := range []struct{ object, status, edited string }{
		{"{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {a: b}}, status: %s}", "{capacity: {cpu: '4'}}", "{capacity: {cpu: '8'}}"},
		{
			"{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: %s}, spec: {cidrs: [198.51.100.0/24]}, status: %s}",
			"{conditions: [{type: Ready, status: 'False', reason: a, message: b, lastTransitionTime: '2020-01-01T00:00:00Z'}]}", "{conditions: []}",
		},
		{"{apiVersion: v1, kind: ReplicationController, metadata: {name: %s}, spec: {selector: {a: b}, replicas: 0, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}, status: %s}", "{replicas: 3}", "{replicas: 4}"},
	} {
		raw := manifest(t, row.object, "status-raw", row.status)
		stored := c.Apply(t, manager, raw)
		t.Cleanup(func() { c.Delete(t, raw) })
		ours := manifest(t, row.object, "status-ours", row.status)
		plan := c.plan(t, ssaplan.Request{Manifest: ours})
		made, err := c.planner.Apply(lab.Context(t), plan)
		require.NoError(t, err)
		t.Cleanup(func() { c.Delete(t, ours) })
		require.Equal(t, stored.Object["status"], made.Object["status"])
		require.Equal(t, alike(t, plan.Result()), alike(t, made))
		again := c.plan(t, ssaplan.Request{Manifest: ours})
		require.Equal(t, ssaplan.ActionNoOp, again.Action, "%s %s", again.Object, again.Reason)
		edited := c.plan(t, ssaplan.Request{Manifest: manifest(t, row.object, "status-ours", row.edited)})
		require.Equal(t, ssaplan.ActionNoOp, edited.Action, "%s %s", edited.Object, edited.Reason)
		if ours.GetKind() == "Node" {
			require.Equal(t, []foreign.Text{"status: the server stores this without recording an owner: later edits of it aren't compared"}, plan.Warnings)
			require.Equal(t, []foreign.Text{"status: " + onlyAtCreate}, edited.Warnings)
		}
	}
}

// signingRequest returns a certificate signing request in PEM, encoded for a manifest.
func signingRequest(t *testing.T) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "a"}}, key)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}
