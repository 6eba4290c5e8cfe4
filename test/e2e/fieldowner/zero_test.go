package fieldowner_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	facts "github.com/ssaplan/primitives/internal/kinds"
)

// mustBeSet are the fields with no way to be absent that no object can have without a value, by kind: a server refuses
// it.
var mustBeSet = map[string][]string{
	"CSIStorageCapacity":         {"storageClassName"},
	"CertificateSigningRequest":  {"spec.signerName"},
	"ClusterRoleBinding":         {"roleRef.apiGroup", "roleRef.kind", "roleRef.name"},
	"ClusterTrustBundle":         {"spec.trustBundle"},
	"CronJob":                    {"spec.schedule"},
	"DeviceTaintRule":            {"spec.taint.effect", "spec.taint.key"},
	"EndpointSlice":              {"addressType"},
	"FlowSchema":                 {"spec.matchingPrecedence", "spec.priorityLevelConfiguration.name"},
	"HorizontalPodAutoscaler":    {"spec.maxReplicas", "spec.scaleTargetRef.kind", "spec.scaleTargetRef.name"},
	"LeaseCandidate":             {"spec.binaryVersion", "spec.leaseName"},
	"PriorityLevelConfiguration": {"spec.type"},
	"ResourceSlice":              {"spec.driver", "spec.pool.name", "spec.pool.resourceSliceCount"},
	"RoleBinding":                {"roleRef.apiGroup", "roleRef.kind", "roleRef.name"},
	"RuntimeClass":               {"handler", "spec.runtimeHandler"},
	"StorageClass":               {"provisioner"},
	"VolumeAttachment":           {"spec.attacher", "spec.nodeName"},
	"VolumeAttributesClass":      {"driverName"},
}

// TestZeroes encodes an empty object of each Kubernetes type. Each scalar field that it has must count as a zero.
func TestZeroes(t *testing.T) {
	notStored := []string{"Review", "TokenRequest", "Scale", "RangeAllocation"}
	seen := 0
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		_, isObject := typ.FieldByName("ObjectMeta")
		if !isObject || slices.ContainsFunc(notStored, func(end string) bool { return strings.HasSuffix(gvk.Kind, end) }) {
			continue
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(reflect.New(typ).Interface())
		require.NoError(t, err)
		delete(content, "metadata")
		obj := unstructured.Unstructured{Object: content}
		obj.SetGroupVersionKind(gvk)
		eachScalar(content, "", func(path string, v any) {
			if v == nil || slices.Contains([]string{"apiVersion", "kind"}, path) || slices.Contains(mustBeSet[gvk.Kind], path) {
				return
			}
			seen++
			assert.True(t, facts.IsZero(content, path, v), "%v %s: %v", gvk, path, v)
		})
	}
	assert.Greater(t, seen, 40)
}

func eachScalar(m map[string]any, prefix string, visit func(string, any)) {
	for name, v := range m {
		if inner, isMap := v.(map[string]any); isMap {
			eachScalar(inner, prefix+name+".", visit)
		} else {
			visit(prefix+name, v)
		}
	}
}
