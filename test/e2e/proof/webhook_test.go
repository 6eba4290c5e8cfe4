package proof_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/test/lab"
)

// These are the labels of objects that the webhooks change. One webhook puts a sidecar before all other containers.
// Another sets an undeclared annotation and overwrites declared fields. A third sets fields in items of lists, and
// other values in place of the server's defaults. The last one does what an annotation says, but not in dry runs. No
// case of [TestPlanEqualsApply] calls the last one.
const (
	sidecarHook = "proof.example.com/sidecar"
	stampHook   = "proof.example.com/stamp"
	grantHook   = "proof.example.com/grant"
	earnestHook = "proof.example.com/earnest"
)

var hooks = []string{sidecarHook, stampHook, grantHook, policyHook}

func (c *cluster) installWebhooks(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/sidecar", mutate(sidecarPatch))
	mux.HandleFunc("/stamp", mutate(stampPatch))
	mux.HandleFunc("/grant", mutate(grantPatch))
	mux.HandleFunc("/earnest", mutate(earnestPatch))
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	webhook := func(path, label string) string {
		return fmt.Sprintf(`
- name: %s.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 30 # the longest, for slow machines
  objectSelector: {matchExpressions: [{key: %s, operator: Exists}]}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
  clientConfig: {url: %q, caBundle: %s}
`, path, label, server.URL+"/"+path, base64.StdEncoding.EncodeToString(ca))
	}
	c.Apply(t, installer, lab.Object(t, "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: proof}\nwebhooks:"+
		webhook("sidecar", sidecarHook)+webhook("stamp", stampHook)+webhook("grant", grantHook)+webhook("earnest", earnestHook)))
	c.makeNamespace(t, "ConfigMap")
	lab.Eventually(t, "the webhooks are called", func() bool { return c.hooked(t) })
}

// hooked reports whether the webhooks are called yet.
func (c *cluster) hooked(t *testing.T) bool {
	name := fmt.Sprintf("hooked-%d", len(t.Name()))
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "labels": map[string]any{sidecarHook: "on", stampHook: "on", grantHook: "on"}}}}
	o := &object{cluster: c, name: name, gvk: obj.GroupVersionKind()}
	resource, err := c.resource(obj.GroupVersionKind())
	if err != nil {
		return false
	}
	created, err := o.apply(t.Context(), obj, Step{By: installer, Force: true})
	if err != nil {
		return false
	}
	_ = remove(t.Context(), resource, name)
	return created.GetAnnotations()["stamped"] == "yes"
}

// mutate answers admission reviews with the JSON patch that patch makes for the object.
func mutate(patch func(obj map[string]any, dryRun bool) []any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request, _ := review["request"].(map[string]any)
		obj, _ := request["object"].(map[string]any)
		response := map[string]any{"uid": request["uid"], "allowed": true}
		if ops := patch(obj, request["dryRun"] == true); len(ops) > 0 {
			text, _ := json.Marshal(ops)
			response["patchType"], response["patch"] = "JSONPatch", text
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
	}
}

var containerLists = []place{{"spec", "containers"}, {"spec", "template", "spec", "containers"}, {"template", "spec", "containers"},
	{"spec", "jobTemplate", "spec", "template", "spec", "containers"}}

// grantPatch sets what items of lists lack, or have by default.
func grantPatch(obj map[string]any, _ bool) (ops []any) {
	grant := func(list place, field string, instead, v any) {
		items, _ := lookup(obj, list)
		for i := range len(asList(items)) {
			at := append(list.child(i), field)
			if there, _ := lookup(obj, at); reflect.DeepEqual(there, instead) {
				ops = append(ops, map[string]any{"op": "add", "path": pointer(at), "value": v})
			}
		}
	}
	for _, list := range containerLists {
		grant(list, "securityContext", nil, map[string]any{"privileged": true})
		grant(list, "imagePullPolicy", "IfNotPresent", "Always")
	}
	if obj["kind"] == "Service" { // or else it may be a field that the definition lacks
		grant(place{"spec", "ports"}, "appProtocol", nil, "example.com/granted")
	}
	grant(place{"spec", "rows"}, "height", 30.0, 31.0)
	grant(place{"spec", "disks"}, "size", "10Gi", "11Gi")
	grant(place{"spec", "beds"}, "soil", map[string]any{"kind": "loam", "depth": 30.0}, map[string]any{"kind": "peat", "depth": 30.0})
	return ops
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// sidecarPatch puts a sidecar first, unless there is one.
func sidecarPatch(obj map[string]any, _ bool) []any {
	for _, at := range containerLists {
		v, _ := lookup(obj, at)
		containers, _ := v.([]any)
		sidecar := map[string]any{"name": "sidecar", "image": "sidecar:1"}
		if len(containers) > 0 && positionOf(containers, "sidecar") < 0 {
			return []any{map[string]any{"op": "add", "path": pointer(at.child(0)), "value": sidecar}}
		}
	}
	return nil
}

// positionOf returns where in a list the item of a name stands, and -1 if there is none.
func positionOf(list []any, name string) int {
	return slices.IndexFunc(list, func(item any) bool {
		fields, _ := item.(map[string]any)
		return fields["name"] == name
	})
}

// stampedReplicas is the number of replicas that a webhook sets.
const stampedReplicas int64 = 3

// stampPatch sets an annotation, and overwrites some fields where the object has them.
func stampPatch(obj map[string]any, _ bool) []any {
	var ops []any
	set := func(at place, v any) {
		ops = append(ops, map[string]any{"op": "add", "path": pointer(at), "value": v})
	}
	if annotations, _ := lookup(obj, place{"metadata", "annotations"}); annotations == nil {
		set(place{"metadata", "annotations"}, map[string]any{})
	}
	set(place{"metadata", "annotations", "stamped"}, "yes")
	for _, field := range []struct {
		at place
		v  any
	}{{place{"metadata", "labels", "tier"}, "stamped"}, {place{"data", "mode"}, "stamped"}, {place{"spec", "replicas"}, float64(stampedReplicas)}} {
		if old, exists := lookup(obj, field.at); exists && obj["kind"] != "Secret" && reflect.TypeOf(old) == reflect.TypeOf(field.v) {
			set(field.at, field.v)
		}
	}
	return ops
}

// earnestPatch is the JSON patch in an annotation of the object, with integers as they are written there; none for one
// that is deleted.
func earnestPatch(obj map[string]any, dryRun bool) (ops []any) {
	v, _ := lookup(obj, place{"metadata", "annotations", earnestHook})
	_, isDeleted := lookup(obj, place{"metadata", "deletionTimestamp"})
	if text, ok := v.(string); ok && !dryRun && !isDeleted {
		_ = utiljson.Unmarshal([]byte(text), &ops)
	}
	return ops
}
