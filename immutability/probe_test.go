package immutability_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// fake answers a create and an update, and keeps what it was sent. If it has a judge, the judge answers updates.
type fake struct {
	createErr, updateErr error
	updated              *unstructured.Unstructured
	judge                func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error)

	created, replaced *unstructured.Unstructured
	createOptions     metav1.CreateOptions
	updateOptions     metav1.UpdateOptions
	updates           int
	accepted          *unstructured.Unstructured // by the judge
}

func (f *fake) Create(_ context.Context, obj *unstructured.Unstructured, o metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	f.created, f.createOptions = obj, o
	return obj, f.createErr
}

func (f *fake) Update(_ context.Context, obj *unstructured.Unstructured, o metav1.UpdateOptions, _ ...string) (*unstructured.Unstructured, error) {
	f.replaced, f.updateOptions = obj, o
	f.updates++
	if f.judge == nil {
		return f.updated, f.updateErr
	}
	updated, err := f.judge(obj)
	if err == nil {
		f.accepted = obj
	}
	return updated, err
}

// refusing returns a server that refuses updates with one of the texts, as it refused the apply. It expects dry runs of
// the live object.
func refusing(refusal error, texts ...string) *fake {
	server := &fake{createErr: exists()}
	server.judge = func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		sent, _ := obj.MarshalJSON()
		for _, text := range texts {
			if strings.Contains(string(sent), text) {
				return nil, refusal
			}
		}
		if obj.GetUID() != "u" || obj.GetResourceVersion() != "7" || len(server.updateOptions.DryRun) != 1 {
			return nil, errors.New("not a dry run of the live object")
		}
		return obj, nil
	}
	return server
}

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

var widgets = schema.GroupResource{Group: "example.com", Resource: "widgets"}

func exists() error { return apierrors.NewAlreadyExists(widgets, "x") }

func status(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Group: "example.com", Kind: "widgets", Name: "x"},
	}}
}

func forbids(rest string) error {
	return status(http.StatusForbidden, metav1.StatusReasonForbidden, `widgets.example.com "x" is forbidden: `+rest)
}

// The verdicts that the probe starts from.
var (
	fixed   = because("spec.a", invalidValue, `Invalid value: "b": stays as it is`)
	unknown = refused("example.com", "Widget", fixed)
	proven  = refused("apps", "Deployment", selector)
	partly  = refused("scheduling.k8s.io", "PriorityClass", because("value", forbidden, "Forbidden: may not be changed in an update."))
	left    = refused("apps", "Deployment", leftover)
)

// fixedRules are those behind the refusals of spec.a and spec.b.
const fixedRules = `{properties: {
  a: {x-kubernetes-validations: [{rule: self == oldSelf, message: stays as it is}]},
  b: {x-kubernetes-validations: [{rule: self == oldSelf, message: something else}],
    properties: {c: {x-kubernetes-validations: [{rule: self == oldSelf, message: something else}]}}}}}`

// What a part of a manifest is refused for can be the part that is missing, which is no reason to replace anything.
func TestProbeOfPart(t *testing.T) {
	other := refused("apps", "Deployment", because("spec.b", invalidValue, `Invalid value: "c": something else`))
	noDryRun := status(400, metav1.StatusReasonBadRequest, `admission webhook "w" does not support dry run`)
	for _, row := range []struct {
		why                            string
		refusal, create, update, whole error
		replaceable                    bool
		requests                       int
	}{
		{"the whole is refused alike", proven, exists(), nil, proven, true, 2},
		{"the whole is refused for that and more", proven, exists(), nil, refused("apps", "Deployment", selector, leftover), true, 2},
		{"the whole is accepted", proven, exists(), nil, nil, false, 2},
		{"the whole is refused otherwise", proven, exists(), nil, other, false, 2},
		{"the whole can't be tried", proven, exists(), nil, forbids("no"), false, 2},
		{"the create can't be tried, and the whole is accepted", proven, noDryRun, nil, nil, false, 2},
		{"the create can't be tried, and the whole is refused alike", proven, noDryRun, nil, proven, true, 2},
		{"an update is refused, and the whole is accepted", refused("apps", "Deployment", leftover, selector), exists(), proven, nil, false, 3},
	} {
		t.Run(row.why, func(t *testing.T) {
			manifest := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {a: 1}}`)
			live := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, resourceVersion: "1"}, spec: {a: 2}}`)
			server := &fake{createErr: row.create, updateErr: row.update, updated: live}
			options := immutability.ProbeOptions{Apply: func(context.Context) error { return row.whole }}
			verdict := immutability.Probe(t.Context(), server, manifest, live, immutability.Classify(row.refusal), options)
			require.Equal(t, row.replaceable, verdict.Replaceable(), verdict)
			require.Equal(t, row.requests, verdict.Evidence.Requests)
			require.Equal(t, row.replaceable, len(verdict.Hazards) > 0)
			require.Contains(t, verdict.Evidence.String(), "dry-run apply of the whole manifest: ")
		})
	}
}

// A field that is refused though the manifest doesn't change it is no reason to replace anything.
func TestProbeOfWhatStays(t *testing.T) {
	for _, row := range []struct {
		why, manifest string
		replaceable   bool
	}{
		{"the value that it has", `{matchLabels: {app: b}}`, false},
		{"another one", `{matchLabels: {app: c}}`, true},
		{"less than it has", `{}`, true},
		{"null", `null`, true},
	} {
		manifest := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {selector: `+row.manifest+`}}`)
		live := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, resourceVersion: "1"}, spec: {selector: {matchLabels: {app: b}}}}`)
		verdict := immutability.Probe(t.Context(), &fake{createErr: exists()}, manifest, live, immutability.Classify(proven), immutability.ProbeOptions{})
		require.Equal(t, row.replaceable, verdict.Replaceable(), row.why)
		require.Equal(t, row.replaceable, verdict.Uncertain == "", row.why)
	}
}

