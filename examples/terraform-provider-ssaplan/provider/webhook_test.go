package provider_test

import (
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

// liar is a webhook that does something else in a dry run than in earnest: it sets data.color.
func liar(w http.ResponseWriter, r *http.Request) {
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
	color := "earnest"
	if review.Request.DryRun {
		color = "rehearsed"
	}
	patch := fmt.Sprintf(`[{"op":"add","path":"/data/color","value":%q}]`, color)
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"response": map[string]any{"uid": review.Request.UID, "allowed": true, "patchType": "JSONPatch", "patch": []byte(patch)}})
}

// installLiar installs that webhook, and waits until it sets its value.
func (c *cluster) installLiar(t *testing.T) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(liar))
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
		return err == nil && made.Object["data"].(map[string]any)["color"] != nil
	})
}
