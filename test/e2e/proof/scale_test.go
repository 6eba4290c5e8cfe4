package proof_test

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// replicasElsewhere are the kinds whose definition says that their number of replicas isn't in spec.replicas, with the
// name of the field in spec.
var replicasElsewhere = map[string]string{"Crate": "size"}

// seen returns the object as the trial compares it: what is applied to a scale names the number of replicas
// spec.replicas, so the object and its record do, too.
func (t *trial) seen(obj *unstructured.Unstructured) *unstructured.Unstructured {
	name := replicasElsewhere[t.object.gvk.Kind]
	if obj == nil || name == "" || t.step.Of != "scale" {
		return obj
	}
	obj = obj.DeepCopy()
	renameIn(obj.Object, name, "replicas")
	records := obj.GetManagedFields()
	for _, record := range records {
		var fields map[string]any
		if utiljson.Unmarshal(record.FieldsV1.Raw, &fields) == nil {
			renameIn(fields, "f:"+name, "f:replicas")
			record.FieldsV1.Raw, _ = json.Marshal(fields)
		}
	}
	obj.SetManagedFields(records)
	return obj
}

// renameIn renames a field of the field spec of an object, or of a set of fields.
func renameIn(tree map[string]any, from, to string) {
	for name, fields := range tree {
		if spec, isMap := fields.(map[string]any); isMap && strings.TrimPrefix(name, "f:") == "spec" {
			if v, exists := spec[from]; exists {
				delete(spec, from)
				spec[to] = v
			}
		}
	}
}