func TestProbe(t *testing.T) {
	undecidable := because("spec.b", invalidValue, `Invalid value: "c": something else`)
	deep := status(409, metav1.StatusReasonAlreadyExists, `object is being deleted: widgets.example.com "x" already exists`)
	proxy := apierrors.NewGenericServerResponse(409, "POST", widgets, "x", "<html>", 0, true)
	impostor := status(409, metav1.StatusReasonAlreadyExists, `admission webhook "w" denied the request: widgets.example.com "x" already exists`)
	tests := []struct {
		name           string
		refusal        error
		create, update error
		kind           immutability.Refusal
		replaceable    bool
		requests       int
		evidence       string // a part of it
		why            string
	}{
		{"free text, valid, update refused too", unknown, exists(), unknown, immutability.RefusalImmutable, true, 3, "dry-run create: valid; dry-run update: invalid", "only the change is refused"},
		{"free text, valid, update accepted", unknown, exists(), nil, immutability.RefusalMergeLeftover, false, 3, "dry-run update: valid", "the whole manifest can replace the object in place; the field that it drops is tried"},
		{"free text, invalid in itself", unknown, unknown, nil, immutability.RefusalInvalid, false, 1, "dry-run create: invalid", "a create fails too"},
		{"free text, update refused for another reason", unknown, exists(), refused("example.com", "Widget", undecidable), immutability.RefusalImmutable, false, 4, "dry-run update that keeps what others set: invalid", "the first reason may have been a leftover"},
		{"free text, object changed meanwhile", unknown, exists(), apierrors.NewConflict(widgets, "x", errors.New("modified")), immutability.RefusalImmutable, false, 3, "dry-run update: no answer", "the answer is about another object"},
		{"free text, no right to update", unknown, exists(), forbids(`User "jane" cannot update resource "widgets"`), immutability.RefusalImmutable, false, 3, "dry-run update: refused", "patch is another right"},
		{"free text, update denied by policy", unknown, exists(), forbids("ValidatingAdmissionPolicy 'p' denied request: no"), immutability.RefusalImmutable, false, 3, "dry-run update: refused", "admission says nothing of fields"},

		{"proven, valid", proven, exists(), nil, immutability.RefusalImmutable, true, 1, "texts: field is immutable; dry-run create: valid", "an update can't do what no update can"},
		{"proven, but invalid in itself", proven, refused("apps", "Deployment", replicas), nil, immutability.RefusalInvalid, false, 1, "dry-run create: invalid", "the server outranks the texts"},
		{"partly checked, valid", partly, exists(), nil, immutability.RefusalImmutable, true, 1, "dry-run create: valid", "the create ran the other checks"},
		{"partly checked, invalid", partly, refused("scheduling.k8s.io", "PriorityClass", because("value", forbidden, "Forbidden: maximum allowed value of a user defined priority is 1000000000")), nil,
			immutability.RefusalInvalid, false, 1, "dry-run create: invalid", "the update hid it"},
		{"leftover", left, exists(), nil, immutability.RefusalMergeLeftover, false, 3, "dry-run update: valid", "the texts were right; the field that it drops has nothing to do with them, and is tried"},
		{"leftover's text, both given", left, left, nil, immutability.RefusalInvalid, false, 1, "dry-run create: invalid", "the manifest has both fields"},
		{"leftover, and the update fails otherwise", left, exists(), refused("apps", "Deployment", undecidable), immutability.RefusalMergeLeftover, false, 3, "dry-run update: invalid", "the text is known"},
		{"leftover and immutable", refused("apps", "Deployment", leftover, selector), exists(), proven, immutability.RefusalImmutable, true, 2, "dry-run update: invalid", "without the leftover it would be refused still"},

		{"being deleted", proven, deep, nil, immutability.RefusalImmutable, true, 1, "dry-run create: valid", "it exists as long as it is being deleted"},
		{"gone", proven, nil, nil, immutability.RefusalImmutable, true, 1, "no answer (there is no such object any more)", "the texts are all there is"},
		{"gone, free text", unknown, nil, nil, immutability.RefusalInvalid, false, 1, "no answer", "nothing is proven"},

		{"no right to create", proven, forbids(`User "jane" cannot create resource "widgets"`), nil, immutability.RefusalImmutable, false, 1, "refused", "after the delete there would be nothing"},
		{"no right to create, free text", unknown, forbids(`User "jane" cannot create resource "widgets"`), nil, immutability.RefusalInvalid, false, 1, "refused", "nothing is proven"},
		{"escalation", proven, forbids(`user "jane" (groups=["a"]) is attempting to grant RBAC permissions not currently held`), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail"},
		{"terminating namespace", proven, forbids("unable to create new content in namespace n because it is being terminated"), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail"},
		{"missing namespace", proven, status(404, metav1.StatusReasonNotFound, `namespaces "n" not found`), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail"},
		{"pod security", proven, forbids(`violates PodSecurity "restricted:latest": …`), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail"},
		{"webhook denies", proven, status(400, "", `admission webhook "w" denied the request: no`), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail"},
		{"webhook claims that it exists", unknown, impostor, unknown, immutability.RefusalInvalid, false, 1, "refused", "the word of a webhook isn't the server's"},
		{"webhook forges a 422", proven, status(422, metav1.StatusReasonInvalid, `admission webhook "w" denied the request: no`), nil, immutability.RefusalImmutable, false, 1, "refused", "the manifest may be valid"},
		{"webhook unreachable", proven, status(500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "w": connection refused`), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail as long as it is down"},
		{"webhook can't dry-run", proven, status(400, metav1.StatusReasonBadRequest, `admission webhook "w" does not support dry run`), nil, immutability.RefusalImmutable, true, 1, "no answer", "the texts are all there is"},
		{"malformed", proven, status(400, metav1.StatusReasonBadRequest, "the object provided is unrecognized"), nil, immutability.RefusalImmutable, false, 1, "refused", "the create would fail"},
		{"method not allowed", proven, status(405, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method"), nil, immutability.RefusalImmutable, false, 1, "refused", "such objects can't be created"},
		{"unknown field", proven, status(400, metav1.StatusReasonBadRequest, `strict decoding error: unknown field "spec.x"`), nil, immutability.RefusalInvalid, false, 1, "dry-run create: invalid", "an apply wouldn't accept the manifest"},

		{"quota counts objects", unknown, forbids("exceeded quota: q, requested: count/widgets.example.com=1, used: count/widgets.example.com=5, limited: count/widgets.example.com=5"), unknown,
			immutability.RefusalImmutable, true, 3, "dry-run create: valid (the quota is full, and the delete makes room)", "it is the last check, and the delete frees one"},
		{"quota lowered below use", unknown, forbids("exceeded quota: q, requested: count/widgets.example.com=1, used: count/widgets.example.com=6, limited: count/widgets.example.com=5"), unknown,
			immutability.RefusalInvalid, false, 1, "refused", "one less is still too many"},
		{"quota of something else", unknown, forbids("exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=5, limited: requests.cpu=5"), unknown,
			immutability.RefusalInvalid, false, 1, "refused", "what the delete frees isn't known"},
		{"quota of both", unknown, forbids("exceeded quota: q, requested: count/widgets.example.com=1,requests.cpu=1, used: count/widgets.example.com=5,requests.cpu=5, limited: count/widgets.example.com=5,requests.cpu=5"), unknown,
			immutability.RefusalInvalid, false, 1, "refused", "what the delete frees isn't known"},
		{"quota unreadable", unknown, forbids("exceeded quota: q, requested: count/widgets.example.com=one, used: a=1, limited: a=1"), unknown,
			immutability.RefusalInvalid, false, 1, "refused", "nothing is read into it"},

		{"timeout", proven, context.DeadlineExceeded, nil, immutability.RefusalImmutable, true, 1, "no answer (context deadline exceeded)", "the texts are all there is"},
		{"timeout, free text", unknown, context.DeadlineExceeded, nil, immutability.RefusalInvalid, false, 1, "no answer", "never a replacement on a guess"},
		{"timeout, partly checked", partly, context.DeadlineExceeded, nil, immutability.RefusalImmutable, false, 1, "no answer", "never a replacement on a guess"},
		{"internal error", unknown, status(500, metav1.StatusReasonInternalError, "Internal error occurred: etcd"), nil, immutability.RefusalInvalid, false, 1, "no answer", "never a replacement on a guess"},
		{"throttled", unknown, status(429, metav1.StatusReasonTooManyRequests, "slow down"), nil, immutability.RefusalInvalid, false, 1, "no answer", "never a replacement on a guess"},
		{"conflict on the quota", unknown, status(409, metav1.StatusReasonConflict, "Operation cannot be fulfilled on resourcequotas"), nil, immutability.RefusalInvalid, false, 1, "no answer", "not that the object exists"},
		{"proxy's 409", unknown, proxy, unknown, immutability.RefusalInvalid, false, 1, "no answer", "client-go calls every 409 to a POST AlreadyExists"},
		{"another object exists", unknown, apierrors.NewAlreadyExists(widgets, "y"), unknown, immutability.RefusalInvalid, false, 1, "no answer", "the answer is about another object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			manifest := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}, spec: {a: b}}`)
			live := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, uid: u, resourceVersion: "7"}, spec: {a: a, old: 1}}`)
			server := &fake{createErr: tt.create, updateErr: tt.update, updated: manifest}
			got := immutability.Probe(context.Background(), server, manifest, live, immutability.Classify(tt.refusal),
				immutability.ProbeOptions{Definitions: defined(t, fixedRules)})
			assert.Equal(t, tt.kind, got.Refusal, tt.why)
			assert.Equal(t, tt.replaceable, got.Replaceable(), tt.why)
			assert.Equal(t, tt.requests, got.Evidence.Requests)
			assert.Contains(t, got.Evidence.String(), tt.evidence)
			assert.Equal(t, tt.replaceable, len(got.Hazards) > 0, "hazards are those of a replacement")
			if got.Refusal == immutability.RefusalImmutable && !got.Replaceable() {
				assert.NotEmpty(t, got.Uncertain, "the user is told why not")
			}
		})
	}
}

func TestProbeAsksOnlyWhereItMatters(t *testing.T) {
	for name, err := range map[string]error{
		"nothing refused": nil,
		"metadata":        refused("apps", "Deployment", staleUID),
		"directional":     refused("", "PersistentVolumeClaim", shrinking),
		"denied":          status(400, "", `admission webhook "w" denied the request: no`),
		"bound to name":   refused("apiextensions.k8s.io", "CustomResourceDefinition", because("spec.group", invalidValue, `Invalid value: "b": field is immutable`)),
	} {
		verdict := immutability.Classify(err)
		obj := object(t, `{kind: A}`)
		got := immutability.Probe(context.Background(), &fake{}, obj, obj, verdict, immutability.ProbeOptions{})
		assert.Equal(t, verdict.Locate(obj, obj, projection.FieldSet{}), got, name)
	}
}

func TestProbeKeepsOneWayRules(t *testing.T) {
	mixed := refused("", "PersistentVolumeClaim", shrinking, because("spec.new", invalidValue, `Invalid value: "b": unheard of`))
	claim := object(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}}`)
	server := &fake{createErr: exists(), updateErr: mixed}
	got := immutability.Probe(context.Background(), server, claim, claim, immutability.Classify(mixed), immutability.ProbeOptions{})
	assert.Equal(t, immutability.RefusalDirectional, got.Refusal, "the rest is valid, so this is what remains")
	assert.False(t, got.Replaceable())
	assert.Nil(t, server.replaced, "no further request")
}

// A rule of a newer server for kinds that hold data may be one that protects them.
func TestProbeLeavesUnknownRulesForDataToTheUser(t *testing.T) {
	for _, manifest := range []string{
		`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}}`,
		`{apiVersion: v1, kind: PersistentVolume, metadata: {name: x}}`,
		`{apiVersion: v1, kind: Namespace, metadata: {name: x}}`,
		`{apiVersion: v1, kind: Node, metadata: {name: x}}`,
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}`,
	} {
		obj := object(t, manifest)
		unheard := refused(obj.GroupVersionKind().Group, obj.GetKind(), because("spec.new", invalidValue, `Invalid value: "b": unheard of`))
		for name, live := range map[string]*unstructured.Unstructured{"live": obj, "live of a typed client": object(t, `{metadata: {name: x}}`), "no live": nil} {
			server := &fake{createErr: exists(), updateErr: unheard}
			got := immutability.Probe(context.Background(), server, obj, live, immutability.Classify(unheard), immutability.ProbeOptions{})
			assert.Equal(t, immutability.RefusalImmutable, got.Refusal, "%s: %s", name, manifest)
			assert.False(t, got.Replaceable(), "%s: %s", name, manifest)
			assert.Contains(t, got.Uncertain, "protects data", "%s: %s", name, manifest)
		}
	}
}

// An object that a typed client has read bears neither apiVersion nor kind.
func TestProbeTakesHazardsFromTheManifestsKind(t *testing.T) {
	fixed := refused("", "PersistentVolumeClaim", because("spec", forbidden,
		"Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"))
	claim := object(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}}`)
	for name, live := range map[string]*unstructured.Unstructured{
		"live":                   object(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, spec: {volumeName: pv-7}}`),
		"live of a typed client": object(t, `{metadata: {name: x}, spec: {volumeName: pv-7}}`),
	} {
		got := immutability.Probe(context.Background(), &fake{createErr: exists()}, claim, live, immutability.Classify(fixed), immutability.ProbeOptions{})
		require.True(t, got.Replaceable(), "%s: %s", name, got.Uncertain)
		require.Len(t, got.Hazards, 1, name)
		assert.Equal(t, immutability.HazardData, got.Hazards[0].Kind, name)
	}
	claim.SetUID("u")
	for _, live := range []*unstructured.Unstructured{claim, nil} {
		got := immutability.Probe(context.Background(), &fake{createErr: exists()}, claim, live, immutability.Classify(fixed),
			immutability.ProbeOptions{Propagation: metav1.DeletePropagationForeground})
		require.Len(t, got.Hazards, 2)
		assert.Equal(t, immutability.HazardBlocked, got.Hazards[0].Kind, "dependents follow from the policy")
	}
	namespace := object(t, `{apiVersion: v1, kind: Namespace, metadata: {name: prod}}`)
	got := immutability.Probe(context.Background(), &fake{createErr: exists()}, namespace, nil, immutability.Classify(proven), immutability.ProbeOptions{})
	require.True(t, got.Replaceable())
	assert.Equal(t, []immutability.Hazard{{Kind: immutability.HazardContents, Message: "everything inside namespace prod is deleted with it"}}, got.Hazards,
		"without a live object the manifest tells what it can")
}

func TestProbeRequests(t *testing.T) {
	manifest := object(t, `
apiVersion: v1
kind: Service
metadata: {name: x, uid: stale, resourceVersion: "3", managedFields: []}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  healthCheckNodePort: 31001
  ports: [{port: 1, nodePort: 31000}, {port: 2, nodePort: 31005}, {port: 3}]
`)
	live := object(t, `
apiVersion: v1
kind: Service
metadata: {name: x, uid: u, resourceVersion: "7"}
spec:
  healthCheckNodePort: 31001
  ports: [{port: 2, nodePort: 31000}]
`)
	before, liveBefore := manifest.DeepCopy(), live.DeepCopy()
	server := &fake{createErr: exists(), updated: manifest}
	immutability.Probe(context.Background(), server, manifest, live, immutability.Classify(unknown), immutability.ProbeOptions{FieldManager: "me"})

	assert.Equal(t, before, manifest, "inputs are left alone")
	assert.Equal(t, liveBefore, live, "inputs are left alone")
	assert.Equal(t, object(t, `
apiVersion: v1
kind: Service
metadata: {name: x}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  ports: [{port: 1}, {port: 2, nodePort: 31005}, {port: 3}]
`), server.created, "what the live object holds is free after the delete; other ports have to be free now")
	assert.Equal(t, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"}, server.createOptions)

	assert.Equal(t, "7", server.replaced.GetResourceVersion(), "custom resources need it")
	assert.Equal(t, "u", string(server.replaced.GetUID()), "not a successor")
	ports, _, _ := unstructured.NestedSlice(server.replaced.Object, "spec", "ports")
	assert.Len(t, ports, 3)
	assert.Equal(t, int64(31000), int64(ports[0].(map[string]any)["nodePort"].(float64)), "an update keeps its own ports")
	assert.Equal(t, metav1.UpdateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"}, server.updateOptions)
}

func texts(paths []projection.Path) []string {
	var all []string
	for _, p := range paths {
		all = append(all, p.String())
	}
	return all
}

func TestProbeNamesLeftovers(t *testing.T) {
	live := object(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: x
  annotations: {other: a}
  managedFields:
  - manager: me
    operation: Apply
    apiVersion: apps/v1
    fieldsV1:
      f:spec:
        f:template:
          f:spec:
            f:volumes: {'k:{"name":"a"}': {.: {}, f:name: {}}}
            f:parts: {'k:{"name":"q"}': {.: {}, f:name: {}}}
            f:ports: {'k:{"port":80,"protocol":"TCP"}': {.: {}, f:port: {}, f:protocol: {}}}
            f:words: {'v:"a"': {}}
            f:args: {}
spec:
  replicas: 3
  extra: {deep: {gone: [a]}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
  template:
    spec:
      volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}, {name: gone, emptyDir: {}}]
      list: [{x: 1, z: 2}]
      notes: {a/b: 1}
      hosts: [a, [b], c]
      same: [a, [b], c]
      parts: [{name: p}, {name: q}]
      ports: [{port: 80, protocol: UDP, name: one}, {port: 80, protocol: TCP, name: two}]
      words: [a, b]
      args: [a, b]
status: {replicas: 3}
`)
	updated := object(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: x}
spec:
  extra: {deep: {}}
  strategy: {type: Recreate}
  template:
    spec:
      volumes: [{name: b, emptyDir: {}}, {name: a, secret: {}}]
      list: [{x: 1}]
      notes: {}
      hosts: [[b], c]
      same: [a, [b], d, e]
      parts: [{name: q}]
      ports: [{port: 80, protocol: UDP}, {port: 80, protocol: TCP, name: two}]
      words: [b]
      args: [b]
`)
	volume := because("spec.template.spec.volumes[0].secret", forbidden, "Forbidden: may not specify more than 1 volume type")
	far := because("spec.other.thing", invalidValue, "Invalid value: 1: no")
	tests := []struct {
		name  string
		cause metav1.StatusCause
		want  []string
		why   string
	}{
		{"at the cause", leftover, []string{"spec.strategy.rollingUpdate"}, "the server names the leftover itself"},
		{"beside the cause", volume, []string{`spec.template.spec.volumes[name="a"].emptyDir`}, "the server names the manifest's field; elements are found by name"},
		{"below the cause", because("spec", invalidValue, "Invalid value: replicas don't go with it"), []string{"spec.replicas"}, "a rule on the parent"},
		{"nowhere near", far, []string{
			"spec.extra.deep.gone", "spec.replicas", "spec.strategy.rollingUpdate", "spec.template.spec.hosts", "spec.template.spec.list",
			`spec.template.spec.notes["a/b"]`, `spec.template.spec.parts[name="p"]`,
			`spec.template.spec.ports[port=80,protocol="UDP"].name`,
			`spec.template.spec.volumes[name="a"].emptyDir`, `spec.template.spec.volumes[name="gone"]`, `spec.template.spec.words[="a"]`,
		}, "all that an update drops, but neither metadata nor status, nor anything of an atomic list, which an apply sends as a whole"},
		{"in a list without a record", because("spec.template.spec.hosts[0]", invalidValue, "Invalid value: \"a\": no"), []string{"spec.template.spec.hosts"},
			"nobody's record names the items"},
		{"by several keys", because("spec.template.spec.ports[0]", invalidValue, "Invalid value: 80: has a name"),
			[]string{`spec.template.spec.ports[port=80,protocol="UDP"].name`}, "as the record names the items"},
		{"an element too many", because("spec.template.spec.parts", metav1.CauseTypeTooMany, "Too many: 2: must have at most 1 items"),
			[]string{`spec.template.spec.parts[name="p"]`}, "somebody else's element"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refusal := refused("apps", "Deployment", tt.cause)
			server := &fake{createErr: exists()}
			server.judge = func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
				if server.updates > 1 { // the first update is of the manifest alone, the others have what it drops
					return nil, refusal
				}
				return updated, nil
			}
			got := immutability.Probe(context.Background(), server, updated, live, immutability.Classify(refusal), immutability.ProbeOptions{})
			assert.Equal(t, immutability.RefusalMergeLeftover, got.Refusal)
			assert.Equal(t, tt.want, texts(got.Leftovers), tt.why)
			assert.Contains(t, got.Remedy, "remove "+tt.want[0])
			assert.Contains(t, got.Remedy, "(PUT)")
		})
	}
}

// mergeOnly returns a server that refuses an update without the name of the service, as immutable, and one with what an
// apply leaves behind, as it refused the apply.
func mergeOnly(refusal error) *fake {
	return &fake{createErr: exists(), judge: func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if _, found, _ := unstructured.NestedString(obj.Object, "spec", "serviceName"); !found {
			return nil, refused("apps", "StatefulSet", because("spec", forbidden, "Forbidden: updates to statefulset spec for fields other than 'replicas', 'template' are forbidden"))
		}
		text, _ := obj.MarshalJSON()
		if strings.Contains(string(text), "rolling") || strings.Contains(string(text), "emptyDir") {
			return nil, refusal
		}
		return obj, nil
	}}
}

// Of the fields that an update drops, those are in the way with which it is refused.
func TestProbeTriesLeftovers(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("f%02d: 1", i))
	}
	live := object(t, `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: x
  uid: u
  resourceVersion: "7"
  managedFields:
  - manager: me
    operation: Apply
    apiVersion: apps/v1
    fieldsV1: {f:spec: {f:ports: {'k:{"port":80}': {.: {}, f:port: {}}, 'k:{"port":81}': {.: {}, f:port: {}, f:name: {}}}}}
spec:
  a: culprit
  b: {x: innocent, z: culprit}
  c: {x: culprit, z: culprit}
  d: {x: culprit}
  e: {x: innocent, z: exit}
  deep: {f: culprit}
  ports: [{port: 80}, {port: 81, name: culprit}, {port: 82, name: innocent}]
  many: {`+strings.Join(many, ", ")+`}
`)
	manifest := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {deep: {}, ports: [{port: 80}], many: {}}}`)
	at := func(field string) error {
		return refused("apps", "Deployment", because(field, invalidValue, "Invalid value: 1: unheard of"))
	}
	for _, tt := range []struct {
		refusal error
		refused []string
		want    []string
		updates int
		why     string
	}{
		{at("spec.a"), []string{"culprit"}, []string{"spec.a", "spec.b.z", "spec.c", "spec.d"}, 10, "of a map the fields, unless all of them are"},
		{at("spec.ports[1].port"), []string{`"port":81`}, []string{`spec.ports[port=81]`}, 17, "an item by its key, which is tried before what has nothing to do with the cause"},
		{at("spec.deep.g"), []string{"culprit"}, []string{"spec.deep.f"}, 2, "one beside the cause"},
		{at("spec.deep.g"), []string{"exit"}, []string{"spec.e"}, 17, "what is beside the cause is innocent; no trial is left for what is in it"},
		{at("spec.many.g"), []string{"f03"}, []string{"spec.many.f03"}, 17, "no more than sixteen are tried"},
	} {
		server := refusing(tt.refusal, tt.refused...)
		got := immutability.Probe(context.Background(), server, manifest, live, immutability.Classify(tt.refusal), immutability.ProbeOptions{})
		require.Equal(t, immutability.RefusalMergeLeftover, got.Refusal, tt.why)
		assert.Equal(t, tt.want, texts(got.Leftovers), tt.why)
		assert.Equal(t, server.updates+1, got.Evidence.Requests, tt.why)
		if tt.updates > 0 {
			assert.Equal(t, tt.updates, server.updates, tt.why)
		}
		assert.Contains(t, got.Remedy, "remove "+tt.want[0])
		assert.Contains(t, got.Remedy, "(inside lists a strategic one), or update the object with the whole manifest (PUT)")
	}
}

// A field is named if the update is refused with it as the apply is, and not if it is near, or refused for itself.
func TestProbeNamesOnlyWhatIsInTheWay(t *testing.T) {
	live := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, uid: u, resourceVersion: "7"}, spec: {strategy: {type: Recreate}, far: {x: innocent, a: one, b: two}}}`
	manifest := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {strategy: {rollingUpdate: {}}, far: {}}}`
	updated := `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {strategy: {type: RollingUpdate, rollingUpdate: {}}, far: {}}}`
	for _, row := range []struct {
		why     string
		refusal func(spec string) error
		want    []string
	}{
		{"a default took the place of it", func(spec string) error {
			if strings.Contains(spec, "Recreate") {
				return left
			}
			return nil
		}, []string{"spec.strategy.type"}},
		{"only both together", func(spec string) error {
			if strings.Contains(spec, "one") && strings.Contains(spec, "two") {
				return left
			}
			return nil
		}, []string{"spec.far.a", "spec.far.b", "spec.far.x"}},
		{"it is refused for something else", func(spec string) error {
			if strings.Contains(spec, "Recreate") {
				return proven
			}
			return nil
		}, nil},
		{"nothing is refused", func(string) error { return nil }, nil},
	} {
		server := &fake{createErr: exists()}
		server.judge = func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return object(t, updated), row.refusal(fmt.Sprint(obj.Object["spec"]))
		}
		got := immutability.Probe(t.Context(), server, object(t, manifest), object(t, live), immutability.Classify(left), immutability.ProbeOptions{})
		require.Equal(t, immutability.RefusalMergeLeftover, got.Refusal, row.why)
		require.Equal(t, row.want, texts(got.Leftovers), row.why)
		if row.want == nil {
			require.Equal(t, answer.LeftoverRemedy, got.Remedy, row.why)
		}
	}
}

