package provider_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	admit(w, review.Request.UID, "color", color)
}

// gambler is a webhook that sets data.luck to another value with each request.
func gambler(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	admit(w, review.Request.UID, "luck", rand.Text())
}

// admit answers with a patch that sets a value of data.
func admit(w http.ResponseWriter, uid, name, value string) {
	patch := fmt.Sprintf(`[{"op":"add","path":"/data/%s","value":%q}]`, name, value)
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"response": map[string]any{"uid": uid, "allowed": true, "patchType": "JSONPatch", "patch": []byte(patch)}})
}

// install installs a webhook, and waits until it sets the value.
func (c *cluster) install(t *testing.T, webhook http.HandlerFunc, sets func(data map[string]any) bool) {
	t.Helper()
	server := httptest.NewTLSServer(webhook)
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
	require.Eventually(t, func() bool {
		probe := lab.Object(t, c.in(strings.Replace(configMap, "settings", "probe", 1)))
		made, err := c.resource("configmaps").Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && sets(made.Object["data"].(map[string]any))
	}, time.Minute, 100*time.Millisecond)
}

// Terraform takes it for a bug of the provider if the result isn't what was planned, so the provider says it itself, and
// the next refresh shows what is there.
func TestServerThatDoesSomethingElseThanItSaid(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	c.install(t, liar, func(data map[string]any) bool { return data["color"] == "rehearsed" })
	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "rehearsed", rows(t, plan.planned, "fields")["data.color"])
	warned := strings.Join(tf.apply(t, plan), "\n")
	require.Contains(t, warned, "the server made something else than it said in the dry run")
	require.Contains(t, warned, "data.color")
	_, err := tf.refresh(t)
	require.NoError(t, err)
	require.Equal(t, "earnest", rows(t, tf.state, "fields")["data.color"])
}

// What a server adds is another value each time, and nothing that was declared: the plan still holds.
func TestServerThatAddsSomethingElseEachTime(t *testing.T) {
	c := newCluster(t)
	c.install(t, gambler, func(data map[string]any) bool { return data["luck"] != nil })
	tf := newCore(t)
	tf.apply(t, tf.plan(t, c.config(configMap)))
	luck := c.value(t, "configmaps", "settings", "data", "luck")
	require.NotEqual(t, "<nil>", luck)
	tf = tf.next(t)
	plan := tf.plan(t, c.config(strings.Replace(configMap, "blue", "red", 1)))
	require.Equal(t, "Update", plan.action)
	tf.apply(t, plan)
	require.Equal(t, "red", c.value(t, "configmaps", "settings", "data", "color"))
	require.NotEqual(t, luck, c.value(t, "configmaps", "settings", "data", "luck"))
	_, err := c.resource("configmaps").Create(t.Context(), lab.Object(t, c.in("{apiVersion: v1, kind: ConfigMap, metadata: {name: taken, namespace: NAMESPACE}, data: {x: z}}")), metav1.CreateOptions{})
	require.NoError(t, err)
	tf = newCore(t)
	plan = tf.plan(t, c.config(strings.Replace(configMap, "settings", "taken", 1)))
	require.Contains(t, strings.Join(plan.warnings, "\n"), "will be taken over")
	tf.apply(t, plan)
}
