package fieldowner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/projection"
)

// written is an object that tools wrote to, beside others.
const written = `{"apiVersion": "apps/v1", "kind": "Deployment",
	"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "LAST", "a": "b"}, "finalizers": ["x/y"]},
	"spec": {"replicas": 3, "paused": true, "strategy": {"type": "Recreate"}, "minReadySeconds": 1,
		"containers": [{"name": "app", "image": "i", "tty": true}, {"name": "side", "image": "s"}, {"name": "cut", "image": "c", "tty": true}]}}`

func TestWriters(t *testing.T) {
	entry := func(manager, operation, fields string) string {
		return `{"manager": "` + manager + `", "operation": "` + operation + `", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {` + fields + `}}`
	}
	const item = `"k:{\"name\":\"side\"}": {".": {}, "f:name": {}, "f:image": {}}`
	ours := entry("me", "Apply", `"f:spec": {"f:paused": {}}`)
	for _, row := range []struct {
		why     string
		last    string
		entries []string
		want    []string
	}{
		{"nobody else", "", []string{ours}, nil},
		{"no tool", "", []string{ours, entry("kube-controller-manager", "Update", `"f:spec": {"f:replicas": {}}`)}, nil},
		{"all of it is ours", "", []string{ours, entry("helm", "Update", `"f:spec": {"f:paused": {}}`)}, []string{"Helm 3:"}},
		{"a field is its own", "", []string{ours, entry("helm", "Update", `"f:spec": {"f:paused": {}, "f:replicas": {}}`)}, []string{"Helm 3: spec.replicas"}},
		{"a field is an autoscaler's, too", "", []string{
			ours, entry("helm", "Apply", `"f:spec": {"f:replicas": {}}`), entry("hpa", "Update", `"f:spec": {"f:replicas": {}}`),
		}, []string{"Helm 4:"}},
		{"two tools share it", "", []string{
			ours, entry("helm", "Apply", `"f:spec": {"f:replicas": {}}`), entry("kubectl-edit", "Update", `"f:spec": {"f:replicas": {}}`),
		}, []string{"Helm 4: spec.replicas", "kubectl edit: spec.replicas"}},
		{"our own updates are another's", "", []string{entry("me", "Apply", `"f:spec": {"f:paused": {}}`), entry("me", "Update", `"f:spec": {"f:replicas": {}}`)},
			[]string{"mine: spec.replicas"}},
		{"what the object lacks", "", []string{ours, entry("helm", "Update", `"f:spec": {"f:gone": {}}`)}, []string{"Helm 3:"}},
		{"an item stays as a whole", "", []string{ours, entry("helm", "Apply", `"f:spec": {"f:containers": {`+item+`}}`)}, []string{`Helm 4: spec.containers[name="side"]`}},
		{"an item in which others own something goes, too", "", []string{
			ours, entry("helm", "Apply", `"f:spec": {"f:containers": {`+item+`}}`),
			entry("other", "Update", `"f:spec": {"f:containers": {"k:{\"name\":\"side\"}": {"f:image": {}}}}`),
		}, []string{`Helm 4: spec.containers[name="side"]`}},
		{"an item that others own stays, and what is in it may not", "", []string{
			entry("me", "Apply", `"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:name": {}}}}`),
			entry("helm", "Apply", `"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}}}}`),
		}, []string{`Helm 4: spec.containers[name="app"].image`}},
		{"a value of a set", "", []string{ours, entry("helm", "Update", `"f:metadata": {"f:finalizers": {".": {}, "v:\"x/y\"": {}}}`)}, []string{`Helm 3: metadata.finalizers[="x/y"]`}},
		{"of a map, what is in it", "", []string{ours, entry("helm", "Update", `"f:spec": {"f:strategy": {".": {}, "f:type": {}}}`)}, []string{"Helm 3: spec.strategy.type"}},
		{"a map as such, in which others have something", "", []string{
			ours, entry("helm", "Update", `"f:spec": {"f:strategy": {".": {}}}`), entry("other", "Update", `"f:spec": {"f:strategy": {"f:type": {}}}`),
		}, []string{"Helm 3:"}},
		{"a map as such, in which nobody has anything", "", []string{ours, entry("helm", "Update", `"f:spec": {"f:strategy": {".": {}}}`)}, []string{"Helm 3: spec.strategy"}},
		{"client-side apply, and what the server filled in", `{"spec": {"paused": true, "replicas": 3, "containers": [{"name": "side", "image": "s"}]}}`, []string{
			ours, entry(ClientSideApply, "Update", `"f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
				"f:spec": {"f:paused": {}, "f:replicas": {}, "f:strategy": {"f:type": {}}, "f:minReadySeconds": {}, "f:containers": {`+item+`}}`),
			entry("kubectl-edit", "Update", `"f:spec": {"f:minReadySeconds": {}}`),
		}, []string{
			`kubectl apply: metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"], spec.containers[name="side"], spec.replicas`, "kubectl edit: spec.minReadySeconds",
		}},
		{"an annotation that can't be read", "{", []string{
			ours, entry(ClientSideApply, "Update", `"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}, "f:spec": {"f:replicas": {}}`),
		}, []string{`kubectl apply: metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"], spec.replicas`}},
		{"an annotation that an apply keeps", `{}`, []string{
			ours, entry("kubectl", "Apply", `"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}, "f:spec": {"f:replicas": {}}`),
		}, []string{`kubectl apply --server-side: metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"], spec.replicas`}},
	} {
		t.Run(row.why, func(t *testing.T) {
			obj := decoded(t, written)
			metadata := obj["metadata"].(map[string]any)
			metadata["annotations"].(map[string]any)["kubectl.kubernetes.io/last-applied-configuration"] = row.last
			record := []any{}
			for _, e := range row.entries {
				record = append(record, decoded(t, e))
			}
			metadata["managedFields"] = record
			tools := append(Tools(), Tool{Name: "mine", Manager: "me"})
			owners := mustRead(t, obj)
			var got []string
			for _, w := range owners.Writers(obj, Applier{Manager: "me"}, tools) {
				got = append(got, strings.TrimSpace(w.Tool+": "+strings.Join(texts(w.Stays), ", ")))
			}
			assert.Equal(t, row.want, got)
			assert.Empty(t, owners.Writers(obj, Applier{Manager: "me", Subresource: "status"}, tools), "a subresource takes nothing over")
		})
	}
}

func TestWriterString(t *testing.T) {
	w := Writer{Owner: Owner{Manager: "helm", Operation: OperationUpdate}, Tool: "Helm 3"}
	assert.Equal(t, `Helm 3: "helm" (Update), no fields left over`, w.String())
	w.Stays = []projection.Path{path(t, "spec.a"), path(t, "spec.b")}
	assert.Equal(t, `Helm 3: "helm" (Update), left over: spec.a, spec.b`, w.String())
}