func TestProbeKnowsOneLeftoverByItsText(t *testing.T) {
	live := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, uid: u, resourceVersion: "7"}, spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`)
	manifest := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {strategy: {type: Recreate}}}`)
	got := immutability.Probe(context.Background(), refusing(nil), manifest, live, immutability.Classify(left), immutability.ProbeOptions{})
	assert.Equal(t, []string{"spec.strategy.rollingUpdate"}, texts(got.Leftovers))
	assert.Equal(t, 2, got.Evidence.Requests, "there is nothing to try")
}

func TestRemedyOfACustomResource(t *testing.T) {
	live := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, uid: u, resourceVersion: "7"}, spec: {a: a, old: 1}}`)
	manifest := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}, spec: {a: b}}`)
	got := immutability.Probe(context.Background(), refusing(unknown, "old"), manifest, live, immutability.Classify(unknown), immutability.ProbeOptions{})
	assert.Equal(t, "remove spec.old by a merge patch that makes the change as well (which has each list as a whole), "+
		"or update the object with the whole manifest (PUT), which also drops what others have set", got.Remedy)
}

func TestProbeKeepsWhatOthersSet(t *testing.T) {
	live := object(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: x
  uid: u
  resourceVersion: "7"
  managedFields:
  - {manager: me, operation: Apply, apiVersion: apps/v1, fieldsV1: {f:spec: {f:template: {f:spec: {f:volumes: {'k:{"name":"data"}': {f:name: {}}}}}}}}
spec: {serviceName: db, strategy: {type: A, rolling: {}}, map: {a: 1}, text: a, template: {spec: {volumes: [{name: data, emptyDir: {}}]}}}
`)
	manifest := object(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: x}
spec: {strategy: {type: B}, map: a, text: {a: 1}, template: {spec: {volumes: [{name: data, secret: {secretName: s}}]}}}
`)
	volume := because("spec.template.spec.volumes[0].secret", forbidden, "Forbidden: may not specify more than 1 volume type")
	strategy := because("spec.strategy.rolling", forbidden, "Forbidden: unheard of")
	refusal := refused("apps", "StatefulSet", volume, strategy)
	server := mergeOnly(refusal)
	got := immutability.Probe(context.Background(), server, manifest, live, immutability.Classify(refusal), immutability.ProbeOptions{})
	assert.Equal(t, immutability.RefusalMergeLeftover, got.Refusal)
	assert.Empty(t, got.Uncertain)
	assert.Equal(t, []string{"spec.strategy.rolling", `spec.template.spec.volumes[name="data"].emptyDir`}, texts(got.Leftovers))
	assert.Contains(t, got.Remedy, "remove spec.strategy.rolling and ")
	assert.Contains(t, got.Remedy, "merge patch")
	assert.NotContains(t, got.Remedy, "PUT", "which is refused")
	assert.Equal(t, object(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: x, uid: u, resourceVersion: "7"}
spec: {serviceName: db, strategy: {type: B}, map: a, text: {a: 1}, template: {spec: {volumes: [{name: data, secret: {secretName: s}}]}}}
`), server.accepted, "what others set stays, but lists and what is beside the causes are the manifest's")
}

func TestProbeWithoutLiveObject(t *testing.T) {
	server := &fake{createErr: exists(), updateErr: unknown}
	got := immutability.Probe(context.Background(), server, object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}}`), nil,
		immutability.Classify(unknown), immutability.ProbeOptions{Definitions: defined(t, fixedRules)})
	assert.True(t, got.Replaceable(), "the verdict needs only the answers")

	server.updateErr = refused("example.com", "Widget", because("spec.b", invalidValue, `Invalid value: "c": something else`))
	for name, live := range map[string]*unstructured.Unstructured{"nil": nil, "empty": {}} {
		got = immutability.Probe(context.Background(), server, object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}}`), live,
			immutability.Classify(unknown), immutability.ProbeOptions{Definitions: defined(t, fixedRules)})
		assert.False(t, got.Replaceable(), name)
		assert.NotEmpty(t, got.Uncertain, name)
		assert.Equal(t, 3, got.Evidence.Requests, "%s: there is nothing that a third update could keep", name)
	}
}

func TestProbeWithNobodyToAsk(t *testing.T) {
	verdict := immutability.Classify(unknown)
	widget := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}}`)
	assert.Equal(t, verdict.Locate(widget, widget, projection.FieldSet{}), immutability.Probe(context.Background(), nil, widget, widget, verdict, immutability.ProbeOptions{}))
	assert.Equal(t, verdict, immutability.Probe(context.Background(), &fake{}, nil, widget, verdict, immutability.ProbeOptions{}))
}

