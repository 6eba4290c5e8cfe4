package provider_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/test/lab"
)

// webhook is one that scripts name: it sets a value of data, for a dry run maybe another one than in earnest.
type webhook struct {
	sets  string
	value func(isDryRun bool) string
}

var webhooks = map[string]webhook{
	"liar": {"color", func(isDryRun bool) string {
		if isDryRun {
			return "rehearsed"
		}
		return "earnest"
	}},
	"gambler": {"luck", func(bool) string { return rand.Text() }}, // another value with each request
}

// ServeHTTP answers with a patch that sets the value.
func (h webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID    string `json:"uid"`
			DryRun bool   `json:"dryRun"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	patch := fmt.Sprintf(`[{"op":"add","path":"/data/%s","value":%q}]`, h.sets, h.value(review.Request.DryRun))
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"response": map[string]any{"uid": review.Request.UID, "allowed": true, "patchType": "JSONPatch", "patch": []byte(patch)}})
}

// install installs a webhook, and waits until it sets its value.
func (c *cluster) install(t *testing.T, name string) {
	t.Helper()
	server := httptest.NewTLSServer(webhooks[name])
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hooks := c.Client.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"})
	_, err := hooks.Create(t.Context(), lab.Object(t, c.in(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: NAMESPACE}
webhooks:
- name: liar.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  clientConfig: {url: %q, caBundle: %s}
`, server.URL, base64.StdEncoding.EncodeToString(ca)))), metav1.CreateOptions{})
	require.NoError(t, err)
	lab.Eventually(t, "the webhook answers", func() bool {
		probe := lab.Object(t, c.in("{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, namespace: NAMESPACE}, data: {a: b}}"))
		made, err := c.resource("configmaps").Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && made.Object["data"].(map[string]any)[webhooks[name].sets] != nil
	})
}
