package immutability

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Family names a group of server texts that mean the same.
type Family string

// The families of texts.
const (
	// FieldIsImmutable: "field is immutable", the text of apimachinery's ValidateImmutableField.
	FieldIsImmutable Family = "field is immutable"
	// ImmutableSpec: texts of particular kinds that say "immutable".
	ImmutableSpec Family = "immutable spec"
	// ForbiddenTransition: texts of particular kinds that forbid a change without the word.
	ForbiddenTransition Family = "forbidden transition"
	// OneWayRule: fields that may change in one direction only.
	OneWayRule Family = "one-way rule"
	// NeverReplaceable: fields that are bound to the object's name, so that no create could change them.
	NeverReplaceable Family = "bound to the name"
	// DefaultInTheWay: texts about two fields that exclude each other, one of which can be a server default that the
	// applier doesn't own.
	DefaultInTheWay Family = "default in the way"
	// MetadataRule: rules about metadata that hold for every kind.
	MetadataRule Family = "metadata rule"
)

// checks tells how much of a create's validation an update runs that is refused with a text. Read from the update
// validation of the kind in k8s.io/kubernetes/pkg/apis, for the lowest and the highest version supported.
type checks int

const (
	// fewer: some checks of a create are skipped, or were not shown to be run, so that a bad value can hide behind the
	// text. The safe assumption.
	fewer checks = iota
	// all: every check of a create is run, and what is wrong besides is among the causes.
	all
)

// phrase is one text, the kinds and fields it is sent for, and what it means there.
type phrase struct {
	family  Family
	verdict Kind
	cause   metav1.CauseType
	// text is the whole detail of the message, or with prefix its beginning.
	text   string
	prefix bool
	remedy string
	where  []where
}

// where is a kind ("apps/Deployment", "Secret", "*" for every kind) and one of its fields, as the server prints it with
// [*] for each position and key.
type where struct {
	kind   string
	field  string
	real   string // the field's real path, if the server prints another one
	checks checks // default: fewer
	// seen lists the minor versions whose answer is recorded in testdata. Empty: read in the sources only.
	seen string
}

// The types of cause that phrases have, and the label that begins the message of each.
const (
	invalid   = metav1.CauseTypeFieldValueInvalid
	forbidden = metav1.CauseTypeForbidden
)

var labelOf = map[metav1.CauseType]string{invalid: "Invalid value", forbidden: "Forbidden"}

// lookUp returns the phrase that c is, and the place it was found for, or nil. Every part has to fit: the kind, the
// field, the type of the cause, and the detail as a whole. For an invalid value, the detail is what ends the message,
// after a value of any form; for a forbidden one, it is all that follows the label, a diff on further lines aside.
func lookUp(kind string, c cause) (*phrase, where) {
	pattern := c.pattern()
	for i := range phrases {
		p := &phrases[i]
		if p.cause != c.typ || labelOf[p.cause] != c.label || !p.matches(c) {
			continue
		}
		for _, w := range p.where {
			if (w.kind == "*" || w.kind == kind) && w.covers(pattern) {
				return p, w
			}
		}
	}
	return nil, where{}
}

func (p *phrase) matches(c cause) bool {
	switch {
	case p.prefix:
		return strings.HasPrefix(c.detail, p.text)
	case p.cause == invalid:
		return strings.HasSuffix(c.text, ": "+p.text)
	}
	return c.detail == p.text
}

// covers reports whether the place is the field with this pattern. A place that ends in ".*" is every field of that
// parent.
func (w where) covers(pattern string) bool {
	parent, every := strings.CutSuffix(w.field, ".*")
	if !every {
		return w.field == pattern
	}
	name, below := strings.CutPrefix(pattern, parent+".")
	return below && !strings.ContainsAny(name, ".[")
}

