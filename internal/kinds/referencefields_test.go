package kinds_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/internal/kinds"
)

// namesAnother are the names that fields have with which one object names another.
var namesAnother = regexp.MustCompile(`(?i)names?$|class$|secret$|claim$|account$|ref(erence)?$|endpoints$|driver$|provisioner$|attacher$`)

// noNeed are the fields with such a name that an object doesn't need another one for, by what they end in, and why. The
// fields of one kind begin with it. The table has those of all versions of client-go that are supported.
var noNeed = map[string][]string{
	"it is the name of a part of the object": {
		"containers.name", "initContainers.name", "ephemeralContainers.name", "env.name", "ports.name", "volumes.name", "volumeMounts.name",
		"volumeDevices.name", "claims.name", "resourceClaims.name", "containerName", "targetContainerName", "fileKeyRef.volumeName",
		"matchConditions.name", "variables.name", "webhooks.name", "requests.name", "firstAvailable.name", "port.name",
		"podGroups.name", "podGroupTemplates.name", "compositePodGroupTemplates.name", "sharedCounters.name", "evictionResponders.name", "derivedAttributes.name",
	},
	"it is a name outside the cluster, or one that the node or a program knows": {
		"httpHeaders.name", "options.name", "nameservers", "hostnames", "hostname", "sysctls.name", "os.name", "schedulerName", "schedulingGates.name",
		"runAsUserName", "diskName", "shareName", "datasetName", "pdName", "initiatorName", "storagePolicyName", "signerName", "hostnameOverride",
		"externalName", "loadBalancerClass", "image.reference", "scaleIO.volumeName", "storageos.volumeName", "user.name", "group.name",
		"resourceName", "extendedResourceName", "metric.name", "metricName", "resource.name", "containerResource.name", "scopeName",
		"opaque.driver", "CertificateSigningRequest spec.username", "flexVolume.driver",
	},
	"it is the name of a node, which comes by itself": {"nodeName"},
	"it is a name that rules are for, also if nothing has it": {
		"resourceNames", "rules.subjects.serviceAccount.name", "deviceSelector.driver", "deviceSelector.deviceClassName",
	},
	"the object works without what a driver says of itself":         {"provisioner", "driverName", "PersistentVolume spec.csi.driver"},
	"the webhook that comes with the kind of it refuses the pod":    {"gmsaCredentialSpecName"},
	"a volume is kept for a claim that comes later":                 {"PersistentVolume spec.claimRef.name"},
	"a claim waits for its data, and names the source for good":     {"dataSource.name", "dataSourceRef.name"},
	"nothing is scaled by it before it is there":                    {"scaleTargetRef.name", "describedObject.name", "object.target.name"},
	"nothing has the rights before it is there":                     {"RoleBinding subjects.name", "ClusterRoleBinding subjects.name"},
	"which kind it is of isn't known: the object, or another, says": {"paramRef.name", "IngressClass spec.parameters.name", "backend.resource.name", "defaultBackend.resource.name"},
	"it says where the object comes from": {
		"controllerRef.name", "spec.workloadRef.workloadName", "workloadRef.templateName", "workload.podGroupTemplateName", "workload.workloadName",
	},
	"kubelets haven't had it since 1.24":       {"configSource.configMap.name"},
	"no server has had the version since 1.22": {"backend.serviceName"},
}

// noNeedOf are the kinds whose objects aren't applied because others are there.
var noNeedOf = map[string][]string{
	"it asks for something once, and isn't kept": {
		"Binding", "Eviction", "TokenRequest", "LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview",
		"ResourcePoolStatusRequest", "EvictionRequest", "PodCertificateRequest",
	},
	"a controller or driver writes it of what it has found": {
		"Event", "Lease", "LeaseCandidate", "Endpoints", "EndpointSlice", "CSINode", "CSIStorageCapacity", "VolumeAttachment", "IPAddress", "ResourceSlice",
	},
}

// TestReferenceFields looks at all fields, of all kinds that client-go has, that are called like one that names another
// object: the table of references has them, or there is a reason why not.
func TestReferenceFields(t *testing.T) {
	without := map[string]bool{}
	for _, of := range noNeedOf {
		for _, kind := range of {
			without[kind] = true
		}
	}
	found := 0
	for gvk, root := range scheme.Scheme.AllKnownTypes() {
		isObject := reflect.PointerTo(root).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]())
		if !isObject || without[gvk.Kind] || gvk.Group == "extensions" { // which no server has had since 1.22
			continue
		}
		isList := map[string]bool{}
		eachField(root, nil, func(path []string, of reflect.Type) {
			place := strings.Join(path, ".")
			isList[place] = of.Kind() == reflect.Slice
			isText := of.Kind() == reflect.String || isList[place] && of.Elem().Kind() == reflect.String
			isOwn := path[0] == "status" || regexp.MustCompile(`(^|\.)(metadata|volumeClaimTemplates\.status)\.`).MatchString(place)
			if !isText || isOwn || !namesAnother.MatchString(path[len(path)-1]) || isNoNeed(gvk.Kind, place) {
				return
			}
			found++
			assert.NotEmpty(t, kinds.References(gvk.GroupKind().String(), objectWith(path, isList)), "%s: %s", gvk, place)
		})
	}
	assert.Greater(t, found, 500)
}

func isNoNeed(kind, place string) bool {
	full := kind + " " + place
	for _, of := range noNeed {
		for _, field := range of {
			if full == field || strings.HasSuffix(full, "."+field) || strings.HasSuffix(full, " "+field) {
				return true
			}
		}
	}
	return false
}

// objectWith returns an object that has nothing but a name at a place, and beside it the kind that it is of.
func objectWith(path []string, isList map[string]bool) map[string]any {
	holder := map[string]any{path[len(path)-1]: "a", "kind": "Role"}
	for n := len(path) - 1; n > 0; n-- {
		var value any = holder
		if isList[strings.Join(path[:n], ".")] {
			value = []any{holder}
		}
		holder = map[string]any{path[n-1]: value}
	}
	return holder
}
