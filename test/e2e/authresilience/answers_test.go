package authresilience_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
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
	"sigs.k8s.io/yaml"

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
	Why   string               `json:"why"`
	Want  authresilience.Class `json:"want"`
	Setup string               `json:"setup"`
	// Status is what a controller would write that isn't running here.
	Status struct{ Resource, Namespace, Name, Body string } `json:"status"`

	// One of these is sent, or else what sends has.
	Manifest string                                         `json:"manifest"` // which is applied as a dry run
	Create   string                                         `json:"create"`   // which is created
	Raw      struct{ To, Body, Manager, Validation string } `json:"raw"`      // for a ConfigMap in the namespace default, as it is

	Validation string `json:"validation"` // of Create
}

// sends has what takes more than a manifest.
var sends = map[string]func(t *testing.T, f *fixture) error{
	"a namespace that is being deleted": func(t *testing.T, f *fixture) error {
		_ = f.kube.CoreV1().Namespaces().Delete(context.Background(), "going", metav1.DeleteOptions{}) // the first time
		return f.apply(t, f.actor, lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: going}}"), metav1.DryRunAll)
	},
	"a namespace that may not be deleted": func(_ *testing.T, f *fixture) error {
		return f.kube.CoreV1().Namespaces().Delete(context.Background(), "kube-system", metav1.DeleteOptions{})
	},
	"a conversion webhook that is down, when applying": func(t *testing.T, f *fixture) error {
		return f.apply(t, f.actor, lab.Object(t, "{apiVersion: conv.ex.io/v2, kind: Gadget, metadata: {name: g, namespace: default}, spec: {a: 1}}"))
	},
	"a conversion webhook that is down, when reading": func(t *testing.T, f *fixture) error {
		require.NoError(t, f.apply(t, f.actor, lab.Object(t, "{apiVersion: conv.ex.io/v1, kind: Gadget, metadata: {name: h, namespace: default}, spec: {a: 1}}")))
		return f.read("conv.ex.io", "v2", "gadgets", "default", "h")
	},
	"no such object": func(_ *testing.T, f *fixture) error { return f.get("default") },
	"no such object, in a namespace that isn't there": func(_ *testing.T, f *fixture) error { return f.get("missing") },
	"no such namespace, when reading it":              func(_ *testing.T, f *fixture) error { return f.read("", "v1", "namespaces", "", "missing") },
	"a type that isn't served":                        func(_ *testing.T, f *fixture) error { return f.read("absent.ex.io", "v1", "widgets", "", "x") },
	"a version that isn't served":                     func(_ *testing.T, f *fixture) error { return f.read("apps", "v1beta1", "deployments", "default", "x") },
	"another version than the address has": func(t *testing.T, f *fixture) error {
		obj := lab.Object(t, "{apiVersion: small.ex.io/v1, kind: Pebble, metadata: {name: q, namespace: default}}")
		_, err := f.Resource(t, obj).Patch(context.Background(), "q", types.ApplyPatchType,
			[]byte(`{"apiVersion":"small.ex.io/v2","kind":"Pebble","metadata":{"name":"q"}}`), metav1.PatchOptions{FieldManager: "m"})
		return err
	},
	"a body that is too large": func(_ *testing.T, f *fixture) error {
		return f.send("x", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"`+strings.Repeat("a", 4<<20)+`"}}`, metav1.PatchOptions{FieldManager: "m"})
	},
	"an object that is too large for etcd":                   func(t *testing.T, f *fixture) error { return f.applyBoulder(t, 1700<<10) },
	"an object that is too large for the connection to etcd": func(t *testing.T, f *fixture) error { return f.applyBoulder(t, 2<<20) },
}

// read reads an object.
func (f *fixture) read(group, version, resource, namespace, name string) error {
	_, err := f.Client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(namespace).
		Get(context.Background(), name, metav1.GetOptions{})
	return err
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

// TestAnswers shows every class that an answer of the server can have, credentials aside, and that none is survived.
func TestAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/answers.yaml")
	require.NoError(t, err)
	var answers []answer
	require.NoError(t, yaml.UnmarshalStrict(text, &answers))
	require.GreaterOrEqual(t, len(answers), 45)
	f := newFixture(t)
	for _, a := range answers {
		t.Run(a.Why, func(t *testing.T) { f.expect(t, a) })
	}
}

func (f *fixture) expect(t *testing.T, a answer) {
	if a.Setup != "" {
		f.setup(t, a.Setup)
	}
	if s := a.Status; s.Name != "" {
		_, err := f.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: s.Resource}).Namespace(s.Namespace).
			Patch(context.Background(), s.Name, types.MergePatchType, []byte(s.Body), metav1.PatchOptions{}, "status")
		require.NoError(t, err)
	}
	err := eventually(t, func() error {
		switch {
		case a.Manifest != "":
			return f.apply(t, f.actor, lab.Object(t, a.Manifest), metav1.DryRunAll)
		case a.Raw.To != "":
			return f.send(a.Raw.To, a.Raw.Body, metav1.PatchOptions{FieldManager: a.Raw.Manager, FieldValidation: a.Raw.Validation})
		case a.Create != "":
			obj := lab.Object(t, a.Create)
			_, err := f.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{FieldValidation: a.Validation})
			return err
		}
		require.Contains(t, sends, a.Why)
		return sends[a.Why](t, f)
	}, isClass(a.Want))
	_, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{})
	assert.False(t, ok)
	record(t, a.Why, a.Want, err)
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