// phrases is all that this package knows about the texts of servers, 1.33 to 1.36. The texts of subresources (status,
// scale, resize, ephemeralcontainers) are not in it: an apply of a manifest doesn't get them.
var phrases = []phrase{
	{
		family: FieldIsImmutable, verdict: Immutable, cause: invalid, text: "field is immutable",
		where: []where{
			{kind: "apps/ControllerRevision", field: "data", checks: all},
			{kind: "apps/DaemonSet", field: "spec.selector", checks: all},
			{kind: "apps/Deployment", field: "spec.selector", checks: all},
			{kind: "apps/ReplicaSet", field: "spec.selector", checks: all},
			{kind: "batch/Job", field: "spec.backoffLimitPerIndex"},
			{kind: "batch/Job", field: "spec.completionMode"},
			{kind: "batch/Job", field: "spec.completions"},
			{kind: "batch/Job", field: "spec.managedBy"},
			{kind: "batch/Job", field: "spec.podFailurePolicy"},
			{kind: "batch/Job", field: "spec.selector"},
			{kind: "batch/Job", field: "spec.successPolicy"},
			{kind: "batch/Job", field: "spec.template"},
			{kind: "batch/Job", field: "spec.template.spec"},
			// Only events.k8s.io/v1 has these rules, but the server calls the kind and the fields as in the core group.
			{kind: "Event", field: "action"},
			{kind: "Event", field: "count", real: "deprecatedCount"},
			{kind: "Event", field: "eventTime"},
			{kind: "Event", field: "firstTimestamp", real: "deprecatedFirstTimestamp"},
			{kind: "Event", field: "involvedObject", real: "regarding"},
			{kind: "Event", field: "lastTimestamp", real: "deprecatedLastTimestamp"},
			{kind: "Event", field: "message", real: "note"},
			{kind: "Event", field: "reason"},
			{kind: "Event", field: "related"},
			{kind: "Event", field: "reportingController"},
			{kind: "Event", field: "reportingInstance"},
			{kind: "Event", field: "source", real: "deprecatedSource"},
			{kind: "Event", field: "type"},
			{kind: "PersistentVolume", field: "volumeMode", real: "spec.volumeMode", checks: all},
			{kind: "PersistentVolumeClaim", field: "metadata.annotations.volume.beta.kubernetes.io/storage-class",
				real: `metadata.annotations["volume.beta.kubernetes.io/storage-class"]`, checks: all},
			{kind: "PersistentVolumeClaim", field: "volumeMode", real: "spec.volumeMode", checks: all},
			{kind: "ResourceQuota", field: "spec.scopes", checks: all},
			{kind: "Secret", field: "type", checks: all},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.names.kind", checks: all},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.scope", checks: all},
			{kind: "certificates.k8s.io/PodCertificateRequest", field: "spec"},
			{kind: "coordination.k8s.io/LeaseCandidate", field: "spec.leaseName"},
			{kind: "discovery.k8s.io/EndpointSlice", field: "addressType"},
			{kind: "networking.k8s.io/IPAddress", field: "spec.parentRef"},
			{kind: "networking.k8s.io/IngressClass", field: "spec.controller", checks: all},
			{kind: "networking.k8s.io/ServiceCIDR", field: "spec.cidrs"},
			{kind: "networking.k8s.io/ServiceCIDR", field: "spec.cidrs[*]"},
			{kind: "node.k8s.io/RuntimeClass", field: "handler"},
			{kind: "resource.k8s.io/ResourceClaim", field: "spec"},
			{kind: "resource.k8s.io/ResourceClaimTemplate", field: "spec"},
			{kind: "resource.k8s.io/ResourcePoolStatusRequest", field: "spec"},
			{kind: "resource.k8s.io/ResourceSlice", field: "spec.driver"},
			{kind: "resource.k8s.io/ResourceSlice", field: "spec.nodeName"},
			{kind: "resource.k8s.io/ResourceSlice", field: "spec.pool.name"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.disruptionMode"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.podGroupTemplateRef"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.priority"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.priorityClassName"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.resourceClaims"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.schedulingConstraints"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.schedulingPolicy"},
			{kind: "scheduling.k8s.io/PriorityClass", field: "preemptionPolicy"},
			{kind: "scheduling.k8s.io/Workload", field: "spec.controllerRef"},
			{kind: "scheduling.k8s.io/Workload", field: "spec.podGroupTemplates"},
			{kind: "storage.k8s.io/CSIDriver", field: "spec.attachedRequired", checks: all},
			{kind: "storage.k8s.io/CSIDriver", field: "spec.volumeLifecycleModes", checks: all},
			{kind: "storage.k8s.io/CSINode", field: "spec.drivers"},
			{kind: "storage.k8s.io/CSIStorageCapacity", field: "nodeTopology"},
			{kind: "storage.k8s.io/CSIStorageCapacity", field: "storageClassName"},
			{kind: "storage.k8s.io/StorageClass", field: "parameters"}, // since 1.36
			{kind: "storage.k8s.io/StorageClass", field: "provisioner"},
			{kind: "storage.k8s.io/StorageClass", field: "reclaimPolicy"},
			{kind: "storage.k8s.io/StorageClass", field: "volumeBindingMode"},
			{kind: "storage.k8s.io/VolumeAttachment", field: "spec"},
			{kind: "storagemigration.k8s.io/StorageVersionMigration", field: "spec"},
		},
	},
	{
		family: FieldIsImmutable, verdict: Immutable, cause: forbidden, text: "field is immutable",
		where: []where{{kind: "Service", field: "spec.healthCheckNodePort"}},
	},
	{
		family: FieldIsImmutable, verdict: Immutable, cause: forbidden, text: "field is immutable when `immutable` is set",
		where: []where{
			{kind: "ConfigMap", field: "binaryData", checks: all},
			{kind: "ConfigMap", field: "data", checks: all},
			{kind: "ConfigMap", field: "immutable", checks: all},
			{kind: "Secret", field: "data", checks: all},
			{kind: "Secret", field: "immutable", checks: all},
		},
	},
	{
		family: FieldIsImmutable, verdict: Immutable, cause: invalid,
		text:  "field is immutable, except for updating from beta label to GA",
		where: []where{{kind: "PersistentVolume", field: "nodeAffinity", real: "spec.nodeAffinity", checks: all}},
	},

	{
		family: ImmutableSpec, verdict: Immutable, cause: forbidden,
		text:  "spec.persistentvolumesource is immutable after creation",
		where: []where{{kind: "PersistentVolume", field: "spec.persistentvolumesource", real: "spec", checks: all}},
	},
	{
		family: ImmutableSpec, verdict: Immutable, cause: forbidden, prefix: true,
		text:  "spec is immutable after creation except resources.requests", // continued differently before 1.29
		where: []where{{kind: "PersistentVolumeClaim", field: "spec", checks: all}},
	},

	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, prefix: true,
		text:  "updates to statefulset spec for fields other than", // the list of fields grows with the versions
		where: []where{{kind: "apps/StatefulSet", field: "spec"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, prefix: true,
		text:  "pod updates may not change fields other than", // as for the StatefulSet
		where: []where{{kind: "Pod", field: "spec"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text: "pod updates may not add or remove containers",
		where: []where{
			{kind: "Pod", field: "spec.containers"},
			{kind: "Pod", field: "spec.initContainers"},
		},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  "existing toleration can not be modified except its tolerationSeconds",
		where: []where{{kind: "Pod", field: "spec.tolerations"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, prefix: true,
		text:  "only deletion is allowed, but found new scheduling gate '",
		where: []where{{kind: "Pod", field: "spec.schedulingGates[*].name"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid,
		text:  "must be less than or equal to previous value",
		where: []where{{kind: "Pod", field: "spec.activeDeadlineSeconds"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid,
		text:  "must not update from a positive integer to nil value",
		where: []where{{kind: "Pod", field: "spec.activeDeadlineSeconds"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid,
		text:  "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
		where: []where{{kind: "Pod", field: "spec.nodeSelector"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid,
		text:  "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
		where: []where{{kind: "Pod", field: nodeSelectorTerms}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid,
		text:  "only additions are allowed (no mutations or deletions)",
		where: []where{{kind: "Pod", field: nodeSelectorTerms + "[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  "may not remove or update AppArmor annotations",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  "may not add AppArmor annotations",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  "may not remove or update mirror pod annotation",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  "may not add mirror pod annotation",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid, text: "may not change once set",
		where: []where{
			{kind: "Service", field: "spec.clusterIPs[*]"},
			{kind: "Service", field: "spec.ipFamilies[*]"},
			{kind: "Service", field: "spec.loadBalancerClass", checks: all},
		},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid, text: "primary clusterIP can not be unset",
		where: []where{{kind: "Service", field: "spec.clusterIPs[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid, text: "primary ipFamily can not be unset",
		where: []where{{kind: "Service", field: "spec.ipFamilies[*]"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid, text: "cannot change roleRef",
		where: []where{
			{kind: "rbac.authorization.k8s.io/ClusterRoleBinding", field: "roleRef", checks: all},
			{kind: "rbac.authorization.k8s.io/RoleBinding", field: "roleRef", checks: all},
		},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, text: "may not be changed in an update.",
		where: []where{{kind: "scheduling.k8s.io/PriorityClass", field: "value"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, text: "updates to driverName are forbidden.",
		where: []where{{kind: "storage.k8s.io/VolumeAttributesClass", field: "driverName", checks: all}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, text: "updates to parameters are forbidden.",
		where: []where{
			{kind: "storage.k8s.io/StorageClass", field: "parameters"}, // up to 1.35
			{kind: "storage.k8s.io/VolumeAttributesClass", field: "parameters", checks: all},
		},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, text: "updates to provisioner are forbidden.",
		where: []where{{kind: "storage.k8s.io/StorageClass", field: "provisioner"}}, // up to 1.35
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, text: "updates to reclaimPolicy are forbidden.",
		where: []where{{kind: "storage.k8s.io/StorageClass", field: "reclaimPolicy"}}, // up to 1.35
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  `node updates may not change podCIDR except from "" to valid`,
		where: []where{{kind: "Node", field: "spec.podCIDRs"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden,
		text:  `node updates may not change providerID except from "" to valid`,
		where: []where{{kind: "Node", field: "spec.providerID"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: forbidden, text: "may not be updated",
		where: []where{{kind: "Node", field: "spec.externalID"}},
	},
	{
		family: ForbiddenTransition, verdict: Immutable, cause: invalid,
		text:  "can only be modified in tandem with spec.parallelism",
		where: []where{{kind: "batch/Job", field: "spec.completions"}},
	},

	{
		family: OneWayRule, verdict: Directional, cause: forbidden, text: "field can not be less than status.capacity",
		remedy: "volumes don't shrink: keep the size, or move the data to a new, smaller claim",
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.resources.requests.storage"}},
	},
	{
		family: OneWayRule, verdict: Directional, cause: forbidden, text: "field can not be less than previous value",
		remedy: "volumes don't shrink: keep the size, or move the data to a new, smaller claim",
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.resources.requests.storage"}},
	},
	{
		family: OneWayRule, verdict: Directional, cause: forbidden,
		text:   "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
		remedy: "name another volume attributes class instead of none",
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName"}},
	},
	{
		family: OneWayRule, verdict: Directional, cause: forbidden,
		text:   "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
		remedy: "name another volume attributes class instead of none",
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName"}},
	},
	{
		family: OneWayRule, verdict: Directional, cause: forbidden, text: "update from non-nil value to nil is forbidden",
		remedy: "name another volume attributes class instead of none",
		where:  []where{{kind: "PersistentVolume", field: "spec.volumeAttributesClassName"}},
	},
	{
		family: OneWayRule, verdict: Directional, cause: forbidden,
		text: "update is forbidden when the VolumeAttributesClass feature gate is disabled",
		where: []where{
			{kind: "PersistentVolume", field: "spec.volumeAttributesClassName"},
			{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName"},
		},
	},
	{
		// A create with fewer versions is accepted, but it takes the deletion of every object that is stored in the
		// missing one.
		family: OneWayRule, verdict: Directional, cause: invalid,
		prefix: true, text: "missing from spec.versions; ", // followed by the version's name
		remedy: "keep the version in spec.versions until a storage migration has removed it from status.storedVersions",
		where:  []where{{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "status.storedVersions[*]"}},
	},

	{
		family: NeverReplaceable, verdict: Invalid, cause: invalid, text: "field is immutable",
		remedy: "the field is part of the object's name; with the name to match it is another object",
		where: []where{
			{kind: "certificates.k8s.io/ClusterTrustBundle", field: "spec.signerName"},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.group"},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.names.plural"},
		},
	},

	{
		family: DefaultInTheWay, verdict: MergeLeftover, cause: forbidden,
		text:   "may not be specified when strategy `type` is 'Recreate'",
		remedy: leftoverRemedy,
		where:  []where{{kind: "apps/Deployment", field: "spec.strategy.rollingUpdate"}},
	},
	{
		family: DefaultInTheWay, verdict: MergeLeftover, cause: invalid,
		text:   "only allowed for updateStrategy 'RollingUpdate'",
		remedy: leftoverRemedy,
		where:  []where{{kind: "apps/StatefulSet", field: "spec.updateStrategy.rollingUpdate"}},
	},
	{
		family: DefaultInTheWay, verdict: MergeLeftover, cause: forbidden, text: "may not specify more than 1 volume type",
		remedy: leftoverRemedy,
		where: []where{
			{kind: "PodTemplate", field: "template.spec.volumes[*].*"},
			{kind: "ReplicationController", field: "spec.template.spec.volumes[*].*"},
			{kind: "apps/DaemonSet", field: "spec.template.spec.volumes[*].*"},
			{kind: "apps/Deployment", field: "spec.template.spec.volumes[*].*"},
			{kind: "apps/ReplicaSet", field: "spec.template.spec.volumes[*].*"},
			{kind: "apps/StatefulSet", field: "spec.template.spec.volumes[*].*"},
			{kind: "batch/CronJob", field: "spec.jobTemplate.spec.template.spec.volumes[*].*"},
		},
	},

	{
		family: MetadataRule, verdict: MetadataPrecondition, cause: invalid, text: "field is immutable",
		remedy: "leave uid, timestamps and grace period out of the manifest; the server sets them",
		where: []where{
			{kind: "*", field: "metadata.creationTimestamp"},
			{kind: "*", field: "metadata.deletionGracePeriodSeconds"},
			{kind: "*", field: "metadata.deletionTimestamp"},
			{kind: "*", field: "metadata.name"},
			{kind: "*", field: "metadata.namespace"},
			{kind: "*", field: "metadata.uid"},
		},
	},
	{
		family: MetadataRule, verdict: MetadataPrecondition, cause: invalid, text: "must be specified for an update",
		remedy: "send the resourceVersion of the live object, or apply instead of updating",
		where:  []where{{kind: "*", field: "metadata.resourceVersion"}},
	},
	{
		family: MetadataRule, verdict: MetadataPrecondition, cause: invalid, text: "must not be decremented",
		remedy: "leave generation out of the manifest; the server counts it",
		where:  []where{{kind: "*", field: "metadata.generation"}},
	},
	{
		family: MetadataRule, verdict: MetadataPrecondition, cause: forbidden, prefix: true,
		text:   "no new finalizers can be added if the object is being deleted, found new finalizers",
		remedy: "wait until the object is gone, and create it then",
		where:  []where{{kind: "*", field: "metadata.finalizers"}},
	},
}

const nodeSelectorTerms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

const leftoverRemedy = "update the object with the whole manifest (PUT) instead of applying it, or set the field to null in the same merge patch"
