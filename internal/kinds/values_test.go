package kinds_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// TestValuesAreOfKinds holds the tables against the syntax of patterns and paths, and the kinds against those that
// there are.
func TestValuesAreOfKinds(t *testing.T) {
	found := 0
	kinds.EachValues(func(kind string, v kinds.Values) {
		found++
		_, err := projection.ParsePatterns(slices.Concat(v.Assigned, v.Generated, v.Timed)...)
		require.NoError(t, err, kind)
	})
	assert.Equal(t, 11, found)
	for _, text := range kinds.GeneratedAlways() {
		_, err := projection.ParsePath(text)
		require.NoError(t, err)
	}
	assert.Contains(t, kinds.ValuesOf("v1", "Service").Assigned, "spec.clusterIP")
	assert.NotEmpty(t, kinds.ValuesOf("batch/v1", "Job").Generated)
	assert.Zero(t, kinds.ValuesOf("example.com/v1", "Service"), "the group counts")
}

func TestGranularMaps(t *testing.T) {
	for name, want := range map[string]bool{"ordinals": true, "spec": true, "port": false, "data": false, "selector": false} {
		assert.Equal(t, want, kinds.IsGranularMap(name), name)
	}
	policy := map[string]any{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}
	assert.True(t, kinds.IsZero(policy, "spec.podSelector", map[string]any{}))
	assert.False(t, kinds.IsZero(policy, "spec.podSelector", map[string]any{"a": 1}))
	assert.False(t, kinds.IsZero(policy, "spec.podSelector", nil))
	assert.False(t, kinds.IsZero(policy, "spec.ingress", map[string]any{}))
	assert.False(t, kinds.IsZero(map[string]any{"apiVersion": "v1", "kind": "Pod"}, "spec.podSelector", map[string]any{}))
	assert.False(t, kinds.IsZero(map[string]any{"apiVersion": "ex.io/v1", "kind": "NetworkPolicy"}, "spec.podSelector", map[string]any{}), "another group")
	assert.Equal(t, []string{"spec.scaleTargetRef"}, kinds.AtomicInVersion(map[string]any{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}))
	assert.Empty(t, kinds.AtomicInVersion(map[string]any{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}), "a map of fields")
	assert.Empty(t, kinds.AtomicInVersion(map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale"}))
	revision := map[string]any{"apiVersion": "apps/v1", "kind": "ControllerRevision"}
	assert.True(t, kinds.IsZero(revision, "revision", int64(0)))
	set := map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet"}
	assert.True(t, kinds.IsZero(set, "spec.serviceName", ""))
	assert.False(t, kinds.IsZero(set, "spec.serviceName", "db"))
	assert.True(t, kinds.IsZero(set, "status.replicas", int64(0)))
	assert.False(t, kinds.IsZero(set, "spec.replicas", int64(0)), "the field of another map")
	attachment := map[string]any{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment"}
	assert.True(t, kinds.IsZero(attachment, "status.attached", false))
	assert.False(t, kinds.IsZero(attachment, "status.attached", true))
	assert.False(t, kinds.IsZero(attachment, "status.attached", []any{}))
	assert.False(t, kinds.IsZero(revision, "revision", int64(1)))
	priority := map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
	assert.True(t, kinds.IsZero(priority, "value", int64(0)))
}

func TestIsMapField(t *testing.T) {
	assert.True(t, kinds.IsMapField("Pod", "labels"))
	assert.True(t, kinds.IsMapField("Service", "selector"))
	assert.False(t, kinds.IsMapField("Deployment", "selector"), "a structure")
	assert.False(t, kinds.IsMapField("Pod", "spec"))
	assert.False(t, kinds.IsMapField("", ""))
}

// TestMapFields compares the table with the Go types of every kind that client-go has.
func TestMapFields(t *testing.T) {
	found := 0
	for gvk, root := range scheme.Scheme.AllKnownTypes() {
		isObject := reflect.PointerTo(root).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]())
		if gvk.Kind == "Scale" || !isObject { // an old Scale has a map of strings in its status, which no manifest has
			continue
		}
		eachField(root, nil, func(path []string, of reflect.Type) {
			name := path[len(path)-1]
			isMap := of.Kind() == reflect.Map
			if isMap {
				found++
			}
			isValue := of == reflect.TypeFor[resource.Quantity]()
			isOther := isOtherwise[strings.TrimSuffix(gvk.Kind, "Template")+" "+strings.TrimPrefix(strings.Join(path, "."), "spec.spec.")]
			if (isMap || of.Kind() == reflect.Struct && !isValue) && !isOther {
				assert.Equal(t, isMap, kinds.IsMapField(gvk.Kind, name), "%s %s: %s", gvk, strings.Join(path, "."), of)
			}
			assert.Equal(t, of == reflect.TypeFor[map[string][]byte](), kinds.IsBytesField(gvk.Kind, name), "%s %s", gvk, strings.Join(path, "."))
		})
	}
	assert.Greater(t, found, 500)
}

// isOtherwise lists the exceptions of the table. Some are structures that share their name with a map of the same kind;
// a null in them is sent as it is written. Others are maps of a status that share their name with a structure; no
// manifest has them.
var isOtherwise = map[string]bool{
	"ReplicationController spec.template.spec.volumes.ephemeral.volumeClaimTemplate.spec.selector": true,

	"ResourceClaim spec.devices.requests.capacity":                true,
	"ResourceClaim spec.devices.requests.exactly.capacity":        true,
	"ResourceClaim spec.devices.requests.firstAvailable.capacity": true,
	"ResourceClaim devices.requests.capacity":                     true, // of a template
	"ResourceClaim devices.requests.exactly.capacity":             true,
	"ResourceClaim devices.requests.firstAvailable.capacity":      true,

	"Pod status.nodeAllocatableResourceClaimStatuses.resources":             true,
	"PodStatusResult status.nodeAllocatableResourceClaimStatuses.resources": true,
}

// eachField calls visit for all fields below a type, with the names that lead there. Within are the types around it:
// one that has itself somewhere below, as that of a check in a list of checks, is visited once.
func eachField(of reflect.Type, path []string, visit func(path []string, of reflect.Type), within ...reflect.Type) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || slices.Contains(within, of) {
		return
	}
	within = append(slices.Clone(within), of)
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := append(slices.Clone(path), name)
		switch t := field.Type; {
		case name == "" && field.Anonymous:
			eachField(t, path, visit, within...)
		case name == "" || name == "-":
		default:
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			visit(below, t)
			eachField(t, below, visit, within...)
		}
	}
}
