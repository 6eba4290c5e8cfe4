package set_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// webhook is the server of a webhook. A test has to start it, as a controller starts the pods of a Deployment.
type webhook struct {
	address, ca string
	started     *atomic.Bool
}

// newWebhook returns a webhook that has its address, and ends each connection without an answer until it is started.
func newWebhook(t *testing.T) webhook {
	t.Helper()
	started := &atomic.Bool{}
	address, ca := serve(t, http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if !started.Load() {
			panic(http.ErrAbortHandler)
		}
		var review map[string]any
		_ = json.NewDecoder(in.Body).Decode(&review)
		request, _ := review["request"].(map[string]any)
		_ = json.NewEncoder(out).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{"uid": request["uid"], "allowed": true},
		})
	}))
	return webhook{address, ca, started}
}

// serve starts the server of a webhook, and returns its address and its CA bundle.
func serve(t *testing.T, handler http.Handler) (address, ca string) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server.Listener.Addr().String(), base64.StdEncoding.EncodeToString(certificate)
}

// start lets the webhook answer, with yes.
func (w webhook) start(t *testing.T) {
	t.Helper()
	w.started.Store(true)
}

// guarded is an application with a webhook that its Deployment serves, and an object that the webhook guards.
func (w webhook) guarded() string {
	return application + fmt.Sprintf(`
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME}
webhooks:
- name: hook.NAME.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://%s/", caBundle: %s}
  rules: [{apiGroups: [NAME.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [gadgets]}]`, w.address, w.ca)
}

// waitsForCalls returns a function that waits after the apply of the webhook until the server calls it. The set also
// waits for that, but a busy server may take longer than the set waits.
func (c *cluster) waitsForCalls(t *testing.T) func(*set.Result) {
	probe := lab.Objectf(t, "{apiVersion: %s.example.com/v1, kind: Gadget, metadata: {name: probe, namespace: %s-app}}", c.name, c.name)
	return func(result *set.Result) {
		if result.Item.Object.Kind != "ValidatingWebhookConfiguration" || result.Err != nil {
			return
		}
		c.awaitRefusal(t, probe)
	}
}

// awaitRefusal waits until a webhook or a policy refuses what passes without it.
func (c *cluster) awaitRefusal(t *testing.T, probe *unstructured.Unstructured) {
	t.Helper()
	lab.Eventually(t, probe.GetName()+" is refused", func() bool {
		_, err := c.TryApply(t, probe, metav1.PatchOptions{FieldManager: "probe", DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})
}

// A webhook comes after what serves it and before what it guards, which waits until it answers.
func TestWebhook(t *testing.T) {
	c, hook := newCluster(t), newWebhook(t)
	waited := ""
	options := set.Options{Waiting: func(object identity.Identity, why string) {
		if object.Kind == "Gadget" && waited == "" {
			waited = why
			hook.start(t)
		}
	}}
	application := c.set(t, options, hook.guarded())
	require.Contains(t, c.plan(t, application), "5 ValidatingWebhookConfiguration Create")
	lines := c.apply(t, application, c.waitsForCalls(t))
	require.Len(t, lines, 6)
	for _, line := range lines {
		require.Contains(t, line, " Done")
	}
	require.Contains(t, waited, "failed calling webhook")
}

// A webhook that stayed without its Deployment holds up nothing but the object that it guards, until there is one.
// Where nothing of the set can help against the webhook, the object is refused.
func TestWebhookThatWasLeftAlone(t *testing.T) {
	c, hook := newCluster(t), newWebhook(t)
	c.apply(t, c.set(t, set.Options{}, application))
	lines := c.apply(t, c.set(t, set.Options{Patience: 200 * time.Millisecond}, hook.guarded()), c.waitsForCalls(t))
	require.Contains(t, lines[5], "Gadget NotSent: ")
	require.Contains(t, lines[5], "failed calling webhook")
	lines = c.plan(t, c.set(t, set.Options{}, hook.guarded()))
	require.Contains(t, lines[5], "6 Gadget NAME.example.com/v1/Gadget NAME-app/one: ")
	require.Contains(t, lines[5], "failed calling webhook")

	c.Delete(t, lab.Objectf(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: %s-app}}", c.name))
	again := c.set(t, set.Options{Waiting: func(object identity.Identity, _ string) {
		hook.start(t)
	}}, hook.guarded())
	lines = c.plan(t, again)
	require.Contains(t, lines, "4 Deployment Create")
	require.Contains(t, lines, "6 Gadget Deferred after ValidatingWebhookConfiguration")
	for _, line := range c.apply(t, again) {
		require.Contains(t, line, " Done")
	}
}

const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  failurePolicy: Fail
  matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  validations: [{expression: "'a' in object.data && object.data.a == '%s'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny]}`

// A policy also applies to the objects that its set applies after it. The server enforces a policy about a second after
// it was stored, and the set waits for that second. A busy server may be late, but not at each of three attempts.
func TestPolicyIsHeededAtOnce(t *testing.T) {
	guards := fmt.Sprintf(strings.NewReplacer("apiGroups: [\"\"]", "apiGroups: [NAME.example.com]", "configmaps", "gadgets", "name: NAME}}, res", "name: NAME-app}}, res").
		Replace(policy), "one")
	t.Parallel()
	for attempt := 1; ; attempt++ {
		c := another(t)
		var stored time.Time
		lines := c.apply(t, c.set(t, set.Options{Patience: 10 * time.Second}, application+"\n---"+guards), func(result *set.Result) {
			if result.Item.Object.Kind != "Gadget" {
				stored = time.Now()
			}
		})
		if attempt == 3 || lines[6] != "Gadget Done" {
			require.Contains(t, lines[6], "Gadget NotSent: ")
			require.Contains(t, lines[6], "ValidatingAdmissionPolicy")
			return
		}
		require.Greater(t, time.Since(stored), time.Second)
	}
}

// TestConfigurationThatIsInvalid plans an invalid change of a webhook configuration. What the server says names its own
// webhook, and that of another one: it waits for neither.
func TestConfigurationThatIsInvalid(t *testing.T) {
	c := newCluster(t)
	const configuration = `{apiVersion: admissionregistration.k8s.io/v1, kind: %[1]sWebhookConfiguration, metadata: {name: NAME},
		webhooks: [{name: a.NAME.example.com, admissionReviewVersions: [%[2]s], sideEffects: None, failurePolicy: Ignore, timeoutSeconds: %[3]d,
		clientConfig: {url: "https://127.0.0.1:1"}, rules: [{apiGroups: [none.example.com], apiVersions: [v1], operations: [CREATE], resources: [none]}]}]}`
	both := func(versions string, seconds int) string {
		return fmt.Sprintf(configuration, "Validating", versions, seconds) + "\n---\n" + fmt.Sprintf(configuration, "Mutating", "v1", seconds)
	}
	before := c.set(t, set.Options{}, both("v1", 1))
	c.plan(t, before)
	c.apply(t, before)
	t.Cleanup(func() {
		for _, obj := range lab.Objects(t, strings.ReplaceAll(both("v1", 1), "NAME", c.name)) {
			c.Delete(t, obj)
		}
	})
	for item := range c.set(t, set.Options{}, both("v1x", 2)).Plan(t.Context()) {
		if item.Object.Kind == "ValidatingWebhookConfiguration" {
			require.ErrorContains(t, item.Err, "must include at least one of v1, v1beta1")
		} else {
			require.NoError(t, item.Err)
		}
	}
}