// The ports of a Service that the live object holds are left out, but only where they aren't wrong in themselves.
func TestProbeKeepsWrongPorts(t *testing.T) {
	live := object(t, `
apiVersion: v1
kind: Service
metadata: {name: x}
spec: {type: LoadBalancer, healthCheckNodePort: 31001, ports: [{port: 1, nodePort: 31000}]}
`)
	tests := rows.Read[struct{ Name, Spec, Sent, Why string }](t, "ports")
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			service := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: `+tt.Spec+`}`)
			server := &fake{createErr: exists(), updateErr: unknown}
			immutability.Probe(context.Background(), server, service, live, immutability.Classify(unknown), immutability.ProbeOptions{})
			assert.Equal(t, object(t, tt.Sent), &unstructured.Unstructured{Object: server.created.Object["spec"].(map[string]any)}, tt.Why)
		})
	}
}

// TestProbeFindsNothingLeft has updates that work, although nothing of the live object is missing in what they make.
func TestProbeFindsNothingLeft(t *testing.T) {
	set := object(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {serviceName: db, a: {size: 1}}}`)
	manifest := object(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {a: {size: 2}}}`)
	refusal := refused("apps", "StatefulSet", because("spec.a.size", forbidden, "Forbidden: unheard of"))
	got := immutability.Probe(context.Background(), mergeOnly(nil), manifest, set, immutability.Classify(refusal), immutability.ProbeOptions{})
	assert.Equal(t, immutability.RefusalMergeLeftover, got.Refusal)
	assert.Empty(t, got.Leftovers)
	assert.Equal(t, answer.MergeRemedy, got.Remedy)

	got = immutability.Probe(context.Background(), &fake{createErr: exists()}, manifest, set, immutability.Classify(refusal), immutability.ProbeOptions{})
	assert.Equal(t, immutability.RefusalMergeLeftover, got.Refusal, "the server accepts the update and answers no object")
	assert.Empty(t, got.Leftovers)
	assert.Equal(t, answer.LeftoverRemedy, got.Remedy)
}

// TestProbeOfAnotherRefusal has updates that are refused for another field than the apply, with and without what others
// have set.
func TestProbeOfAnotherRefusal(t *testing.T) {
	other := refused("example.com", "Widget", because("spec.b.c", invalidValue, `Invalid value: "c": something else`))
	const left = "the manifest is valid, but a field that the apply leaves behind may be in the way; "
	for _, tt := range []struct {
		kind, live, spec string
		update           error
		uncertain        string // "" for a replacement
		why              string
	}{
		{"Widget", `{b: {c: x}}`, `{b: {c: y}}`, other, "", "neither changes the field"},
		{"Widget", `{b: {c: 1}}`, `{b: {c: true}}`, other, "", "of whatever type"},
		{"Widget", `{b: {c: y}}`, `{b: {c: y}}`, other, left + "an update of the whole manifest is refused too, but for other reasons", "the manifest doesn't change it"},
		{"Widget", `{b: {}}`, `{b: {c: y}}`, other, left + "an update of the whole manifest is refused too, but for other reasons", "it may be set once"},
		{"Widget", `{b: {c: x}}`, `{b: {}}`, other, left + "an update of the whole manifest is refused too, but for other reasons", "the manifest doesn't have it"},
		{"Widget", `{b: x}`, `{b: {c: y}}`, other, left + "an update of the whole manifest is refused too, but for other reasons", "there is no such field"},
		{"Widget", `{b: {c: {d: 1}}}`, `{b: {c: {d: 2}}}`, other, left + "an update of the whole manifest is refused too, but for other reasons",
			"what of it is meant isn't known"},
		{"Widget", `{b: {c: x}}`, `{b: {c: y}}`, context.DeadlineExceeded, left + "the dry-run update was not answered: context deadline exceeded", "no answer"},
		{"Node", `{b: {c: x}}`, `{b: {c: y}}`, other, left + "an update of the whole manifest is refused too, but for other reasons", "the rule may protect what it holds"},
	} {
		group := "example.com/v1"
		if tt.kind == "Node" {
			group = "v1"
		}
		live := object(t, `{apiVersion: `+group+`, kind: `+tt.kind+`, metadata: {name: x}, spec: `+tt.live+`}`)
		manifest := object(t, `{apiVersion: `+group+`, kind: `+tt.kind+`, metadata: {name: x}, spec: `+tt.spec+`}`)
		got := immutability.Probe(context.Background(), &fake{createErr: exists(), updateErr: tt.update}, manifest, live, immutability.Classify(unknown),
			immutability.ProbeOptions{Definitions: defined(t, fixedRules)})
		assert.Equal(t, immutability.RefusalImmutable, got.Refusal, tt.why)
		assert.Equal(t, tt.uncertain == "", got.Replaceable(), tt.why)
		assert.Equal(t, tt.uncertain, got.Uncertain, tt.why)
		if got.Replaceable() {
			require.Len(t, got.Fields, 2, tt.why)
			assert.Equal(t, "spec.b.c", got.Fields[0].Name(), "the field that can't change comes first")
		}
	}
}

func TestProbeKeepsWhatTheServerAnswered(t *testing.T) {
	widget := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}}`)
	internal := status(500, metav1.StatusReasonInternalError, "Internal error occurred: etcd")
	for _, tt := range []struct {
		create       error
		message, err string
		why          string
	}{
		{internal, "Internal error occurred: etcd", "Internal error occurred: etcd", "the whole error stays reachable"},
		{nil, "there is no such object any more", "there is no such object any more", "there is an error even if the server gave none"},
		{exists(), "", "", "an answer is no error"},
		{status(404, "", strings.Repeat("a", 300)), strings.Repeat("a", 300), "", "as long as it may be"},
		{status(404, "", strings.Repeat("a", 299)+"éé"), strings.Repeat("a", 299) + "…", "", "shortened between two characters"},
	} {
		got := immutability.Probe(context.Background(), &fake{createErr: tt.create, updateErr: unknown}, widget, widget, immutability.Classify(unknown), immutability.ProbeOptions{})
		assert.Equal(t, foreign.Text(tt.message), got.Evidence.Create.Message, tt.why)
		if tt.err == "" {
			assert.NoError(t, got.Evidence.Create.Err, tt.why)
		} else {
			assert.EqualError(t, got.Evidence.Create.Err, tt.err, tt.why)
		}
	}
}

// A create leaves nulls out that an apply keeps, so what it says of a manifest with such a null proves nothing.
func TestNullsAreNoReasonToReplace(t *testing.T) {
	live := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, uid: u, resourceVersion: "7"}, spec: {driver: a}}`)
	ofNull := because("spec.parameters.A_B", metav1.CauseTypeTypeInvalid, `Invalid value: "null": spec.parameters.A_B in body must be of type string: "null"`)
	ofNumber := because("spec.parameters.A_B", metav1.CauseTypeTypeInvalid, `Invalid value: "integer": spec.parameters.A_B in body must be of type string: "integer"`)
	unchecked := because("<nil>", invalidValue, "Invalid value: null: some validation rules were not checked because the object was invalid")
	for _, row := range []struct {
		why, parameters string
		refusal         error
		want            immutability.Refusal
		requests        int
	}{
		{"the manifest has the null", "{A_B: null}", refused("example.com", "Widget", ofNull, unchecked), immutability.RefusalInvalid, 0},
		{"in an item", "[{B: x}, {A_B: null}]", refused("example.com", "Widget", unchecked, ofNull), immutability.RefusalInvalid, 0},
		{"another null than the manifest has", "{C: null}", refused("example.com", "Widget", ofNull), immutability.RefusalMergeLeftover, 2},
		{"it is something that the apply left behind", "{B: x}", refused("example.com", "Widget", ofNull, unchecked), immutability.RefusalMergeLeftover, 2},
		{"the manifest has a text there", "{A_B: x}", refused("example.com", "Widget", ofNull, unchecked), immutability.RefusalMergeLeftover, 2},
		{"another type is wrong, of which the create tells", "{A_B: null}", refused("example.com", "Widget", ofNumber), immutability.RefusalMergeLeftover, 2},
	} {
		manifest := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}, spec: {driver: b, parameters: `+row.parameters+`}}`)
		server := &fake{createErr: exists(), updated: manifest}
		got := immutability.Probe(t.Context(), server, manifest, live, immutability.Classify(row.refusal), immutability.ProbeOptions{})
		assert.Equal(t, row.want, got.Refusal, row.why)
		assert.Equal(t, row.requests, got.Evidence.Requests, row.why)
	}
}
